package agent

import (
	"net/url"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/environ"
	"github.com/ralph-loop/ralph/internal/pattern"
	"github.com/ralph-loop/ralph/internal/price"
	"github.com/ralph-loop/ralph/internal/stream"
	"github.com/ralph-loop/ralph/internal/untrusted"
)

// Maker is whom an agent would ask, by the API that is spoken there: anthropic,
// openai or gemini.
type Maker struct {
	API    string
	Base   string // as the user gave it; empty: the maker's own
	Key    string
	Bearer bool // Key is a token of a login
}

// Makers are the model servers that the agent would use with k. It is false
// where one of the keys is for a server that cannot be replaced: only the agent
// itself can hold such a key. There is none where the agent uses its own login.
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
		api := k.CopilotProviderType
		if api == "" {
			api = "openai"
		}
		known := api == "openai" || api == "anthropic"
		return k.maker(api, k.CopilotProviderAPIKey), known || k.CopilotProviderAPIKey == ""
	case "amp":
		return nil, k.AmpAPIKey == ""
	}
	return nil, true
}

func (k Keys) anthropic() []Maker {
	if k.AnthropicAPIKey == "" && k.ClaudeCodeOAuthToken != "" {
		return []Maker{{API: "anthropic", Base: k.ModelBaseURL, Key: k.ClaudeCodeOAuthToken, Bearer: true}}
	}
	makers := k.maker("anthropic", k.AnthropicAPIKey)
	for i := range makers {
		makers[i].Bearer = mantle(k.ModelBaseURL)
	}
	return makers
}

func (k Keys) maker(api, key string) []Maker {
	if key == "" {
		return nil
	}
	return []Maker{{API: api, Base: k.ModelBaseURL, Key: key}}
}

// opencodeMakers is the one of the model that was named: pointed elsewhere,
// opencode knows of no other.
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

// Behind are the keys of an agent that asks a server of ours: that server's
// token in the place of each key that Makers told of, and no other key.
func (k Keys) Behind(makers []Maker, server, token string) Keys {
	inside := Keys{CopilotProviderType: k.CopilotProviderType, ModelBaseURL: server, Cloud: mantle(k.ModelBaseURL), Bounded: true, Chosen: k.Chosen}
	for _, maker := range makers {
		for _, key := range []struct{ ours, theirs *string }{
			{&k.AnthropicAPIKey, &inside.AnthropicAPIKey},
			{&k.ClaudeCodeOAuthToken, &inside.ClaudeCodeOAuthToken},
			{&k.OpenAIAPIKey, &inside.OpenAIAPIKey},
			{&k.GeminiAPIKey, &inside.GeminiAPIKey},
			{&k.CopilotProviderAPIKey, &inside.CopilotProviderAPIKey},
		} {
			if *key.ours == maker.Key {
				*key.theirs = token
			}
		}
	}
	return inside
}

// ownServer is where an agent's user says which server it asks, or with what: a
// file in the folder that a variable names, or else in the user's home, and the
// words in it.
var ownServer = map[string]struct {
	variable, file, home string
	says                 *pattern.Pattern
}{
	"claude": {
		"CLAUDE_CONFIG_DIR", "settings.json", ".claude/settings.json",
		pattern.Of(`"(?:ANTHROPIC_BASE_URL|ANTHROPIC_AUTH_TOKEN|ANTHROPIC_API_KEY|CLAUDE_CODE_USE_\w+|apiKeyHelper)"\s*:`),
	},
	"codex":  {"CODEX_HOME", "config.toml", ".codex/config.toml", pattern.Of(`(?m)^\s*(?:model_provider|openai_base_url|profile)\s*=`)},
	"gemini": {"GEMINI_CLI_HOME", ".gemini/settings.json", ".gemini/settings.json", pattern.Of(`"selectedType"\s*:\s*"`)},
}

// byKey is what Gemini CLI's user says who wants it to go by a key.
var byKey = pattern.Of(`"selectedType"\s*:\s*"gemini-api-key"`)

