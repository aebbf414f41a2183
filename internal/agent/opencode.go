package agent

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/environ"
	"github.com/ralph-loop/ralph/internal/pattern"
	"github.com/ralph-loop/ralph/internal/stream"
)

func opencode(words []string, o Options) (Adapter, error) {
	command, extra, notes := opencodeRules.split(trimSubcommand(words, "run"), o.Args)
	flags := slices.Concat(command[1:], extra)
	return Adapter{
		Install:         "install opencode",
		Package:         "opencode-ai",
		Version:         ask(command, "--version"),
		Tested:          "1.18.33",
		Notes:           notes,
		Login:           "log in to the model's provider with `opencode auth login`, or set its key; `opencode models` lists the models that are known",
		SettingsCommand: ask(command, "debug", "config", "--pure"), // without plugins: no sandbox is there yet
		ReadSettings:    opencodeReadSettings,
		MissingLogin:    func(_ int, complaint string) string { return opencodeUnknown.FindString(complaint) },
		Vars: []string{
			"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR",
		},
		State: opencodeKeeps,
		// A second loader of its looks for them no matter what the settings say.
		AutoRuns: []string{".opencode/plugin", ".opencode/plugins"},
		Hosts:    []string{"api.anthropic.com", "api.openai.com", "generativelanguage.googleapis.com", "models.dev"},
		Argv: func(order Order) []string {
			return slices.Concat(command, opencodeStart, modelFlags("-m", flags, opencodeOrder(order, o)), extra)
		},
		Env: func(order Order) []string { return opencodeEnv(o, modelOf(flags, opencodeOrder(order, o))) },
		Decoder: func(order Order) Decoder {
			return decoderOf(&opencodeDecoder{price: o.Prices, model: modelOf(flags, order)})
		},
		ParseStderr: opencodeParseStderr,
		Reporting:   ReportsCost,
	}, nil
}

// opencodeStart sends the log to stderr: otherwise a refusing model causes minutes of silence.
var opencodeStart = []string{"run", "--format", "json", "--auto", "--print-logs", "--log-level", "ERROR"}

var opencodeRules = flagRules{
	"--auto": {}, "--print-logs": {}, "--log-level": {only: "ERROR"},
	"--format": {only: "json"},
}

// opencodeOrder adds the settings' model, and our own provider for a model server.
func opencodeOrder(order Order, o Options) Order {
	order.Model = cmp.Or(order.Model, o.Model)
	if o.Keys.ModelBaseURL != "" && order.Model != "" && !strings.Contains(order.Model, "/") {
		order.Model = "ralph/" + order.Model
	}
	return order
}

// opencodeEnv keeps the repository's settings out: opencode would start their plugins and servers.
func opencodeEnv(o Options, model string) []string {
	keys, settings := o.Keys, map[string]any{}
	provider, name, _ := strings.Cut(model, "/")
	env := []string{"OPENCODE_DISABLE_PROJECT_CONFIG=1", "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1"}
	if keys.ModelBaseURL != "" && name != "" {
		env = append(env, "OPENCODE_DISABLE_MODELS_FETCH=1")
		settings = opencodeConfig(keys, provider, name)
	}
	if !keys.Bounded {
		settings["subagent_depth"] = 0 // it does not report what they use
	}
	maps.Copy(settings, o.Servers.Settings("opencode"))
	if len(settings) > 0 {
		content, _ := json.Marshal(settings) // strings, and maps and lists of them, have no error
		env = append(env, "OPENCODE_CONFIG_CONTENT="+string(content))
	}
	return append(env, opencodeKeys(keys, provider)...)
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

// opencodeReadSettings takes the server of the user's own settings in place of the maker's.
// A provider that opencode does not know by itself is adopted when it speaks
// OpenAI's chat completions and needs no key.
func opencodeReadSettings(printed []byte, k Keys, model string) UserSettings {
	var own opencodeSettings
	if json.Unmarshal(printed, &own) != nil {
		return UserSettings{Keys: k}
	}
	adopted := UserSettings{Model: cmp.Or(model, own.Model), Keys: k}
	name, _, _ := strings.Cut(adopted.Model, "/")
	provider := own.Provider[name]
	_, known := opencodeProviders[name]
	switch base := provider.Options.BaseURL; {
	case base == "":
		return adopted
	case provider.Options.APIKey == "" && known && len(opencodeKeys(k, name)) > 0:
		adopted.Keys.ModelBaseURL = base
	case provider.Options.APIKey == "" && !known && (provider.NPM == "" || provider.NPM == "@ai-sdk/openai-compatible"):
		adopted.Keys.ModelBaseURL, adopted.Keys.OpenAIAPIKey = base, "none" // which the server ignores
	default:
		adopted.Keys, adopted.Server = Keys{}, base
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

// opencodeUnknown also matches where a provider has no key or login.
var opencodeUnknown = pattern.Of(`Model not found: [^\s",]*[^\s",.]`)

// opencodeTrouble matches failed calls to the model, except for the session's title.
var opencodeTrouble = pattern.Of(`\bmessage="stream error" .*\bsmall=false .*\berror\.error="([^"]*)"`)

func opencodeParseStderr(line string) (stream.Item, bool) {
	m := opencodeTrouble.FindStringSubmatch(line)
	if m == nil {
		return nil, false
	}
	return stream.Retry{Reason: Short(m[1])}, true
}

// opencodeKeeps: in snapshot lie git repositories, by which git runs programs. A login
// of the kind wellknown, and an account in the database, name a server that opencode
// loads settings from, with programs to start: of logins only tokens change, and inside
// the database is in memory.
var opencodeKeeps = State{
	Folders: map[string][]string{
		".config/opencode":      nil,
		"$OPENCODE_CONFIG_DIR":  nil,
		".local/share/opencode": {"auth.json", "log", "tool-output"},
		".local/state/opencode": {"locks"},
	},
	Files: map[string][]string{".local/share/opencode/auth.json": {"*.access", "*.refresh", "*.expires"}, "$OPENCODE_CONFIG": nil},
	Temp:  []string{".local/share/opencode/storage"},
	Env:   []string{"OPENCODE_DB=:memory:"},
	Makes: []string{".config/opencode/.gitignore", ".config/opencode/node_modules", ".config/opencode/package*.json", ".config/opencode/bun.lock", ".local/share/opencode/bin", ".local/share/opencode/snapshot", ".local/state/opencode", "$OPENCODE_CONFIG_DIR/.gitignore", "$OPENCODE_CONFIG_DIR/node_modules", "$OPENCODE_CONFIG_DIR/package*.json", "$OPENCODE_CONFIG_DIR/bun.lock"},
}
