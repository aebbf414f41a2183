package agent

import (
	"cmp"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/environ"
	"github.com/ralph-loop/ralph/internal/pattern"
	"github.com/ralph-loop/ralph/internal/price"
	"github.com/ralph-loop/ralph/internal/stream"
	"github.com/ralph-loop/ralph/internal/untrusted"
)

// Maker is a model server that an agent would ask, with the API that it has:
// anthropic, openai or gemini.
type Maker struct {
	API    string
	Base   string // as the user gave it; empty: the maker's default
	Key    string
	Bearer bool // Key is a login's token
}

// Makers returns the model servers that the agent would use with k; none if it uses a
// login. It returns false where a key's server cannot be replaced, so that the agent
// itself must hold the key.
func (k Keys) Makers(name, model string) (makers []Maker, can bool) {
	switch name {
	case "claude", "command":
		return k.anthropic(), true
	case "codex":
		return k.maker("openai", k.OpenAIAPIKey), true
	case "gemini":
		return k.maker("gemini", k.GeminiAPIKey), true
	case "opencode":
		return k.opencodeMakers(model)
	case "copilot":
		api := cmp.Or(k.CopilotProviderType, "openai")
		known := api == "openai" || api == "anthropic"
		return k.maker(api, k.CopilotProviderAPIKey), known || k.CopilotProviderAPIKey == ""
	case "amp":
		return nil, k.AmpAPIKey == ""
	case "scripted": // it needs no key
		return nil, true
	}
	return nil, false // which key an unknown agent uses is unknown
}

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
func (k Keys) opencodeMakers(model string) ([]Maker, bool) {
	if k.AnthropicAPIKey == "" && k.OpenAIAPIKey == "" && k.GeminiAPIKey == "" {
		return nil, true
	}
	provider, _, named := strings.Cut(model, "/")
	switch {
	case named && provider == "anthropic" && k.AnthropicAPIKey != "":
		return k.maker("anthropic", k.AnthropicAPIKey), true
	case named && provider == "openai" && k.OpenAIAPIKey != "":
		return k.maker("openai", k.OpenAIAPIKey), true
	case model != "" && opencodeProviders[provider].key == "" && k.ModelBaseURL != "" && k.OpenAIAPIKey != "":
		return k.maker("openai", k.OpenAIAPIKey), true
	case named && provider == "google" && k.GeminiAPIKey != "":
		return k.maker("gemini", k.GeminiAPIKey), true
	}
	return nil, false
}

// ForModelServer returns the keys of an agent that asks ralph's model server: that
// server's token in place of each key of makers, and no other key.
func (k Keys) ForModelServer(makers []Maker, server, token string) Keys {
	inside := Keys{CopilotProviderType: k.CopilotProviderType, ModelBaseURL: server, Cloud: isBedrockMantle(k.ModelBaseURL), Bounded: true, KeySelected: k.KeySelected}
	replaced := func(key string) string {
		if slices.ContainsFunc(makers, func(m Maker) bool { return m.Key == key }) {
			return token
		}
		return ""
	}
	inside.AnthropicAPIKey, inside.ClaudeCodeOAuthToken = replaced(k.AnthropicAPIKey), replaced(k.ClaudeCodeOAuthToken)
	inside.OpenAIAPIKey, inside.GeminiAPIKey = replaced(k.OpenAIAPIKey), replaced(k.GeminiAPIKey)
	inside.CopilotProviderAPIKey = replaced(k.CopilotProviderAPIKey)
	return inside
}

// serverSettings are files in which users choose a server or a login.
var serverSettings = map[string]struct {
	file string // in the home
	says *pattern.Pattern
}{
	"claude": {
		".claude/settings.json",
		pattern.Of(`"(?:ANTHROPIC_BASE_URL|ANTHROPIC_AUTH_TOKEN|ANTHROPIC_API_KEY|CLAUDE_CODE_USE_\w+|apiKeyHelper)"\s*:`),
	},
	"codex":  {".codex/config.toml", pattern.Of(`(?m)^\s*(?:model_provider|openai_base_url|profile)\s*=`)},
	"gemini": {".gemini/settings.json", pattern.Of(`"selectedType"\s*:\s*"`)},
}