// otherServers are variables by which an agent asks another server than its
// maker's, or goes by a login although there is a key.
var otherServers = map[string][]string{
	"claude": {"CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"},
	"gemini": {"GOOGLE_GENAI_USE_GCA", "GOOGLE_GENAI_USE_VERTEXAI"},
}

// ByKey tells whether, by the user's own settings, an agent goes by the key that
// k holds for it, to the server that k names or to its maker's: else it cannot be
// given another key and another server. Of Gemini CLI it notes in k that the
// settings choose the key.
func (k *Keys) ByKey(name string, env []string) bool {
	for _, variable := range otherServers[name] {
		if environ.Get(env, variable) != "" {
			return false
		}
	}
	own, known := ownServer[name]
	path := filepath.Join(environ.Get(env, own.variable), own.file)
	if environ.Get(env, own.variable) == "" {
		path = filepath.Join(environ.Get(env, "HOME"), own.home)
	}
	text, err := untrusted.ReadFile(path, maxSettings)
	if !known || err != nil || !own.says.MatchString(string(text)) {
		return true
	}
	k.Chosen = name == "gemini" && byKey.MatchString(string(text))
	return k.Chosen
}

const maxSettings = 1 << 20

// Any tells whether there is any key at all.
func (k Keys) Any() bool { return strings.Join(k.Secrets(), "") != "" }

// serverAt is a model server's URL with the folder in which such servers
// answer, where the user named none.
func serverAt(base, folder string) string {
	parsed, err := url.Parse(base)
	if err != nil || parsed.Host == "" || strings.Trim(parsed.Path, "/") != "" {
		return base
	}
	return parsed.JoinPath(folder).String()
}

// Budget is what an agent may use before it is ended; 0 is no end to it. An
// agent's program that has a limit of its own looks at it only after the answer
// that broke it, so it is metered here, by what the program says on its way.
type Budget struct {
	USD    float64
	Tokens int64
}

// Reports is when an agent's program reports what it used.
type Reports int

// What is not reported after each answer ends no agent within a turn.
const (
	ReportsNothing Reports = iota // or not all of it
	ReportsAtEnd
	ReportsTokens // after each answer
	ReportsCost   // likewise, in tokens of models that have prices
)

// Unheld is how a budget fails to hold an agent by what its program reports, and
// what would help; empty where it ends the agent within a turn.
func (a Adapter) Unheld(b Budget) (why, hint string) {
	hint = "limit the time of a turn with `iteration-timeout`"
	if key := keysCounted[a.Name]; key != "" {
		hint = "give it its own key (" + key + "), so that ralph can count, or " + hint
	}
	switch {
	case b == Budget{}, a.Reports == ReportsCost, a.Reports == ReportsTokens && b.USD == 0:
		return "", ""
	case a.Reports == ReportsAtEnd:
		return "cannot end " + a.Name + " within a turn: it reports its usage only at the end", hint
	case a.Reports == ReportsTokens:
		return "does not hold for " + a.Name + ": it reports no cost", hint
	}
	return "does not hold for " + a.Name + ": it does not report its usage", hint
}

// keysCounted are the keys with which agents that report too little can be sent
// to ralph's model server.
var keysCounted = map[string]string{"gemini": "GEMINI_API_KEY", "copilot": "COPILOT_PROVIDER_API_KEY"}

// pricing is what tokens cost where an agent's program does not say, or does
// not say yet: the user's own rates by model, before the list's.
type pricing map[string]price.Rate

func (p pricing) of(model string, u stream.Usage) stream.Cost {
	usd, known := price.Of(model, price.Tokens(u), p)
	return stream.Cost{USD: usd, Known: known}
}

func (p pricing) spent(model string, u stream.Usage) stream.Spent {
	spent := stream.Spent{Usage: u, Cost: p.of(model, u)}
	if !spent.Cost.Known {
		most, known := price.Most("", model, price.Tokens(u), p)
		spent.Most, spent.Boundless = most, !known && u.Tokens() > 0
	}
	return spent
}
