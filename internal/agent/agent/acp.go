package agent

import (
	"cmp"
	"slices"

	"github.com/ralph-loop/ralph/internal/agent/mcp"
	"github.com/ralph-loop/ralph/internal/lib/environ"
)

// acpStart says how to start a program that speaks the Agent Client Protocol.
type acpStart struct {
	words        []string // after the program
	rules        flagRules
	modelFlag    string // empty: env names the model
	env          func(o Options, model string) []string
	home         func(o Options) (files map[string]string, notes []string) // nil: it uses the user's home
	homeVar      string                                                    // variable of that home
	sessionModel func(o Options, model string) string                      // that the session must name; nil: any
	mcpByFlag    bool                                                      // a flag gives it its MCP servers

	settings     []string // words that print the user's settings; nil: they name no model server
	readSettings func(printed []byte, k Keys, model string) UserSettings
}

// acp adapts a program that speaks the Agent Client Protocol. A program that ralph does not know gets all keys.
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
		Notes: notes,
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
			if !start.mcpByFlag {
				d.servers = o.Servers.ForACP()
			}
			if start.sessionModel != nil {
				d.expects = start.sessionModel(o, d.model)
			}
			return newACP(&d)
		},
	}
	if k.acp != nil {
		adapter.Version = ask(command, "--version")
		adapter.ReportsUsage = true
	}
	if start.settings != nil {
		adapter.SettingsCommand = ask(command, start.settings...)
		adapter.ReadSettings = start.readSettings
	}
	if start.home != nil {
		var more []string
		adapter.Home, more = start.home(o)
		adapter.Notes = append(adapter.Notes, more...)
	}
	return adapter, nil
}

// geminiStart trusts the folder by a flag. The variable for it would trust the repository's settings, too: Gemini CLI
// would run their hooks and servers without asking.
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

// geminiHome returns the files of a home in which Gemini CLI uses a key with another model server. That needs a
// setting, and no variable replaces it. The system's settings would do, but they must belong to root.
func geminiHome(o Options) (files map[string]string, notes []string) {
	if o.Keys.GeminiAPIKey == "" || o.Keys.ModelBaseURL == "" || o.Keys.KeySelected {
		return nil, nil
	}
	files = map[string]string{".gemini/settings.json": `{
  "general": {"enableAutoUpdate": false},
  "privacy": {"usageStatisticsEnabled": false},
  "security": {"auth": {"selectedType": "gemini-api-key"}}
}
`}
	if !o.NeedKey {
		notes = []string{"with another model server gemini runs in its own home, without your ~/.gemini; " +
			`"security": {"auth": {"selectedType": "gemini-api-key"}} in its settings.json keeps yours`}
	}
	return files, notes
}

var copilotStart = acpStart{
	words: []string{"--acp", "--allow-all", "--no-ask-user", "--no-auto-update"},
	rules: flagRules{
		"--acp": {}, "--allow-all": {}, "--yolo": {}, "--allow-all-tools": {},
		"--no-ask-user": {}, "--no-auto-update": {},
	},
	env:       copilotEnv,
	mcpByFlag: true,
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
