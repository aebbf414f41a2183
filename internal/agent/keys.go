package agent

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

// Secrets are the keys that nobody may see.
func (k Keys) Secrets() []string {
	return []string{
		k.AnthropicAPIKey, k.ClaudeCodeOAuthToken, k.OpenAIAPIKey, k.AmpAPIKey,
		k.GeminiAPIKey, k.CopilotProviderAPIKey,
	}
}

// env is all keys that were given, under the names that programs look for: a
// program of the user's may start any of them.
func (k Keys) env() []string {
	return merge(k.claudeEnv(), k.codexEnv(), k.ampEnv(), given(
		"GEMINI_API_KEY", k.GeminiAPIKey,
		"COPILOT_PROVIDER_API_KEY", k.CopilotProviderAPIKey,
	))
}

func (k Keys) claudeEnv() []string {
	return given(
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

func (k Keys) codexEnv() []string { return given("CODEX_API_KEY", k.OpenAIAPIKey) }

func (k Keys) ampEnv() []string { return given("AMP_API_KEY", k.AmpAPIKey) }

func (k Keys) geminiEnv() []string {
	return given(
		"GEMINI_API_KEY", k.GeminiAPIKey,
		"GOOGLE_GEMINI_BASE_URL", k.ModelBaseURL,
	)
}
