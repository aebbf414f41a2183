package main

import (
	"fmt"
	"strings"
	"sync"

	"golang.org/x/term"

	"github.com/ralph-loop/ralph/internal/clean"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/stream"
	"github.com/ralph-loop/ralph/internal/view"
)

// console is the terminal, or the file in its place, that a person follows a
// run in.
type console struct {
	mu   sync.Mutex // an agent's items come from another goroutine
	view view.Console
	desk *desk
}

func newConsole(w world, d *desk) *console {
	fd := int(w.stderr.Fd())
	width, _, err := term.GetSize(fd)
	if err != nil {
		width = 0
	}
	look := view.LookFor(w.env, term.IsTerminal(fd), width)
	look.Emoji, look.Timestamps = given(d.Emoji, look.Emoji), d.Timestamps
	return &console{view: view.Console{Look: look, Now: w.now}, desk: d}
}

func (c *console) event(run journal.Run, event journal.Event) {
	c.mu.Lock()
	c.print(c.view.Event(run, event))
	c.mu.Unlock()
	c.desk.detail(run, event)
}

// checking tells of a check that is about to run, as it may take long.
func (c *console) checking(check policy.Check) {
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

// line prints words that are no event's; what is foreign in them stays text.
func (c *console) line(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.print(strings.TrimSuffix(harmless(text), "\n"))
}

func (c *console) print(text string) {
	if text == "" || c.desk.quiet {
		return
	}
	if c.desk.secrets != nil { // before the agent is known there are none
		text = c.desk.secrets.String(text)
	}
	fmt.Fprintln(c.desk.w.stderr, text)
}

// ring is heard where a person may have turned to other things.
func (c *console) ring() {
	if term.IsTerminal(int(c.desk.w.stderr.Fd())) && c.desk.w.env("TERM") != "dumb" && !c.desk.quiet {
		fmt.Fprint(c.desk.w.stderr, "\a")
	}
}

// harmless is text whose lines hold nothing that a terminal would obey.
func harmless(text string) string {
	var lines strings.Builder
	for line := range strings.Lines(text) {
		lines.WriteString(clean.LogLine(strings.TrimSuffix(line, "\n")) + "\n")
	}
	return lines.String()
}
