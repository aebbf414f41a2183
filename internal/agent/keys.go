package agent

// Keys are what an agent needs to speak to its model; each may be empty. They
// reach the environment of the agent that uses them and nothing else.
type Keys struct {
	AnthropicAPIKey      string
	ClaudeCodeOAuthToken string
	OpenAIAPIKey         string
	AmpAPIKey            string
	ModelBaseURL         string // of the model server of the agent in use
}

// KeysFrom are the keys that the CLIs themselves look for in an environment.
// OPENAI_API_KEY is none of them: Codex passes it over in favour of its login,
// and a key left there for something else must not begin to pay. The base URL
// is that of the agent which Pick would give: none may get another maker's.
func KeysFrom(getenv func(string) string, name, command string) Keys {
	if name == "" {
		name = infer(command)
	}
	base := "ANTHROPIC_BASE_URL"
	if name == "codex" {
		base = "OPENAI_BASE_URL"
	}
	return Keys{
		AnthropicAPIKey:      getenv("ANTHROPIC_API_KEY"),
		ClaudeCodeOAuthToken: getenv("CLAUDE_CODE_OAUTH_TOKEN"),
		OpenAIAPIKey:         getenv("CODEX_API_KEY"),
		AmpAPIKey:            getenv("AMP_API_KEY"),
		ModelBaseURL:         getenv(base),
	}
}

// Secrets are the keys that nobody may see.
func (k Keys) Secrets() []string {
	return []string{k.AnthropicAPIKey, k.ClaudeCodeOAuthToken, k.OpenAIAPIKey, k.AmpAPIKey}
}

// env is all keys that were given, under the names that programs look for: a
// program of the user's may start any of them.
func (k Keys) env() []string { return merge(k.claudeEnv(), k.codexEnv(), k.ampEnv()) }

func (k Keys) claudeEnv() []string {
	return given(
		"ANTHROPIC_API_KEY", k.AnthropicAPIKey,
		"CLAUDE_CODE_OAUTH_TOKEN", k.ClaudeCodeOAuthToken,
		"ANTHROPIC_BASE_URL", k.ModelBaseURL,
	)
}

func (k Keys) codexEnv() []string { return given("CODEX_API_KEY", k.OpenAIAPIKey) }

func (k Keys) ampEnv() []string { return given("AMP_API_KEY", k.AmpAPIKey) }
