package agent

import (
	"slices"

	"github.com/ralph-loop/ralph/internal/fault"
)

// copilot is GitHub Copilot CLI, as version 1.0 behaves. A GitHub token in its
// environment is its login, and more than an agent may have: it gets none.
func copilot(o Options) (Adapter, error) {
	words, err := Words(o.Command)
	if err != nil {
		return Adapter{}, err
	}
	if len(words) == 0 {
		words = []string{"copilot"}
	}
	if o.NeedKey && (o.Keys.ModelBaseURL == "" || o.Keys.CopilotProviderAPIKey == "") {
		return Adapter{}, fault.Usage("no model server for the agent copilot, which gets no GitHub token",
			"set the inputs model-base-url, copilot-provider-api-key and model", nil)
	}
	command, extra, notes := copilotRules.split(words, o.Args)
	return Adapter{
		Name:    "copilot",
		Program: words[0],
		Install: "install GitHub Copilot CLI",
		Package: "@github/copilot",
		Behind:  copilotBehind,
		Version: append(slices.Clone(command), "--version"),
		Tested:  "1.0.102",
		Notes:   notes,
		Login:   o.login("input copilot-provider-api-key", "log in with `copilot login`, or set COPILOT_PROVIDER_BASE_URL and COPILOT_PROVIDER_API_KEY"),
		Lacks:   saying("No authentication information found"),
		Vars: []string{
			"COPILOT_HOME", "COPILOT_GH_HOST", "GH_HOST", "COPILOT_PROVIDER_WIRE_API", "COPILOT_PROVIDER_MODEL_ID",
			"COPILOT_PROVIDER_WIRE_MODEL", "COPILOT_PROVIDER_MAX_PROMPT_TOKENS", "COPILOT_PROVIDER_MAX_OUTPUT_TOKENS",
		},
		State:   []string{".copilot"},
		Settled: Settled{Paths: within(".copilot", "settings.json", "mcp-config.json", "lsp-config.json", "copilot-instructions.md", "hooks", "agents", "skills", "instructions"), Fields: map[string][]string{".copilot/config.json": copilotFields}, Code: within(".copilot", "pkg", "installed-plugins")},
		Hosts:   []string{"api.githubcopilot.com", "api.individual.githubcopilot.com", "api.github.com"},
		Argv:    func(Order) []string { return slices.Concat(command, copilotStart, extra) },
		Env:     func(order Order) []string { return copilotEnv(o.Keys, order.Model) },
		Decoder: func(Order) Decoder { return &copilotDecoder{} },
		Speaks:  true,
	}, nil
}

// copilotStart leaves the prompt to stdin.
var copilotStart = []string{"--allow-all", "--no-ask-user", "--no-auto-update", "--output-format", "json"}

// copilotRules leave out what is said anyway.
var copilotRules = flagRules{
	"--allow-all": {}, "--yolo": {}, "--allow-all-tools": {}, "--no-ask-user": {}, "--no-auto-update": {},
	"--output-format": {valued: true, same: "json", note: "copilot is always asked for json: another --output-format is left out"},
}

// copilotEnv names the model where a flag of the user's can still name another.
// Away from GitHub's models it keeps away from GitHub altogether.
func copilotEnv(keys Keys, model string) []string {
	env := given("COPILOT_MODEL", model)
	if keys.ModelBaseURL == "" {
		return env
	}
	base := keys.ModelBaseURL
	if keys.CopilotProviderType == "" || keys.CopilotProviderType == "openai" {
		base = serverAt(base, "v1")
	}
	return append(env, given(
		"COPILOT_OFFLINE", "true",
		"COPILOT_PROVIDER_BASE_URL", base,
		"COPILOT_PROVIDER_TYPE", keys.CopilotProviderType,
		"COPILOT_PROVIDER_API_KEY", keys.CopilotProviderAPIKey,
	)...)
}
