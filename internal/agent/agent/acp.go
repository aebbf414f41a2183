package agent

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent/mcp"
	"github.com/ralph-loop/ralph/internal/lib/environ"
)

// acpStart is how a program is started that speaks the Agent Client Protocol.
type acpStart struct {
	words     []string // after the program
	rules     flagRules
	modelFlag string // empty: env names the model
	env       func(o Options, model string) []string
	home      func(o Options) (home map[string]string, notes []string) // nil: the user's
	homeVar   string
	confirms  func(o Options, model string) string // the model that the session has to name; nil: any
	ownFlag   bool                                 // it gets MCP servers by a flag, and not with the session

	settings     []string // words that print the user's settings; nil: they name no model server
	readSettings func(printed []byte, k Keys, model string) UserSettings
}

// acp is a program that speaks the Agent Client Protocol. One that ralph does not know gets all keys.
func acp(k kind, words []string, o Options) (Adapter, error) {
	start := cmp.Or(k.acp, &acpStart{
		env: func(o Options, model string) []string {
			return environ.Merge(o.Keys.env(), environ.Pairs("RALPH_MODEL", model))
		},
	})
	flags := slices.Concat(words[1:], o.Args)
	command, extra, notes := start.rules.split(words, o.Args)
	model := func(order Order) string { return cmp.Or(modelOf(flags, order), o.Model) }
	adapter := Adapter{
		Version:      ask(command, "--version"),
		Notes:        notes,
		ReportsUsage: k.acp != nil,
		Argv: func(order Order) []string {
			return slices.Concat(command, start.words, modelFlags(start.modelFlag, flags, order), extra)
		},
		Env: func(order Order) []string {
			return environ.Merge(start.env(o, model(order)), environ.Pairs(start.homeVar, order.Home))
		},
		Decoder: func(order Order) Decoder {
			d := acpDecoder{
				prompt:  order.Prompt,
				dir:     order.Dir,
				model:   model(order),
				price:   o.Prices,
				servers: []mcp.ACPServer{},
				calls:   map[string]acpCall{},
			}
			if !start.ownFlag {
				d.servers = o.Servers.ForACP()
			}
			if start.confirms != nil {
				d.expects = start.confirms(o, d.model)
			}
			return newACP(&d)
		},
	}
	if start.settings != nil {
		adapter.SettingsCommand = ask(command, start.settings...)
		adapter.ReadSettings = start.readSettings
	}
	if k.acp == nil {
		adapter.Version = nil
	}
	if start.home != nil {
		var more []string
		adapter.Home, more = start.home(o)
		adapter.Notes = append(adapter.Notes, more...)
	}
	return adapter, nil
}

// geminiStart: the folder is trusted by a flag, and not by its variable, which would trust the repository's settings
// too: their hooks and servers would run unasked.
var geminiStart = acpStart{
	words:     []string{"--acp", "--yolo", "--skip-trust"},
	modelFlag: "-m",
	rules:     flagRules{"--acp": {}, "--yolo": {}, "-y": {}, "--skip-trust": {}, "--approval-mode": {only: "yolo"}},
	env: func(o Options, _ string) []string {
		return environ.Pairs("GEMINI_API_KEY", o.Keys.GeminiAPIKey, "GOOGLE_GEMINI_BASE_URL", o.Keys.ModelBaseURL)
	},
	home:    geminiHome,
	homeVar: "GEMINI_CLI_HOME",
}

// geminiHome returns the home in which a key is taken to another model server. For that Gemini CLI wants a setting, and
// no variable stands in for it. Settings of the whole system do, but those must belong to root.
func geminiHome(o Options) (home map[string]string, notes []string) {
	if o.Keys.GeminiAPIKey == "" || o.Keys.ModelBaseURL == "" || o.Keys.KeySelected {
		return nil, nil
	}
	home = map[string]string{".gemini/settings.json": `{
  "general": {"enableAutoUpdate": false},
  "privacy": {"usageStatisticsEnabled": false},
  "security": {"auth": {"selectedType": "gemini-api-key"}}
}
`}
	if !o.NeedKey {
		notes = []string{"with another model server gemini runs in its own home, without your ~/.gemini; " +
			`"security": {"auth": {"selectedType": "gemini-api-key"}} in its settings.json keeps yours`}
	}
	return home, notes
}

var copilotStart = acpStart{
	words: []string{"--acp", "--allow-all", "--no-ask-user", "--no-auto-update"},
	rules: flagRules{
		"--acp": {}, "--allow-all": {}, "--yolo": {}, "--allow-all-tools": {},
		"--no-ask-user": {}, "--no-auto-update": {},
	},
	env:     copilotEnv,
	ownFlag: true,
}

// copilotEnv sets the model by a variable, which the user's flags override.
func copilotEnv(o Options, model string) []string {
	env := environ.Pairs("COPILOT_MODEL", model)
	base := o.Keys.ModelBaseURL
	if base == "" {
		return env
	}
	if cmp.Or(o.Keys.ProviderType, "openai") == "openai" {
		base = withAPIPath(base, "v1")
	}
	return append(env, environ.Pairs(
		"COPILOT_OFFLINE", "true",
		"COPILOT_PROVIDER_BASE_URL", base,
		"COPILOT_PROVIDER_TYPE", o.Keys.ProviderType,
		"COPILOT_PROVIDER_API_KEY", o.Keys.ProviderAPIKey,
	)...)
}

