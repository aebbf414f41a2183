package laptop

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/term"

	"github.com/ralph-loop/ralph/internal/clean"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/stream"
	"github.com/ralph-loop/ralph/internal/view"
)

type console struct {
	mu   sync.Mutex // an agent's items come from another goroutine
	view view.Console
	desk *Project
}

func newConsole(w World, d *Project) *console {
	fd := int(w.Stderr.Fd())
	width, _, err := term.GetSize(fd)
	if err != nil {
		width = 0
	}
	look := view.LookFor(w.Getenv, term.IsTerminal(fd), width)
	look.Emoji, look.Timestamps = policy.Given(d.Emoji, look.Emoji), d.Timestamps
	return &console{view: view.Console{Look: look, Now: w.Now}, desk: d}
}

func (c *console) event(run journal.Run, event journal.Event) {
	switch event.(type) { //nolint:gochecksumtype // the others are only printed
	case journal.CheckEnded:
		c.desk.World.Patience.set(run.Policy)
	case journal.RunBegan, journal.Resumed:
		c.desk.keepCommand(run.ID)
	}
	c.mu.Lock()
	c.print(c.view.Event(run, event))
	c.mu.Unlock()
	if c.desk.Verbose {
		for _, line := range c.desk.details(run, event) {
			c.line("[ralph] " + line)
		}
	}
}

// keepCommand keeps the agent's command for the one that goes on with the run.
func (d *Project) keepCommand(id string) {
	command := d.AgentCommand
	if command != "" && !d.keyless() {
		d.line("note: the agent's command may hold a key, so it is not kept; ralph resume needs --agent-command again")
		command = ""
	}
	if command == d.runs().SavedCommand(id) {
		return
	}
	if err := d.runs().SaveCommand(d.runs().Run(id), command); err != nil {
		d.line("note: cannot keep the agent's command: " + err.Error())
	}
}

// checking tells of a check that is about to run, as it may take long.
func (c *console) checking(check policy.Check) {
	c.desk.World.Patience.checking(check)
	if c.desk.Verbose {
		c.line("[ralph] Running guardrail: " + check.Command)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.print(c.view.Checking(check))
}

func (c *console) item(item stream.Item) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.print(c.view.Item(item))
}

func (c *console) line(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.print(strings.TrimSuffix(clean.LogLines(text), "\n"))
}

func (c *console) warn(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.write(strings.TrimSuffix(clean.LogLines(text), "\n"))
}

func (c *console) print(text string) {
	if text != "" && !c.desk.Quiet {
		c.write(text)
	}
}

func (c *console) write(text string) {
	if c.desk.secrets != nil { // before the agent is known there are none
		text = c.desk.secrets.String(text)
	}
	fmt.Fprintln(c.desk.World.Stderr, text)
}

// ring is heard where a person may have turned to other things.
func (c *console) ring() {
	if term.IsTerminal(int(c.desk.World.Stderr.Fd())) && c.desk.World.Getenv("TERM") != "dumb" && !c.desk.Quiet {
		fmt.Fprint(c.desk.World.Stderr, "\a")
	}
}

// Patience is how long the current step may take. Signals read it while the run sets it.
type Patience struct {
	words atomic.Value
	rules policy.Policy
}

// set takes it from the rules of a run.
func (p *Patience) set(rules policy.Policy) {
	p.rules = rules
	p.say(rules.LongestStep(), "however long its agent takes")
}

func (p *Patience) checking(next policy.Check) {
	at := slices.IndexFunc(p.rules.Checks, func(c policy.Check) bool { return c.Name == next.Name })
	left, most := append([]policy.Check{next}, p.rules.Checks[at+1:]...), policy.Duration(0)
	for _, check := range left {
		most += check.Timeout
	}
	if slices.ContainsFunc(left, func(c policy.Check) bool { return c.Timeout == 0 }) {
		most = p.rules.Limits.Run
	}
	p.say(most, "however long the checks take")
}

func (p *Patience) say(most policy.Duration, endless string) {
	if most == 0 {
		p.words.Store(endless)
		return
	}
	p.words.Store("in at most " + most.String())
}

// String names the step and how long it may take.
func (p *Patience) String() string {
	if words, told := p.words.Load().(string); told {
		return words
	}
	return "in a moment" // there is no agent yet
}
