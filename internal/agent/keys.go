package agent

import (
	"net/url"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/environ"
	"github.com/ralph-loop/ralph/internal/fault"
)

// Keys are what an agent needs to speak to its model; each may be empty. They
// reach the environment of the agent that uses them and nothing else.
type Keys struct {
	AnthropicAPIKey       string
	ClaudeCodeOAuthToken  string
	OpenAIAPIKey          string
	AmpAPIKey             string
	GeminiAPIKey          string
	CopilotProviderAPIKey string // of a model server that copilot is pointed at; never a GitHub token
	CopilotProviderType   string // of its API, where it is not OpenAI's
	ModelBaseURL          string // of the model server of the agent in use
	Cloud                 bool   // that server leads to a cloud's, which knows less than the maker's own
	Bounded               bool   // that server is ralph's own, which refuses tools that run at the model's maker
	Chosen                bool   // the user's own settings say that the agent goes by a key
}

// baseURLs are the variables in which the CLIs look for their model server.
// Amp has none, and opencode has one for each provider in its own settings.
var baseURLs = map[string]string{
	"amp":      "",
	"codex":    "OPENAI_BASE_URL",
	"copilot":  "COPILOT_PROVIDER_BASE_URL",
	"gemini":   "GOOGLE_GEMINI_BASE_URL",
	"opencode": "",
}

// KeysFrom are the keys that the CLIs themselves look for in an environment.
// OPENAI_API_KEY is one of them for opencode only: Codex passes it over in
// favour of its login, and a key left there for something else must not begin
// to pay. The base URL is that of the agent which Pick would give: none may get
// another maker's.
func KeysFrom(getenv func(string) string, name, command string) Keys {
	name = Named(name, command)
	base, known := baseURLs[name]
	if !known {
		base = "ANTHROPIC_BASE_URL"
	}
	openAI := "CODEX_API_KEY"
	if name == "opencode" {
		openAI = "OPENAI_API_KEY"
	}
	keys := Keys{
		AnthropicAPIKey:       getenv("ANTHROPIC_API_KEY"),
		ClaudeCodeOAuthToken:  getenv("CLAUDE_CODE_OAUTH_TOKEN"),
		OpenAIAPIKey:          getenv(openAI),
		AmpAPIKey:             getenv("AMP_API_KEY"),
		GeminiAPIKey:          getenv("GEMINI_API_KEY"),
		CopilotProviderAPIKey: getenv("COPILOT_PROVIDER_API_KEY"),
		CopilotProviderType:   getenv("COPILOT_PROVIDER_TYPE"),
	}
	if base != "" {
		keys.ModelBaseURL = getenv(base)
	}
	return keys
}

// Secrets are the keys, which must be hidden in all output.
func (k Keys) Secrets() []string {
	return []string{
		k.AnthropicAPIKey, k.ClaudeCodeOAuthToken, k.OpenAIAPIKey, k.AmpAPIKey,
		k.GeminiAPIKey, k.CopilotProviderAPIKey,
	}
}

// env is all keys that were given, under the names that programs look for: a
// program of the user's may start any of them.
func (k Keys) env() []string {
	return environ.Merge(k.claudeEnv(), k.codexEnv(), k.ampEnv(), environ.Pairs(
		"GEMINI_API_KEY", k.GeminiAPIKey,
		"COPILOT_PROVIDER_API_KEY", k.CopilotProviderAPIKey,
	))
}

func (k Keys) claudeEnv() []string {
	return environ.Pairs(
		"ANTHROPIC_API_KEY", k.AnthropicAPIKey,
		"CLAUDE_CODE_OAUTH_TOKEN", k.ClaudeCodeOAuthToken,
		"ANTHROPIC_BASE_URL", k.ModelBaseURL,
		"CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS", k.timid(),
	)
}

// timid has Claude Code leave out what it would try out at its maker's.
func (k Keys) timid() string {
	if k.Cloud || mantle(k.ModelBaseURL) {
		return "1"
	}
	return ""
}

func (k Keys) codexEnv() []string { return environ.Pairs("CODEX_API_KEY", k.OpenAIAPIKey) }

func (k Keys) ampEnv() []string { return environ.Pairs("AMP_API_KEY", k.AmpAPIKey) }

func (k Keys) geminiEnv() []string {
	return environ.Pairs(
		"GEMINI_API_KEY", k.GeminiAPIKey,
		"GOOGLE_GEMINI_BASE_URL", k.ModelBaseURL,
	)
}

// Claude's models are also sold by clouds. One door of theirs speaks the maker's
// API and takes a key that lasts: Bedrock's Mantle. The others want requests that
// are signed one by one, or tokens that end within the hour.

func hostOf(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}

// mantle tells whether that is Bedrock's door, which takes its keys as a login's.
func mantle(base string) bool {
	host := hostOf(base)
	return strings.HasPrefix(host, "bedrock-mantle.") && strings.HasSuffix(host, ".api.aws")
}

// notOurs refuses a door at which a key does not help.
func notOurs(base string) error {
	host := hostOf(base)
	switch {
	case strings.HasPrefix(host, "bedrock-runtime"):
		return fault.Usage("the model server "+host+" uses its own request format, which ralph can neither sign nor count",
			"set model-base-url to https://bedrock-mantle.REGION.api.aws/anthropic, and a Bedrock API key as anthropic-api-key", nil)
	case strings.HasSuffix(host, "aiplatform.googleapis.com"):
		return fault.Usage("the model server "+host+" uses Google's short-lived tokens and its own request format",
			"use a gateway that has Anthropic's API and takes a key, and set model-base-url to it", nil)
	}
	return nil
}

// families are the words by which a CLI's users name its newest model of a
// kind, and what it makes of them.
var families = map[string]map[string][]string{
	"claude": {
		"opus": {"claude-opus-*"}, "sonnet": {"claude-sonnet-*"}, "haiku": {"claude-haiku-*"}, "opusplan": {"claude-opus-*", "claude-sonnet-*"},
		"default": {}, "best": {},
	},
	"gemini": {
		"pro": {"gemini-*pro*"}, "flash": {"gemini-*flash*"}, "flash-lite": {"gemini-*flash*"},
		"auto": {"gemini-*"}, "auto-gemini-2.5": {"gemini-2.5-*"}, "auto-gemini-3": {"gemini-3*"},
	},
}

// helpers are the small models that a CLI asks by itself: for titles, summaries,
// fetched pages, and by its own subagents.
var helpers = map[string][]string{
	"claude": {"claude-haiku-*"},
	"gemini": {"gemini-*flash*"},
}

// Models are those that the agent requests when it is told to use that model,
// as the API names them or as patterns. None: it is not told any model, so they
// are unknown. More are those that its user allows besides.
func Models(name, model string, more []string) []string {
	asked := modelsBy(name, model)
	if len(asked)+len(more) == 0 {
		return nil
	}
	return slices.Concat(asked, more, helpers[name])
}

func modelsBy(name, model string) []string {
	model, _, _ = strings.Cut(model, "[") // claude's way to ask for a longer context
	if model == "" {
		return nil
	}
	if family, is := families[name][model]; is {
		return family
	}
	if _, after, named := strings.Cut(model, "/"); named && name == "opencode" {
		model = after // of a provider
	}
	return []string{model}
}