// managedSettings are patterns of files in which a company does so for the whole machine: they count before all else.
var managedSettings = map[string][]string{
	"claude": {
		"/etc/claude-code/managed-settings.json", "/etc/claude-code/managed-settings.d/*.json",
		"/Library/Application Support/ClaudeCode/managed-settings.json", "/Library/Application Support/ClaudeCode/managed-settings.d/*.json",
	},
	"codex": {"/etc/codex/managed_config.toml"},
}

var byKey = pattern.Of(`"selectedType"\s*:\s*"gemini-api-key"`)

// UsesKey reports whether the agent uses the key and the server of k. The user's own
// settings may choose others, and then neither can be replaced. For Gemini CLI it
// records in k that the settings choose the key.
func (k *Keys) UsesKey(name string, env []string) bool {
	for _, variable := range kinds[name].otherServers {
		if environ.Get(env, variable) != "" {
			return false
		}
	}
	own, known := serverSettings[name]
	for _, files := range managedSettings[name] {
		found, _ := filepath.Glob(files) //nolint:forbidigo // only root writes there; no pattern is malformed
		for _, file := range found {
			if text, err := untrusted.ReadFile(file, maxSettings); err == nil && own.says.MatchString(string(text)) {
				return false
			}
		}
	}
	text, err := untrusted.ReadFile(environ.PathIn(env, "", own.file), maxSettings)
	if !known || err != nil || !own.says.MatchString(string(text)) {
		return true
	}
	k.KeySelected = name == "gemini" && byKey.MatchString(string(text))
	return k.KeySelected
}

const maxSettings = 1 << 20

// HasAny reports whether there is any key.
func (k Keys) HasAny() bool { return strings.Join(k.Secrets(), "") != "" }

func withAPIPath(base, folder string) string {
	parsed, err := url.Parse(base)
	if err != nil || parsed.Host == "" || strings.Trim(parsed.Path, "/") != "" {
		return base
	}
	return parsed.JoinPath(folder).String()
}

// Budget is what an agent may use before it is ended; 0: no limit. CLIs with a limit of
// their own check it only after the answer that exceeds it, so ralph meters what the CLI
// reports while it works.
type Budget struct {
	USD    float64
	Tokens int64
}

// UsageReporting is when an agent's program reports its usage.
type UsageReporting int

// What is not reported after each answer ends no agent within a turn.
const (
	ReportsNothing UsageReporting = iota // or not all of it
	ReportsAtEnd
	ReportsTokens // after each answer
	ReportsCost   // likewise, in tokens of models that have prices
)

// BudgetGap returns how a budget fails to hold an agent by what its program reports, and
// what would help; empty where it ends the agent within a turn.
func (a Adapter) BudgetGap(b Budget) (why, hint string) {
	hint = "limit the time of a turn: `--iteration-timeout`"
	if a.InJob {
		hint = "limit the time of a turn with the setting `agent.timeout`"
	}
	if key := kinds[a.Name].countedKey; key != "" {
		hint = "give it its own key (" + key + "), so that ralph can count, or " + hint
	}
	switch {
	case b == Budget{}, a.Reporting == ReportsCost, a.Reporting == ReportsTokens && b.USD == 0:
		return "", ""
	case a.Reporting == ReportsAtEnd:
		return "cannot end " + a.Name + " within a turn: it reports its usage only at the end", hint
	case a.Reporting == ReportsTokens:
		return "does not hold for the agent " + a.Name + ": it reports no cost", hint
	}
	return "does not hold for the agent " + a.Name + ": it does not report its usage", hint
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
		most, known := price.Most(model, price.Tokens(u), p)
		spent.Cost.Most, spent.Boundless = most, !known && u.Tokens() > 0
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
