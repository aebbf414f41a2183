package agent

import (
	"net/url"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/lib/environ"
)

// Keys are an agent's keys and its model server. Only the agent's environment gets them.
type Keys struct {
	AnthropicAPIKey      string
	ClaudeCodeOAuthToken string
	OpenAIAPIKey         string
	GeminiAPIKey         string
	ProviderAPIKey       string // of the chosen agent's provider, if it is none of these; never a GitHub token
	ProviderType         string // the API of copilot's model server, if not OpenAI's
	ModelBaseURL         string // of the chosen agent's model server
	Cloud                bool   // the server is a cloud's, which has fewer features than the maker's
	Bounded              bool   // the server is ralph's, which refuses tools that run at the maker
	Confined             bool   // the agent works in ralph's sandbox
	KeySelected          bool   // the user's settings choose the key
}

// KeysFrom reads the keys that the CLIs look for in an environment. OPENAI_API_KEY counts for opencode only: Codex
// prefers its login, and a key that is there for something else must not start to pay. The base URL is the chosen
// agent's: no agent may get another maker's.
func KeysFrom(getenv func(string) string, name, command string) Keys {
	name = NameOf(name, command)
	openAI := "CODEX_API_KEY"
	if name == "opencode" {
		openAI = "OPENAI_API_KEY"
	}
	keys := Keys{
		AnthropicAPIKey:      getenv("ANTHROPIC_API_KEY"),
		ClaudeCodeOAuthToken: getenv("CLAUDE_CODE_OAUTH_TOKEN"),
		OpenAIAPIKey:         getenv(openAI),
		GeminiAPIKey:         getenv("GEMINI_API_KEY"),
		ProviderType:         getenv("COPILOT_PROVIDER_TYPE"),
	}
	if key := kinds[name].keyVar; key != "" {
		keys.ProviderAPIKey = getenv(key)
	}
	if base := kinds[name].baseURL; base != "" {
		keys.ModelBaseURL = getenv(base)
	}
	return keys
}

// Secrets returns the keys, to be redacted in all output.
func (k Keys) Secrets() []string {
	return []string{
		k.AnthropicAPIKey, k.ClaudeCodeOAuthToken, k.OpenAIAPIKey, k.GeminiAPIKey, k.ProviderAPIKey,
	}
}

// env has all keys: the user's program may start any CLI.
func (k Keys) env() []string {
	return environ.Merge(k.claudeEnv(), k.codexEnv(), environ.Pairs(
		"GEMINI_API_KEY", k.GeminiAPIKey,
		"PROVIDER_API_KEY", k.ProviderAPIKey,
	))
}

func (k Keys) claudeEnv() []string {
	return environ.Pairs(
		"ANTHROPIC_API_KEY", k.AnthropicAPIKey,
		"CLAUDE_CODE_OAUTH_TOKEN", k.ClaudeCodeOAuthToken,
		"ANTHROPIC_BASE_URL", k.ModelBaseURL,
		"CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS", k.disableBetas(),
	)
}

// disableBetas makes Claude Code send no beta features to servers that may not know them.
func (k Keys) disableBetas() string {
	if k.Cloud || isBedrockMantle(k.ModelBaseURL) {
		return "1"
	}
	return ""
}

func (k Keys) codexEnv() []string { return environ.Pairs("CODEX_API_KEY", k.OpenAIAPIKey) }

func (k Keys) ampEnv() []string { return environ.Pairs("AMP_API_KEY", k.ProviderAPIKey) }

// isBedrockMantle reports whether a server is Bedrock's Mantle. It has the maker's API, and takes a long-lived key as a
// bearer token.
func isBedrockMantle(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	host := strings.ToLower(u.Hostname())
	return strings.HasPrefix(host, "bedrock-mantle.") && strings.HasSuffix(host, ".api.aws")
}

// Models are names and patterns of what the agent requests with model and more; none: unknown.
func Models(name, model string, more []string) []string {
	asked := modelPatterns(name, model)
	if len(asked)+len(more) == 0 {
		return nil
	}
	return slices.Concat(asked, more, kinds[name].smallModels)
}

func modelPatterns(name, model string) []string {
	model, _, _ = strings.Cut(model, "[") // claude's suffix for a longer context
	if model == "" {
		return nil
	}
	if family, ok := kinds[name].aliases[model]; ok {
		return family
	}
	if _, after, named := strings.Cut(model, "/"); named && name == "opencode" {
		model = after // provider/model
	}
	return []string{model}
}
