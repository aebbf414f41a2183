package agent

import (
	"cmp"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/price"
	"github.com/ralph-loop/ralph/internal/core/stream"
	"github.com/ralph-loop/ralph/internal/lib/environ"
	"github.com/ralph-loop/ralph/internal/lib/pattern"
	"github.com/ralph-loop/ralph/internal/lib/untrusted"
)

// Maker is a model server that an agent would ask, with the API that it has: anthropic, openai or gemini.
type Maker struct {
	API    string
	Base   string // as the user gave it; empty: the maker's default
	Key    string
	Bearer bool // Key is a login's token
}

// Makers returns the model servers that the agent would use with k; none if it uses a login. It returns false where a
// key's server cannot be replaced, so that the agent itself must hold the key.
func (k Keys) Makers(name, model string) (makers []Maker, replaceable bool) {
	kind, known := kinds[name]
	if kind.makers == nil {
		return nil, known
	}
	return kind.makers(k, model)
}

func anthropicMakers(k Keys, _ string) ([]Maker, bool) { return k.anthropic(), true }

// providerMakers are of agents that take another server with OpenAI's API.
func providerMakers(k Keys, _ string) ([]Maker, bool) {
	return k.maker("openai", k.ProviderAPIKey), true
}

func copilotMakers(k Keys, _ string) ([]Maker, bool) {
	api := cmp.Or(k.ProviderType, "openai")
	known := api == "openai" || api == "anthropic"
	return k.maker(api, k.ProviderAPIKey), known || k.ProviderAPIKey == ""
}

// ownServer is of agents that ask their own server only.
func ownServer(k Keys, _ string) ([]Maker, bool) { return nil, k.ProviderAPIKey == "" }

// anyServer is of an agent that gets all keys: which it uses is unknown.
func anyServer(k Keys, _ string) ([]Maker, bool) { return nil, !k.HasAny() }

func (k Keys) anthropic() []Maker {
	makers := k.maker("anthropic", cmp.Or(k.AnthropicAPIKey, k.ClaudeCodeOAuthToken))
	for i := range makers {
		makers[i].Bearer = k.AnthropicAPIKey == "" || isBedrockMantle(k.ModelBaseURL)
	}
	return makers
}

func (k Keys) maker(api, key string) []Maker {
	if key == "" {
		return nil
	}
	return []Maker{{API: api, Base: k.ModelBaseURL, Key: key}}
}

// opencodeMakers returns the model's maker: opencode accepts one server only.
func opencodeMakers(k Keys, model string) ([]Maker, bool) {
	if k.AnthropicAPIKey == "" && k.OpenAIAPIKey == "" && k.GeminiAPIKey == "" {
		return nil, true
	}
	provider, _, named := strings.Cut(model, "/")
	hasServer := model != "" && k.ModelBaseURL != "" && opencodeProviders[provider].keyVar == ""
	switch {
	case named && provider == "anthropic" && k.AnthropicAPIKey != "":
		return k.maker("anthropic", k.AnthropicAPIKey), true
	case named && provider == "openai" && k.OpenAIAPIKey != "":
		return k.maker("openai", k.OpenAIAPIKey), true
	case hasServer && k.OpenAIAPIKey != "":
		return k.maker("openai", k.OpenAIAPIKey), true
	case named && provider == "google" && k.GeminiAPIKey != "":
		return k.maker("gemini", k.GeminiAPIKey), true
	}
	return nil, false
}

// ForModelServer returns the keys of an agent that asks ralph's model server: that
// server's token in place of each key of makers, and no other key.
func (k Keys) ForModelServer(makers []Maker, server, token string) Keys {
	replaced := func(key string) string {
		if slices.ContainsFunc(makers, func(m Maker) bool { return m.Key == key }) {
			return token
		}
		return ""
	}
	return Keys{
		AnthropicAPIKey:      replaced(k.AnthropicAPIKey),
		ClaudeCodeOAuthToken: replaced(k.ClaudeCodeOAuthToken),
		OpenAIAPIKey:         replaced(k.OpenAIAPIKey),
		GeminiAPIKey:         replaced(k.GeminiAPIKey),
		ProviderAPIKey:       replaced(k.ProviderAPIKey),
		ProviderType:         k.ProviderType,
		ModelBaseURL:         server,
		Cloud:                isBedrockMantle(k.ModelBaseURL),
		Bounded:              true,
		KeySelected:          k.KeySelected,
	}
}

var byKey = pattern.Of(`"selectedType"\s*:\s*"gemini-api-key"`)

// ChooseKey sets KeySelected where Gemini CLI's settings choose the key, and reports whether the agent uses the key
// and the server of k. The user's own settings may choose others, and then neither can be replaced.
func (k *Keys) ChooseKey(name string, env []string) bool {
	for _, variable := range kinds[name].otherServers {
		if environ.Get(env, variable) != "" {
			return false
		}
	}
	own := kinds[name].settings
	if own == nil {
		return true
	}
	for _, files := range kinds[name].managed {
		found, _ := filepath.Glob(files) //nolint:forbidigo // only root writes there; no pattern is malformed
		for _, file := range found {
			if _, ok := own.choice(file); ok {
				return false
			}
		}
	}
	text, ok := own.choice(environ.PathIn(env, "", own.file))
	if !ok {
		return true
	}
	k.KeySelected = name == "gemini" && byKey.MatchString(text)
	return k.KeySelected
}

const maxSettings = 1 << 20

// choice returns the text of a file of settings, if it chooses a server or a login.
func (s serverSettings) choice(file string) (text string, ok bool) {
	data, err := untrusted.ReadFile(file, maxSettings)
	if err != nil {
		return "", false
	}
	return string(data), s.marker.MatchString(string(data))
}

// HasAny reports whether there is any key.
func (k Keys) HasAny() bool { return strings.Join(k.Secrets(), "") != "" }

func withAPIPath(base, folder string) string {
	parsed, err := url.Parse(base)
	if err != nil || parsed.Host == "" || strings.Trim(parsed.Path, "/") != "" {
		return base
	}
	return parsed.JoinPath(folder).String()
}

// Budget is what an agent may use before ralph's model server ends it; 0: no limit.
type Budget struct {
	USD    float64
	Tokens int64
}

// pricing are the user's rates by model, before the price list.
type pricing map[string]price.Rate

func (p pricing) cost(model string, u stream.Usage) stream.Cost {
	usd, known := price.Of(model, price.Tokens(u), p)
	return stream.Cost{USD: usd, Known: known}
}

func (p pricing) spent(model string, u stream.Usage) stream.Spent {
	spent := stream.Spent{Usage: u, Cost: p.cost(model, u)}
	if !spent.Cost.Known {
		spent.Cost.Most, _ = price.Most(model, price.Tokens(u), p) // 0: nothing bounds it
	}
	return spent
}

// sum adds up what models used. One without a price makes the cost unknown.
func (p pricing) sum(used map[string]stream.Usage) stream.Spent {
	sum := stream.Spent{Cost: stream.Cost{Known: true}}
	for model, u := range used {
		if u != (stream.Usage{}) {
			sum = sum.Plus(p.spent(model, u))
		}
	}
	sum.Cost.Known = sum.Cost.Known && sum.Usage.Tokens() > 0
	return sum
}
