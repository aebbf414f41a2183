package agent

import (
	"maps"
	"slices"

	"github.com/ralph-loop/ralph/internal/lib/pattern"
)

// kind is what ralph knows about an agent. docs, action.yml, the image and the pins in tools/agents have a row for it.
type kind struct {
	build func(k kind, words []string, o Options) (Adapter, error)
	acp   *acpStart // nil: it does not speak the Agent Client Protocol, or is any program that does

	install        string // hint if the program is not found
	npm            string // package; empty: none
	tested         string // version
	loginHint      string // how to give it a key or a login
	tokenHint      string // how to use a long-lived token instead of the login
	logins         []login
	vars           []string // variables of the user that it reads; none is a secret
	hosts          []string // that it needs with a login, or with a key that must be in the agent
	neededSettings []string // files in the user's home without which it does not know its servers

	// makers returns the model servers that it uses with these keys; nil: it needs no key. replaceable is false if
	// ralph's model server cannot replace them, so that the agent must have the key.
	makers       func(k Keys, model string) (makers []Maker, replaceable bool)
	keyInput     string   // inputs for its key, if a job has no login for it; empty: it needs none
	keyVar       string   // variable of its key, unless it is a key of Anthropic, OpenAI or Google
	baseURL      string   // variable of its model server
	otherServers []string // variables that select another server, or a login despite a key
	settings     *serverSettings
	managed      []string            // patterns of files in which a company chooses a server for the whole machine
	aliases      map[string][]string // model names that stand for patterns
	smallModels  []string            // that it uses by itself for titles, summaries and subagents
}

// login is a file in the home that a login leaves. If the file has more than the login, marker matches the login, and
// fields are what an agent in a sandbox gets.
type login struct {
	file   string
	marker *pattern.Pattern
	fields []string
}

// serverSettings is a file in the home in which users choose a server or a login. marker matches such a choice.
type serverSettings struct {
	file   string
	marker *pattern.Pattern
}

const providerKey = "input provider-api-key"