var qwenStart = acpStart{
	words:     []string{"--acp", "--yolo"},
	modelFlag: "-m",
	rules:     flagRules{"--acp": {}, "--yolo": {}, "-y": {}, "--approval-mode": {only: "yolo"}},
	env: func(o Options, model string) []string {
		base := o.Keys.ModelBaseURL
		if base != "" {
			base = withAPIPath(base, "v1")
		}
		return environ.Pairs("OPENAI_API_KEY", o.Keys.ProviderAPIKey, "OPENAI_BASE_URL", base, "OPENAI_MODEL", model)
	},
}

var opencodeStart = acpStart{
	words: []string{"acp"},
	rules: flagRules{"acp": {}, "-m": {read: true}, "--model": {read: true}},
	env:   opencodeEnv,
	// Without a login it takes a free model in silence.
	confirms: opencodeModel,
	// Without plugins: no sandbox is there yet.
	settings:     []string{"debug", "config", "--pure"},
	readSettings: opencodeReadSettings,
}

// opencodeModel adds a provider of our own for a model server, if the model names none.
func opencodeModel(o Options, model string) string {
	if o.Keys.ModelBaseURL == "" || model == "" || strings.Contains(model, "/") {
		return model
	}
	return "ralph/" + model
}

// opencodeEnv keeps the repository's settings out: opencode would start their plugins and servers.
func opencodeEnv(o Options, model string) []string {
	model = opencodeModel(o, model)
	provider, name, _ := strings.Cut(model, "/")
	env := []string{
		"OPENCODE_DISABLE_PROJECT_CONFIG=1",
		"OPENCODE_DISABLE_AUTOUPDATE=1",
		"OPENCODE_DISABLE_LSP_DOWNLOAD=1",
	}
	settings := map[string]any{}
	if o.Keys.ModelBaseURL != "" && name != "" {
		env = append(env, "OPENCODE_DISABLE_MODELS_FETCH=1")
		settings = opencodeConfig(o.Keys, provider, name)
	}
	if model != "" {
		settings["model"] = model
	}
	settings["permission"] = "allow"
	content, _ := json.Marshal(settings) // strings, and maps and lists of them, have no error
	env = append(env, "OPENCODE_CONFIG_CONTENT="+string(content))
	return append(env, opencodeKeys(o.Keys, provider)...)
}

// opencodeProviders have APIs that opencode knows, in these folders. Others use OpenAI's chat API.
var opencodeProviders = map[string]struct{ folder, key string }{
	"anthropic": {"v1", "ANTHROPIC_API_KEY"},
	"google":    {"v1beta", "GEMINI_API_KEY"},
	"openai":    {"v1", "OPENAI_API_KEY"},
}

func opencodeKeys(keys Keys, provider string) []string {
	all := map[string][]string{
		"anthropic": environ.Pairs("ANTHROPIC_API_KEY", keys.AnthropicAPIKey),
		"google":    environ.Pairs("GEMINI_API_KEY", keys.GeminiAPIKey),
		"openai":    environ.Pairs("OPENAI_API_KEY", keys.OpenAIAPIKey),
	}
	switch own, known := all[provider]; {
	case known:
		return own
	case provider == "":
		return slices.Concat(all["anthropic"], all["google"], all["openai"])
	case keys.ModelBaseURL != "":
		return all["openai"]
	}
	return nil
}

// opencodeSettings is the output of opencode debug config, which masks keys.
type opencodeSettings struct {
	Model    string `json:"model"`
	Provider map[string]struct {
		NPM     string `json:"npm"`
		Options struct {
			BaseURL string `json:"baseURL"`
			APIKey  string `json:"apiKey"`
		} `json:"options"`
	} `json:"provider"`
}

// opencodeReadSettings takes the server of the user's own settings in place of the provider's. A provider that opencode
// does not know by itself is adopted when it speaks OpenAI's chat completions and needs no key.
func opencodeReadSettings(printed []byte, k Keys, model string) UserSettings {
	var own opencodeSettings
	if json.Unmarshal(printed, &own) != nil {
		return UserSettings{Keys: k}
	}
	adopted := UserSettings{Model: cmp.Or(model, own.Model), Keys: k}
	name, _, _ := strings.Cut(adopted.Model, "/")
	provider := own.Provider[name]
	base := provider.Options.BaseURL
	if base == "" {
		return adopted
	}
	hasKey := provider.Options.APIKey != ""
	isOpenAI := provider.NPM == "" || provider.NPM == "@ai-sdk/openai-compatible"
	_, known := opencodeProviders[name]
	switch {
	case !hasKey && known && len(opencodeKeys(k, name)) > 0:
		adopted.Keys.ModelBaseURL = base
	case !hasKey && !known && isOpenAI:
		adopted.Keys.ModelBaseURL = base
		adopted.Keys.OpenAIAPIKey = "none" // which the server ignores
	default:
		adopted.Keys = Keys{}
		adopted.Server = base
	}
	return adopted
}

// opencodeConfig uses another server for a model. It names the key's variable, not the key.
func opencodeConfig(keys Keys, provider, model string) map[string]any {
	known, plain := opencodeProviders[provider]
	if !plain {
		known = opencodeProviders["openai"]
	}
	settings := map[string]any{
		"options": map[string]string{
			"baseURL": withAPIPath(keys.ModelBaseURL, known.folder),
			"apiKey":  "{env:" + known.key + "}",
		},
		"models": map[string]any{model: map[string]any{}},
	}
	if !plain {
		settings["npm"] = "@ai-sdk/openai-compatible"
	}
	return map[string]any{
		"autoupdate": false, "share": "disabled", "small_model": provider + "/" + model,
		"provider": map[string]any{provider: settings},
	}
}
