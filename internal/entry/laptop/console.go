package laptop

import (
	"fmt"
	"os"
	"strings"
	"sync"

	"golang.org/x/term"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/stream"
	"github.com/ralph-loop/ralph/internal/lib/clean"
	"github.com/ralph-loop/ralph/internal/show/view"
)

type console struct {
	mu      sync.Mutex // an agent's items come from another goroutine
	view    view.Console
	project *Project
}

func newConsole(w World, d *Project) *console {
	return &console{view: view.Console{Look: w.lookFor(w.Stderr), Now: w.Now}, project: d}
}

func (w World) lookFor(out *os.File) view.Look {
	width, _, _ := term.GetSize(int(out.Fd())) // 0 where it is no terminal
	return view.LookFor(w.Getenv, term.IsTerminal(int(out.Fd())), width)
}

func (c *console) event(run journal.Run, event journal.Event) {
	run.Resume = c.project.Continuation("")
	switch event.(type) { //nolint:gochecksumtype // the others are only printed
	case journal.RunBegan, journal.Resumed:
		c.project.keepCommand(run.ID)
	}
	c.print(func() string { return c.view.Event(run, event) })
	if c.project.Verbose {
		for _, line := range c.project.details(run, event) {
			c.line("[ralph] " + line)
		}
	}
}

// keepCommand keeps the agent's command for the one that goes on with the run.
func (d *Project) keepCommand(id string) {
	command := d.AgentCommand
	if d.secrets.String(command) != command {
		again := d.Continuation("").Command("--agent-command", "COMMAND")
		d.line("note: the agent's command may contain a key, so it is not kept; to continue: " + again)
		command = ""
	}
	if command == d.runs().SavedCommand(id) {
		return
	}
	if err := d.runs().SaveCommand(d.runs().Run(id), command); err != nil {
		d.line("note: cannot keep the agent's command: " + err.Error())
	}
}

// checking prints a check or setup that is about to run, as it may take long.
func (c *console) checking(kind string, check policy.Check) {
	if c.project.Verbose && kind == "check" {
		c.line("[ralph] Running guardrail: " + check.Command)
		return
	}
	c.print(func() string { return c.view.Checking(kind, check) })
}

func (c *console) item(item stream.Item) {
	c.print(func() string { return c.view.Item(item) })
}

func (c *console) line(text string) {
	c.print(func() string { return strings.TrimSuffix(clean.LogLines(text), "\n") })
}

// print prints the text of the view, unless only the result is wanted.
func (c *console) print(text func() string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if shown := text(); shown != "" && !c.project.Quiet {
		fmt.Fprintln(c.project.World.Stderr, c.project.secrets.String(shown))
	}
}
