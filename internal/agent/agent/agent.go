// Package agent describes the CLIs of coding agents. All facts about one are in
// its row of kinds. It starts no agent; internal/agent/driver does.
package agent

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/mcp"
	"github.com/ralph-loop/ralph/internal/core/price"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/jsontree"
)

// Adapter describes one agent CLI with data and pure functions. A new CLI needs a row in kinds.
type Adapter struct {
	Name       string
	Program    string            // name on PATH, or path
	Install    string            // hint where Program is not found
	Missing    string            // error where Program is not found; empty: it is the agent's own
	Package    string            // npm package; empty: none
	Version    []string          // argv that prints the version; nil: unknown
	Tested     string            // version that was tested
	Notes      []string          // where the adapter does not do what the user's flags ask for
	Vars       []string          // the user's variables that it reads; none is a secret
	Home       map[string]string // files of a home of its own; nil: it uses the user's home
	Hosts      []string          // hosts it needs with a login, or with a key that only it can hold
	Argv       func(Order) []string
	DefaultEnv []string             // defaults; the user's environment overrides them
	Env        func(Order) []string // beyond the base environment
	Stdin      func(Order) string   // nil: the prompt
	Decoder    func(Order) Decoder

	Login        string // hint how to give it a key or a login
	MissingLogin string // words of an error that it has none; empty: it reports that otherwise

	// StatusCommand reports whether there is a key or a login, without a request to a
	// model; nil: there is no such command. ReadStatus returns why there is none.
	StatusCommand []string
	ReadStatus    func(exit int, printed []byte) string

	// SettingsCommand prints the user's settings; nil: they name no model server.
	// ReadSettings returns the server that they name.
	SettingsCommand []string
	ReadSettings    func(printed []byte, k Keys, model string) UserSettings

	MaxPrompt int           // bytes; 0: the limit of stdin
	SyncDelay time.Duration // until its files are synchronized after it ended

	ReportsUsage bool // at the end of a turn, or before

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

// Pick returns the adapter with that name, or the one that the command's name means.
func Pick(name string, o Options) (Adapter, error) {
	name = NameOf(name, o.Command)
	kind, known := kinds[name]
	if !known {
		return Adapter{}, unknownAgent(name)
	}
	if o.Docker != nil && name != "claude" {
		return Adapter{}, fault.Usage("a Docker sandbox is for the agent claude, and this one is "+name,
			"use ralph's own sandbox on Linux (--sandbox), or --no-sandbox", nil)
	}
	inputs := kind.keyInput
	if o.NeedKey && inputs != "" {
		makers, replaceable := o.Keys.Makers(name, o.Model)
		if len(makers) == 0 && replaceable {
			return Adapter{}, fault.Usage("no key for the agent "+name, "set the "+inputs, nil)
		}
	}
	words, err := Words(o.Command)
	if err != nil {
		return Adapter{}, err
	}
	if len(words) == 0 && (name == "command" || name == "acp") {
		return Adapter{}, noCommand(name, o)
	}
	if len(words) == 0 {
		words = []string{name}
	}
	adapter, err := kind.build(kind, words, o)
	if err != nil {
		return Adapter{}, err
	}
	adapter.Name = name
	adapter.Counted = o.Keys.Bounded
	adapter.InJob = o.NeedKey
	adapter.Program = cmp.Or(adapter.Program, words[0])
	adapter.Install = cmp.Or(adapter.Install, kind.install)
	adapter.Package = kind.npm
	adapter.Tested = kind.tested
	if o.Docker == nil { // the sandbox has programs, logins and files of its own
		adapter.Vars = kind.vars
		adapter.Hosts = kind.hosts
		adapter.Login = kind.loginHint
	}
	if o.NeedKey && inputs != "" {
		adapter.Login = "set the " + inputs + " to a valid key"
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

func noCommand(name string, o Options) error {
	set := "set --agent-command, or agent.command in .ralph/settings.json"
	if o.NeedKey {
		set = "set agent.command in the settings file that the input config names"
	}
	return fault.Usage(fmt.Sprintf("the agent %q has no command", name), set, nil)
}

func unknownAgent(name string) error {
	fix := "there are " + strings.Join(Names(), ", ") + `; any other program runs as the agent "command"`
	if near, found := jsontree.Nearest(name, Names()); found {
		fix = fmt.Sprintf("did you mean %q? ", near) + fix
	}
	return fault.Usage(fmt.Sprintf("no agent named %q", name), fix, nil)
}
