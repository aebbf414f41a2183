// Package agent describes the CLIs of coding agents. Each file holds the
// arguments, the environment and the output decoder of one CLI. It starts no
// agent; internal/agent/driver does.
package agent

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/jsontree"
	"github.com/ralph-loop/ralph/internal/mcp"
	"github.com/ralph-loop/ralph/internal/price"
	"github.com/ralph-loop/ralph/internal/stream"
)

// Adapter describes one agent CLI with data and pure functions. A new CLI needs a
// new file with a function that returns an Adapter, and a line in kinds.
type Adapter struct {
	Name       string
	Program    string            // name on PATH, or path
	Install    string            // hint where Program is not found
	Package    string            // npm package; empty: none
	Version    []string          // argv that prints the version; nil: unknown
	Tested     string            // version that was tested
	Notes      []string          // where the adapter does not do what the user's flags ask for
	Vars       []string          // the user's variables that it reads; none is a secret
	Home       map[string]string // files of a home of its own; nil: it uses the user's home
	State      State             // its login, settings and sessions in the user's home
	AutoRuns   []string          // paths in a repository whose content it runs without asking
	Hosts      []string          // hosts it needs with a login, or with a key that only it can hold
	Argv       func(Order) []string
	DefaultEnv []string             // defaults; the user's environment overrides them
	Env        func(Order) []string // beyond the base environment
	Stdin      func(Order) string   // nil: the prompt
	Decoder    func(Order) Decoder

	// Login is the hint how to give it a key or a login. MissingLogin returns the
	// reason if exit code and error line say that it has none; may be nil.
	Login        string
	MissingLogin func(exit int, complaint string) string

	// StatusCommand reports whether there is a key or a login, without a request to a
	// model; nil: there is no such command. ReadStatus returns why there is none.
	StatusCommand []string
	ReadStatus    func(exit int, printed []byte) string

	// SettingsCommand prints the user's settings; nil: they name no model server.
	// ReadSettings returns the server that they name.
	SettingsCommand []string
	ReadSettings    func(printed []byte, k Keys, model string) UserSettings

	// ParseStderr returns the item that a line of stderr means, such as a wait;
	// may be nil.
	ParseStderr func(line string) (stream.Item, bool)

	MaxPrompt int           // bytes; 0: the limit of stdin
	SyncDelay time.Duration // until its files are synchronized after it ended

	Reporting UsageReporting // when it reports its usage

	CallsHooks bool // it calls ralph's hooks before it uses a tool
	InJob      bool // its hints name inputs of a workflow, not flags
	Counted    bool // ralph's model server counts its usage: what it says of it does not count
	Plain      bool // it prints its words; others print JSON lines, and one that fails without any never started
}

// InstallHint returns how to install the program.
func (a Adapter) InstallHint() string {
	if a.Package == "" {
		return a.Install
	}
	return a.Install + ": `npm install -g " + a.Package + "`"
}

// UnattendedFlag returns the flag that turns the agent's questions to its user off; empty: none.
func (a Adapter) UnattendedFlag() string {
	for _, word := range a.Argv(Order{}) {
		if strings.HasPrefix(word, "--dangerously-") || word == "--yolo" || word == "--allow-all" {
			return word
		}
	}
	return ""
}

func missingLoginIf(words string) func(int, string) string {
	return func(_ int, complaint string) string {
		if !strings.Contains(complaint, words) {
			return ""
		}
		return strings.TrimPrefix(complaint, "Error: ")
	}
}

// ask returns how to ask a program about itself, without a sandbox. nil: the command has more words. They
// can be a repository's: "codex mcp add NAME PROGRAM" changes the user's settings, also with --version.
func ask(command []string, words ...string) []string {
	if len(command) != 1 {
		return nil
	}
	return slices.Concat(command, words)
}

// UserSettings are the model and the server that the user's own settings name.
type UserSettings struct {
	Model  string // as provider/model
	Keys   Keys   // with the server; empty where only the agent knows the key
	Server string // that the agent itself asks, with a key from its settings; empty: none
}

// Order is the task of an agent for one iteration.
type Order struct {
	Iteration     int
	Retries       int // how often its model server was busy in this iteration
	Max           int
	Story         string
	Prompt        string
	Model         string
	Tags          []string // completion tags: one that stands alone on a line is a promise
	ProgressFiles []string // files that only record progress
	Home          string   // folder with the files of Adapter.Home
	Dir           string   // working directory
	Env           []string // environment of its program
}

// Options are the user's choices about the agent.
type Options struct {
	Command  string   // the user's program instead of the adapter's, with its arguments
	Args     []string // the user's flags, after those of the adapter
	Keys     Keys
	Model    string                // from the user's settings, if the order names none
	NeedKey  bool                  // there can be no login, as in a job
	Prices   map[string]price.Rate // by model; they override the price list
	Self     string                // this program, for the scripted agent and for hooks
	Hooks    bool                  // install ralph's hooks where the agent has hooks
	Script   string                // path of the scripted agent's script
	ReadOnly bool                  // start it read-only, as far as its program can
	Docker   *Docker               // run it in a Docker sandbox; nil: no
	Servers  mcp.Servers           // MCP servers, for programs that take them from settings
}

