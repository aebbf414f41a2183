package agent

import (
	"encoding/json"
	"slices"

	"github.com/ralph-loop/ralph/internal/fault"
)

// claude is Claude Code, as version 2.1 behaves.
func claude(o Options) (Adapter, error) {
	words, err := Words(o.Command)
	if err != nil {
		return Adapter{}, err
	}
	if len(words) == 0 {
		words = []string{"claude"}
	}
	if o.NeedKey && o.Keys.AnthropicAPIKey == "" && o.Keys.ClaudeCodeOAuthToken == "" {
		return Adapter{}, fault.Usage("no key for the agent claude",
			"set the input anthropic-api-key or claude-code-oauth-token", nil)
	}
	if err := notOurs(o.Keys.ModelBaseURL); err != nil {
		return Adapter{}, err
	}
	hooks := ""
	if o.Hooks {
		if hooks, err = hookSettings(o.Self); err != nil {
			return Adapter{}, err
		}
	}
	command, extra, notes := claudeRules.split(words, o.Args)
	if o.Reads {
		extra = append(extra, "--tools", "Read,Grep,Glob")
	}
	adapter := Adapter{
		Name:    "claude",
		Program: words[0],
		Install: "install Claude Code",
		Package: "@anthropic-ai/claude-code",
		Version: append(slices.Clone(command), "--version"),
		Tested:  "2.1.328",
		Notes:   notes,
		Login: o.login("input anthropic-api-key or claude-code-oauth-token",
			"log in with `claude auth login`, or set ANTHROPIC_API_KEY to a valid key"),
		Status:  asking(command, "auth", "status"),
		Unready: claudeUnready,
		Vars:    []string{"CLAUDE_CONFIG_DIR", "CLAUDE_CODE_MAX_RETRIES", "API_TIMEOUT_MS"},
		Usual:   claudePatience,
		State:   []string{".claude", ".claude.json"},
		Settled: Settled{Paths: within(".claude", "settings.json", "settings.local.json", "CLAUDE.md", "rules", "hooks", "agents", "commands", "skills",
			"output-styles", "plugins/config.json", "plugins/installed_plugins.json", "plugins/known_marketplaces.json"), Fields: map[string][]string{".claude.json": claudeFields}, Code: within(".claude", "local", "plugins")},
		Hosts:   []string{"api.anthropic.com", "platform.claude.com", "console.anthropic.com"},
		Argv:    func(order Order) []string { return claudeArgv(command, order, hooks, extra) },
		Env:     func(Order) []string { return claudeEnv(o.Keys, hooks != "") },
		Decoder: func(order Order) Decoder { return &claudeDecoder{price: o.Prices, model: order.Model} },
		Guarded: hooks != "",
		Reports: ReportsCost,
		Speaks:  true,
	}
	if o.Docker != nil {
		return o.Docker.within(adapter, slices.Concat(command[1:], extra)), nil
	}
	return adapter, nil
}

// claudeRules leave out what is said anyway. The console decides what people
// see; what the program reads is always the same.
var claudeRules = flagRules{
	"-p": {}, "--print": {}, "--verbose": {}, "--dangerously-skip-permissions": {},
	"--output-format": {valued: true, same: "stream-json", note: "claude is always asked for stream-json: another --output-format is left out"},
}

// claudeArgv leaves the prompt to stdin: an argument ends at 128 KiB.
func claudeArgv(words []string, order Order, hooks string, extra []string) []string {
	argv := slices.Concat(words, []string{"-p"}, claudeFormat, []string{"--dangerously-skip-permissions"}, claudeSources)
	if hooks != "" {
		argv = append(argv, "--settings", hooks)
	}
	return slices.Concat(argv, claudeModel(order), extra)
}

var (
	claudeFormat = []string{"--output-format", "stream-json", "--verbose"} // the one needs the other
	// A repository's own settings hold hooks, which -p runs unasked.
	claudeSources = []string{"--setting-sources", "user"}
)

func claudeModel(order Order) []string {
	if order.Model == "" {
		return nil
	}
	return []string{"--model", order.Model}
}

func claudeEnv(keys Keys, hooked bool) []string {
	own := ""
	if hooked { // the plugin's, where the user has it, step back
		own = "settings"
	}
	return merge(keys.claudeEnv(), given("RALPH_HOOKS", own), []string{
		"IS_SANDBOX=1", // as root it refuses to start without, in a container too
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"DISABLE_AUTOUPDATER=1",
	})
}

// claudeUnready reads the answer of claude auth status. Versions without that
// command answer something else.
func claudeUnready(_ int, printed []byte) string {
	var status struct {
		LoggedIn *bool `json:"loggedIn"`
	}
	if json.Unmarshal(printed, &status) != nil || status.LoggedIn == nil || *status.LoggedIn {
		return ""
	}
	return "it has no key and is not logged in"
}

// claudePatience: ten retries, its default, take three minutes, a refused key's
// too. Six take half a minute; what lasts longer is another iteration's.
var claudePatience = []string{"CLAUDE_CODE_MAX_RETRIES=6"}