// kinds are all agents.
var kinds = map[string]kind{
	"claude": {
		build:   claude,
		install: "install Claude Code", npm: "@anthropic-ai/claude-code", tested: "2.1.328",
		loginHint: "log in with `claude auth login`, or set ANTHROPIC_API_KEY to a valid key",
		tokenHint: "it can read your login in the sandbox; a long-lived token stays outside: " +
			"set CLAUDE_CODE_OAUTH_TOKEN to that of `claude setup-token`",
		logins: []login{
			{file: ".claude/.credentials.json"},
			{ // on macOS it keeps its tokens in the keychain, and only the account in a file
				file:   ".claude.json",
				marker: pattern.Of(`"(?:oauthAccount|primaryApiKey)"\s*:\s*[{"]`),
				fields: []string{"oauthAccount", "primaryApiKey", "hasCompletedOnboarding", "userID"},
			},
		},
		vars:     []string{"CLAUDE_CONFIG_DIR", "CLAUDE_CODE_MAX_RETRIES", "API_TIMEOUT_MS"},
		hosts:    []string{"api.anthropic.com", "platform.claude.com", "console.anthropic.com"},
		makers:   anthropicMakers,
		keyInput: "input anthropic-api-key or claude-code-oauth-token",
		baseURL:  "ANTHROPIC_BASE_URL",
		otherServers: []string{
			"CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY", "CLAUDE_CODE_USE_MANTLE",
			"CLAUDE_CODE_USE_ANTHROPIC_AWS", "CLAUDE_CODE_USE_ANTHROPIC_GOOGLE_CLOUD", "ANTHROPIC_UNIX_SOCKET",
		},
		settings: &serverSettings{
			".claude/settings.json",
			pattern.Of(`"(?:ANTHROPIC_BASE_URL|ANTHROPIC_AUTH_TOKEN|ANTHROPIC_API_KEY|` +
				`CLAUDE_CODE_USE_\w+|apiKeyHelper)"\s*:`),
		},
		managed: []string{
			"/etc/claude-code/managed-settings.json", "/etc/claude-code/managed-settings.d/*.json",
			"/Library/Application Support/ClaudeCode/managed-settings.json",
			"/Library/Application Support/ClaudeCode/managed-settings.d/*.json",
		},
		aliases: map[string][]string{
			"opus":     {"claude-opus-*"},
			"sonnet":   {"claude-sonnet-*"},
			"haiku":    {"claude-haiku-*"},
			"opusplan": {"claude-opus-*", "claude-sonnet-*"},
			"default":  {}, "best": {},
		},
		smallModels: []string{"claude-haiku-*"},
	},
	"codex": {
		build:   codex,
		install: "install Codex", npm: "@openai/codex", tested: "0.169.0",
		loginHint: "log in with `codex login`, or set CODEX_API_KEY to a valid key",
		logins:    []login{{file: ".codex/auth.json"}},
		vars:      []string{"CODEX_HOME"},
		hosts:     []string{"api.openai.com", "chatgpt.com", "auth.openai.com"},
		makers:    func(k Keys, _ string) ([]Maker, bool) { return k.maker("openai", k.OpenAIAPIKey), true },
		keyInput:  "input openai-api-key",
		baseURL:   "OPENAI_BASE_URL",
		settings: &serverSettings{
			".codex/config.toml", pattern.Of(`(?m)^\s*(?:model_provider|openai_base_url|profile)\s*=`),
		},
		managed: []string{"/etc/codex/managed_config.toml"},
	},
	"gemini": {
		build: acp, acp: &geminiStart,
		install: "install Gemini CLI", npm: "@google/gemini-cli", tested: "0.61.0",
		loginHint: "start `gemini` once and log in, or set GEMINI_API_KEY to a valid key",
		logins:    []login{{file: ".gemini/oauth_creds.json"}, {file: ".gemini/gemini-credentials.json"}},
		vars: []string{
			"GEMINI_CLI_HOME", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION",
			"GOOGLE_GENAI_USE_GCA", "GOOGLE_GENAI_USE_VERTEXAI",
		},
		hosts: []string{
			"generativelanguage.googleapis.com", "cloudcode-pa.googleapis.com", "oauth2.googleapis.com",
		},
		makers:       func(k Keys, _ string) ([]Maker, bool) { return k.maker("gemini", k.GeminiAPIKey), true },
		keyInput:     "input gemini-api-key",
		baseURL:      "GOOGLE_GEMINI_BASE_URL",
		otherServers: []string{"GOOGLE_GENAI_USE_GCA", "GOOGLE_GENAI_USE_VERTEXAI"},
		settings:     &serverSettings{".gemini/settings.json", pattern.Of(`"selectedType"\s*:\s*"`)},
		aliases: map[string][]string{
			"pro": {"gemini-*pro*"}, "flash": {"gemini-*flash*"}, "flash-lite": {"gemini-*flash*"},
			"auto": {"gemini-*"}, "auto-gemini-2.5": {"gemini-2.5-*"}, "auto-gemini-3": {"gemini-3*"},
		},
		smallModels: []string{"gemini-*flash*"},
	},
	"opencode": {
		build: acp, acp: &opencodeStart,
		install: "install opencode", npm: "opencode-ai", tested: "1.18.33",
		loginHint: "log in to the model's provider with `opencode auth login`, or set its key; " +
			"`opencode models` lists the models that are known",
		logins: []login{{file: ".local/share/opencode/auth.json"}},
		vars: []string{
			"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME",
			"OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR",
		},
		hosts: []string{
			"api.anthropic.com", "api.openai.com", "generativelanguage.googleapis.com", "models.dev",
		},
		neededSettings: []string{".config/opencode/opencode.json", ".config/opencode/opencode.jsonc"},
		makers:         opencodeMakers, // its server is in its settings
		keyInput:       "input anthropic-api-key, openai-api-key or gemini-api-key",
	},
	"copilot": {
		build: acp, acp: &copilotStart,
		install: "install GitHub Copilot CLI", npm: "@github/copilot", tested: "1.0.102",
		loginHint: "log in with `copilot login`, or set COPILOT_PROVIDER_BASE_URL and COPILOT_PROVIDER_API_KEY",
		logins: []login{{
			file:   ".copilot/config.json",
			marker: pattern.Of(`"(?:lastLoggedInUser|last_logged_in_user|copilotTokens|copilot_tokens)"\s*:\s*\{`),
			fields: []string{
				"loggedInUsers", "logged_in_users", "lastLoggedInUser", "last_logged_in_user",
				"copilotTokens", "copilot_tokens",
			},
		}},
		vars: []string{
			"COPILOT_HOME", "COPILOT_GH_HOST", "GH_HOST", "COPILOT_PROVIDER_WIRE_API", "COPILOT_PROVIDER_MODEL_ID",
			"COPILOT_PROVIDER_WIRE_MODEL", "COPILOT_PROVIDER_MAX_PROMPT_TOKENS", "COPILOT_PROVIDER_MAX_OUTPUT_TOKENS",
		},
		hosts: []string{"api.githubcopilot.com", "api.individual.githubcopilot.com", "api.github.com"},
		// A GitHub token, its login, would be more than an agent may have.
		makers:   copilotMakers,
		keyInput: "inputs model-base-url, provider-api-key and model",
		keyVar:   "COPILOT_PROVIDER_API_KEY",
		baseURL:  "COPILOT_PROVIDER_BASE_URL",
	},
	"qwen": {
		build: acp, acp: &qwenStart,
		install: "install Qwen Code", npm: "@qwen-code/qwen-code", tested: "0.24.4",
		loginHint:      "start `qwen` once and log in, or set OPENAI_API_KEY and OPENAI_BASE_URL",
		logins:         []login{{file: ".qwen/oauth_creds.json"}},
		neededSettings: []string{".qwen/settings.json"},
		hosts:          []string{"portal.qwen.ai", "chat.qwen.ai"},
		makers:         providerMakers,
		keyInput:       providerKey + ", model-base-url and model",
		keyVar:         "OPENAI_API_KEY",
		baseURL:        "OPENAI_BASE_URL",
	},
	"amp": {
		build:   amp,
		install: "install Amp", npm: "@ampcode/cli", tested: "0.0.1790142911-g7618fb",
		loginHint: "set AMP_API_KEY to a valid key, as your settings on ampcode.com show it",
		logins:    []login{{file: ".local/share/amp/secrets.json"}},
		hosts:     []string{"ampcode.com"},
		makers:    ownServer,
		keyInput:  providerKey,
		keyVar:    "AMP_API_KEY",
	},
	"acp": {
		build:   acp,
		install: "install it, or set another agent command",
		makers:  anyServer,
		keyVar:  "PROVIDER_API_KEY",
	},
	"command": {
		build:   command,
		install: "install it, or set another agent command",
		makers:  anthropicMakers,
		keyVar:  "PROVIDER_API_KEY",
		baseURL: "ANTHROPIC_BASE_URL",
	},
	"scripted": {build: scripted, install: "it is this program itself: start it by its full path"},
}

// Names lists all agents but the one of ralph's own tests and demo.
func Names() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(kinds)), func(name string) bool { return name == "scripted" })
}
