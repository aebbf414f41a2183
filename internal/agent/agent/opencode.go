package agent

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/lib/environ"
)

var opencodeStart = acpStart{
	words: []string{"acp"},
	rules: flagRules{"acp": {}, "-m": {read: true}, "--model": {read: true}},
	env:   opencodeEnv,
	// Without a login, opencode silently uses a free model.
	sessionModel: opencodeModel,
	// Without plugins: they would run outside the sandbox.
	settings:     []string{"debug", "config", "--pure"},
	readSettings: opencodeReadSettings,
}

// opencodeModel adds ralph's own provider for a model server, if the model names none.
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

// opencodeProviders have APIs that opencode knows. All other providers use OpenAI's chat API.
var opencodeProviders = map[string]struct{ apiPath, keyVar string }{
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
	own, known := all[provider]
	switch {
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
	api, known := opencodeProviders[provider]
	if !known {
		api = opencodeProviders["openai"]
	}
	settings := map[string]any{
		"options": map[string]string{
			"baseURL": withAPIPath(keys.ModelBaseURL, api.apiPath),
			"apiKey":  "{env:" + api.keyVar + "}",
		},
		"models": map[string]any{model: map[string]any{}},
	}
	if !known {
		settings["npm"] = "@ai-sdk/openai-compatible"
	}
	return map[string]any{
		"autoupdate": false, "share": "disabled", "small_model": provider + "/" + model,
		"provider": map[string]any{provider: settings},
	}
}
