package doctor

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/lib/environ"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/process"
)

// answerTimeout limits how long a program may take to print its version: some start a runtime first.
const answerTimeout = 20 * time.Second

// outsideDir is where programs are asked about themselves. In a project, its files could answer: a version manager
// (asdf, mise) behind a name on PATH starts what .tool-versions of the project names.
const outsideDir = "/"

// Agent is an agent CLI as it is found here.
type Agent struct {
	Name    string   `json:"name"`
	Chosen  bool     `json:"chosen"` // by the project's settings, or in want of any
	Path    string   `json:"path,omitempty"`
	Version string   `json:"version,omitempty"`
	Tested  string   `json:"tested,omitempty"` // the version that ralph is tested with
	Gap     string   `json:"gap,omitempty"`    // what keeps it from running
	Remedy  string   `json:"remedy,omitempty"`
	Notes   []string `json:"notes,omitempty"` // what became of the settings' flags
}

// Agents says where they are looked for.
type Agents struct {
	Chosen  string // the name of the one that a run would take
	Passed  string // why it did not take others; empty: it was named, or is the first
	Pick    func(name string) (agent.Adapter, error)
	Environ []string
	Outside string // the PATH of programs that are started
	Dir     string
	Run     func(context.Context, process.Command) (process.Result, error)
}

// Look finds all agents, and asks the installed ones for their versions.
func (a Agents) Look(ctx context.Context) []Agent {
	found := []Agent{{Name: a.Chosen, Chosen: true}}
	for _, name := range agent.Names() {
		if name != a.Chosen && name != "command" && name != "scripted" {
			found = append(found, Agent{Name: name})
		}
	}
	var looks sync.WaitGroup
	for i := range found {
		looks.Go(func() { a.look(ctx, &found[i]) })
	}
	looks.Wait()
	return found
}

func (a Agents) look(ctx context.Context, found *Agent) {
	adapter, err := a.Pick(found.Name)
	if err != nil {
		found.Gap, found.Remedy = err.Error(), fault.Hint(err)
		return
	}
	found.Tested, found.Notes = adapter.Tested, adapter.Notes
	if found.Chosen && a.Passed != "" {
		found.Notes = append(found.Notes, a.Passed+"; --agent NAME chooses another")
	}
	if hint := agent.TokenHint(found.Name, a.Environ); found.Chosen && hint != "" {
		found.Notes = append(found.Notes, hint)
	}
	env := environ.Local(a.Environ, adapter.Vars...)
	path, err := adapter.Locate(env, a.Dir)
	if err != nil {
		found.Gap, found.Remedy = err.Error(), fault.Hint(err)
		return
	}
	found.Path = path
	if err := adapter.CheckAutoRuns(a.Dir); err != nil && found.Chosen {
		found.Notes = append(found.Notes, err.Error()+": "+fault.Hint(err))
	}
	argv := []string{path}
	if len(adapter.Version) > 0 {
		argv = append(argv, adapter.Version[1:]...)
	}
	if slices.ContainsFunc(argv, func(word string) bool { return isFileIn(a.Dir, word) }) {
		found.Notes = append(found.Notes, "version and login not checked: "+
			"the program is in the project, so doctor does not start it without a sandbox")
		return
	}
	env = append(env, "PATH="+a.Outside, "PWD="+outsideDir)
	if len(adapter.Version) > 0 {
		found.askVersion(ctx, a, argv, env)
	}
	if found.Gap == "" && adapter.StatusCommand != nil {
		found.askLogin(ctx, a, adapter, slices.Concat(env, adapter.Env(agent.Order{})))
	}
}

// isFileIn reports a word of a command that names a file in the project.
func isFileIn(dir, word string) bool {
	if !filepath.IsAbs(word) {
		word = filepath.Join(dir, word)
	}
	_, err := filepath.EvalSymlinks(word)
	return err == nil && process.Under(dir, word)
}

// askVersion asks a program for its version. One that cannot answer will not work.
func (a *Agent) askVersion(ctx context.Context, from Agents, argv, env []string) {
	var output bytes.Buffer
	ended, err := from.Run(ctx, process.Command{
		Argv:    argv,
		Dir:     outsideDir,
		Env:     env,
		Stdout:  &output,
		Stderr:  &output,
		Timeout: answerTimeout,
	})
	switch {
	case err != nil:
		a.Gap = err.Error()
	case ended.TimedOut:
		a.Gap = "it does not answer --version within " + answerTimeout.String()
	case ended.Exit != 0:
		lines := strings.Split(strings.TrimSpace(output.String()), "\n")
		a.Gap = fmt.Sprintf("--version ends with exit code %d: %.200s", ended.Exit, lines[len(lines)-1])
	}
	if a.Gap != "" {
		a.Remedy = "start it by hand outside of the project and see what it prints"
	}
	a.Version, _ = agent.ReadVersion(output.String())
}

// askLogin asks a program for its key or login. One that does not answer may have one.
func (a *Agent) askLogin(ctx context.Context, from Agents, adapter agent.Adapter, env []string) {
	var output bytes.Buffer
	ended, err := from.Run(ctx, process.Command{
		Argv:    append([]string{a.Path}, adapter.StatusCommand[1:]...),
		Dir:     outsideDir,
		Env:     env,
		Stdout:  &output,
		Timeout: answerTimeout,
	})
	if err != nil || ended.TimedOut {
		return
	}
	a.Gap = adapter.ReadStatus(ended.Exit, output.Bytes())
	if a.Gap != "" {
		a.Remedy = adapter.Login
	}
}

// AgentsText shows the chosen agent, and of the others those that are installed.
func AgentsText(found []Agent) string {
	var b strings.Builder
	b.WriteString("agents\n")
	var absent []string
	for _, a := range found {
		if !a.Chosen && a.Path == "" {
			absent = append(absent, a.Name)
			continue
		}
		b.WriteString(entry(mark(a.Gap == ""), a.line(), a.Remedy, a.Notes...))
	}
	if len(absent) > 0 {
		fmt.Fprintf(&b, "  not here: %s\n", strings.Join(absent, ", "))
	}
	return b.String()
}

func (a Agent) line() string {
	parts := []string{strings.TrimSpace(a.Name + " " + a.Version)}
	switch {
	case a.Chosen:
		parts = append(parts, "the agent of a run here")
	case a.Gap == "":
		parts = append(parts, "another choice, with --agent "+a.Name)
	}
	switch {
	case a.Gap != "":
		parts = append(parts, a.Gap)
	case a.Version == "" && a.Tested != "":
		parts = append(parts, "its version is unknown; tested with "+a.Tested)
	case a.Version != a.Tested && a.Tested != "":
		parts = append(parts, "tested with "+a.Tested)
	}
	return strings.Join(parts, ": ")
}