// kind is what is known of an agent before its adapter is made.
type kind struct {
	build        func(words []string, o Options) (Adapter, error)
	state        State
	keyInput     string   // inputs for its key where it can have no login; empty: it needs none
	baseURL      string   // variable of its model server
	countedKey   string   // variable of the key with which ralph's model server counts what it does not report
	otherServers []string // variables that select another server, or a login despite a key
	smallModels  []string // that it uses on its own, for titles, summaries and subagents
}

// kinds are all agents. Amp has no other model server; opencode has settings for it.
var kinds = map[string]kind{
	"amp": {build: amp, state: ampKeeps, keyInput: "input provider-api-key"},
	"claude": {
		build: claude, state: claudeKeeps, keyInput: "input anthropic-api-key or claude-code-oauth-token", baseURL: "ANTHROPIC_BASE_URL",
		otherServers: strings.Fields(`CLAUDE_CODE_USE_BEDROCK CLAUDE_CODE_USE_VERTEX CLAUDE_CODE_USE_FOUNDRY CLAUDE_CODE_USE_MANTLE
			CLAUDE_CODE_USE_ANTHROPIC_AWS CLAUDE_CODE_USE_ANTHROPIC_GOOGLE_CLOUD ANTHROPIC_UNIX_SOCKET`), smallModels: []string{"claude-haiku-*"},
	},
	"codex":   {build: codex, state: codexKeeps, keyInput: "input openai-api-key", baseURL: "OPENAI_BASE_URL"},
	"command": {build: command, baseURL: "ANTHROPIC_BASE_URL"},
	"copilot": {build: copilot, state: copilotKeeps, keyInput: "input provider-api-key", baseURL: "COPILOT_PROVIDER_BASE_URL", countedKey: "COPILOT_PROVIDER_API_KEY"},
	"gemini": {
		build: gemini, state: geminiKeeps, keyInput: "input gemini-api-key", baseURL: "GOOGLE_GEMINI_BASE_URL", countedKey: "GEMINI_API_KEY",
		otherServers: []string{"GOOGLE_GENAI_USE_GCA", "GOOGLE_GENAI_USE_VERTEXAI"}, smallModels: []string{"gemini-*flash*"},
	},
	"opencode": {build: opencode, state: opencodeKeeps, keyInput: "input anthropic-api-key, openai-api-key or gemini-api-key"},
	"scripted": {build: scripted},
}

// Names lists all agents.
func Names() []string { return slices.Sorted(maps.Keys(kinds)) }

// States returns what each agent keeps.
func States() (all []State) {
	for _, name := range Names() {
		all = append(all, kinds[name].state)
	}
	return all
}

// Pick returns the adapter with that name, or the one that the command's name means.
func Pick(name string, o Options) (Adapter, error) {
	name = NameOf(name, o.Command)
	kind, known := kinds[name]
	if !known {
		return Adapter{}, unknownAgent(name)
	}
	if o.Docker != nil && name != "claude" {
		return Adapter{}, fault.Usage("a Docker sandbox is for the agent claude, and this one is "+name, "use ralph's own sandbox: --sandbox", nil)
	}
	inputs := kind.keyInput
	if makers, can := o.Keys.Makers(name, o.Model); o.NeedKey && inputs != "" && len(makers) == 0 && can {
		return Adapter{}, fault.Usage("no key for the agent "+name, "set the "+inputs, nil)
	}
	words, err := Words(o.Command)
	if err != nil {
		return Adapter{}, err
	}
	if len(words) == 0 && name != "command" {
		words = []string{name}
	}
	adapter, err := kind.build(words, o)
	if err != nil {
		return Adapter{}, err
	}
	adapter.Name, adapter.Counted, adapter.InJob = name, o.Keys.Bounded, o.NeedKey
	if o.NeedKey && inputs != "" {
		adapter.Login = "set the " + inputs + " to a valid key"
	}
	if adapter.Program == "" {
		adapter.Program = words[0]
	}
	return adapter, nil
}

// NameOf returns the agent's name, by the command if it has none: "/opt/bin/claude" means claude.
func NameOf(name, command string) string {
	if name != "" {
		return name
	}
	words, err := Words(command)
	if err != nil {
		return "command" // its adapter reports the error
	}
	if len(words) == 0 {
		return "claude"
	}
	base := filepath.Base(words[0])
	if _, known := kinds[base]; known && base != "scripted" {
		return base
	}
	return "command"
}

func unknownAgent(name string) error {
	fix := "there are " + strings.Join(Names(), ", ") + `; any other program runs as the agent "command"`
	if near, found := jsontree.Nearest(name, Names()); found {
		fix = fmt.Sprintf("did you mean %q? ", near) + fix
	}
	return fault.Usage(fmt.Sprintf("no agent named %q", name), fix, nil)
}
