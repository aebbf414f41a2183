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
	"github.com/ralph-loop/ralph/internal/mcp"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/price"
	"github.com/ralph-loop/ralph/internal/stream"
)

// Adapter speaks to one agent CLI. It holds only data and pure functions: a
// new CLI is a new file with a func that makes one, and a line in adapters.
type Adapter struct {
	Name    string
	Program string              // what has to be there: a name looked for in PATH, or a path
	Install string              // what to do when it is not
	Package string              // the one of npm's that it comes in; empty: it does not
	Wrapper string              // name of the script that npm starts it by; empty: none
	Wrapped map[string][]string // by platform, where the program itself may be, seen from the wrapper
	Version []string            // argv that prints its version; nil if unknown
	Tested  string              // the version that all of this was tested with
	Notes   []string            // what became of the user's wishes, where it is not what they said
	Vars    []string            // variables of the user's own that it goes by, none of them a secret
	Home    map[string]string   // files of a home made for it alone; nil leaves it the user's
	State   State               // what it keeps in its user's home: login, settings, sessions
	Unasked []string            // what of a repository it runs without a word, as paths in its tree
	Hosts   []string            // where it goes with a login, or a key that it has to hold itself
	Argv    func(Order) []string
	Usual   []string             // variables for which the user's own stand, where there are any
	Env     func(Order) []string // beyond the base environment
	Stdin   func(Order) string   // nil: the prompt
	Decoder func(Order) Decoder

	// Login is how its user gives it a key or a login. Lacks reads from its exit
	// code and the most telling line of its errors that it found none, and gives
	// the reason; may be nil.
	Login string
	Lacks func(exit int, complaint string) string

	// Status is argv that has it tell, without a question to a model, whether it has
	// a key or a login; nil: it cannot. Unready reads from the answer why it has none.
	Status  []string
	Unready func(exit int, printed []byte) string

	// Settings is the command that prints its user's settings; nil: they name no
	// server. Adopt reads from them which server the agent asks.
	Settings []string
	Adopt    func(printed []byte, k Keys, model string) Adopted

	// Complaint is what a line of its errors is where it is more than news of
	// its workings, such as a wait; may be nil.
	Complaint func(line string) (stream.Item, bool)

	MaxPrompt int           // bytes; 0: what the CLIs take on stdin
	Settle    time.Duration // after it ended, until its files are where they belong

	Reports Reports // when it tells what it used

	Guarded bool // it asks ralph before it uses a tool
	Speaks  bool // it prints a protocol: if it says nothing and fails, it never began
}

// Remedy is what to do where its program is not found.
func (a Adapter) Remedy() string {
	if a.Package == "" {
		return a.Install
	}
	return a.Install + ": `npm install -g " + a.Package + "`"
}

// Unattended is the flag that lets it work without asking its user; empty: it has none.
func (a Adapter) Unattended() string {
	for _, word := range a.Argv(Order{}) {
		if strings.HasPrefix(word, "--dangerously-") || word == "--yolo" || word == "--allow-all" {
			return word
		}
	}
	return ""
}

// saying is a Lacks that goes by words among the errors.
func saying(words string) func(int, string) string {
	return func(_ int, complaint string) string {
		if !strings.Contains(complaint, words) {
			return ""
		}
		return strings.TrimPrefix(complaint, "Error: ")
	}
}

// asking is a user's command with a subcommand of the program's; nil where the
// user's own flags could make a prompt of that.
func asking(command []string, subcommand ...string) []string {
	if slices.ContainsFunc(command, func(word string) bool { return strings.HasPrefix(word, "-") }) {
		return nil
	}
	return slices.Concat(command, subcommand)
}

// login is how an agent's user gives it a key or a login: in a job by an input.
func (o Options) login(inputs, own string) string {
	if o.NeedKey {
		return "set the " + inputs + " to a valid key"
	}
	return own
}

// Adopted is the model and the server of an agent by its user's own settings.
type Adopted struct {
	Model  string // as provider/model
	Keys   Keys   // with the server in them; none where only the agent knows its key
	Server string // that the agent asks itself, with a key of its settings; empty: none
}

// Order is what one iteration asks of an agent.
type Order struct {
	Iteration int
	Again     int // how often it was turned away in this iteration
	Max       int
	Story     string
	Prompt    string
	Model     string
	Tags      []string // completion tags: alone on a line they are promises too
	Books     []string // files in which it only keeps account of its work
	Home      string   // where the files of the adapter's Home are
	Dir       string   // where it works
	Env       []string // that its program has
}

// Options are the user's choices about the agent.
type Options struct {
	Command string   // a program of the user's, split as a shell splits words; takes the place of the adapter's own
	Args    []string // flags of the user's, after the adapter's own
	Keys    Keys
	Model   string                // of the user's own settings, where the order names none
	NeedKey bool                  // there is no login to fall back on, as in the Action
	Prices  map[string]price.Rate // by model, before the list's
	Self    string                // this program, for the scripted agent and for hooks
	Hooks   bool                  // agents that have hooks are given ralph's
	Script  string                // path of the scripted agent's script
	Reads   bool                  // it is to read and not to write, as far as its program can be kept to that
	Docker  *Docker               // a sandbox of Docker's for it; nil: none
	Servers mcp.Servers           // that it starts, where its program takes them by its settings
}

var adapters = map[string]func(words []string, o Options) (Adapter, error){
	"amp":      amp,
	"claude":   claude,
	"codex":    codex,
	"command":  command,
	"copilot":  copilot,
	"gemini":   gemini,
	"opencode": opencode,
	"scripted": scripted,
}

// Names lists the agents there are.
func Names() []string { return slices.Sorted(maps.Keys(adapters)) }

// States are the paths in a user's home in which agents keep their state.
func States() (paths []string) {
	for _, name := range Names() {
		// Without its key Amp has no adapter.
		if adapter, err := Pick(name, Options{Keys: Keys{AmpAPIKey: "none"}}); err == nil {
			paths = append(paths, adapter.State.Paths()...)
		}
	}
	return paths
}

// Pick gives the adapter of that name. Without a name the command's own tells,
// as "/opt/bin/claude" does; a command of no known name is only a program.
func Pick(name string, o Options) (Adapter, error) {
	name = Named(name, o.Command)
	build, known := adapters[name]
	if !known {
		return Adapter{}, unknown(name)
	}
	if o.Docker != nil && name != "claude" {
		return Adapter{}, undockered(name)
	}
	words, err := Words(o.Command)
	if err != nil {
		return Adapter{}, err
	}
	if len(words) == 0 && name != "command" {
		words = []string{name}
	}
	return build(words, o)
}

// Named is the agent that is meant by a name, or else by a command.
func Named(name, command string) string {
	if name != "" {
		return name
	}
	words, err := Words(command)
	if err != nil {
		return "command" // which says what is wrong with it
	}
	if len(words) == 0 {
		return "claude"
	}
	base := filepath.Base(words[0])
	if _, known := adapters[base]; known && base != "scripted" {
		return base
	}
	return "command"
}

func unknown(name string) error {
	fix := "there are " + strings.Join(Names(), ", ") + `; any other program runs as the agent "command"`
	if near, found := plan.Nearest(name, Names()); found {
		fix = fmt.Sprintf("did you mean %q? ", near) + fix
	}
	return fault.Usage(fmt.Sprintf("no agent named %q", name), fix, nil)
}
