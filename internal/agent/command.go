package agent

import (
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/environ"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/stream"
)

// command is any program of the user's. It reads the prompt from its stdin,
// and what it prints are its words; its tools and its cost stay unknown, so
// its work is judged by what it leaves in the tree.
func command(words []string, o Options) (Adapter, error) {
	if len(words) == 0 {
		return Adapter{}, fault.Usage(`the agent "command" has no command`, "set agent.command in .ralph/settings.json, --agent-command, or in a workflow the input agent-command", nil)
	}
	argv := slices.Concat(words, o.Args)
	return Adapter{
		Name:    "command",
		Program: words[0],
		Install: "install it, or set another agent command",
		Argv:    func(Order) []string { return slices.Clone(argv) },
		Env: func(order Order) []string {
			return environ.Merge(o.Keys.env(), environ.Pairs("RALPH_MODEL", order.Model))
		},
		Decoder: func(order Order) Decoder { return &plain{echo: newEcho(order.Prompt)} },
	}, nil
}

// plain takes every line as the agent's words, but for the prompt, which some
// programs print before they begin: what it says of claims is nobody's claim.
type plain struct{ echo *echo }

// Line is the line as Text.
func (p *plain) Line(line []byte) []stream.Item {
	if p.echo.heard(string(line)) {
		return []stream.Item{stream.Progress{Text: short(string(line))}}
	}
	return []stream.Item{stream.Text{Text: string(line)}}
}

// End adds nothing: an exit code is all that such a program ends with.
func (*plain) End() []stream.Item { return nil }

// echo tells the lines of a prompt from an agent's own: they come in the
// prompt's order, from its beginning.
type echo struct {
	prompt []string
	next   int
}

func newEcho(prompt string) *echo {
	e := &echo{}
	for line := range strings.Lines(prompt) {
		if line = bare(line); line != "" {
			e.prompt = append(e.prompt, line)
		}
	}
	return e
}

// bare is a line without what programs put around one that they repeat.
func bare(line string) string { return strings.TrimSpace(strings.TrimLeft(line, "> |\t")) }

// heard tells whether line is the prompt's next one. Blank lines are nobody's.
func (e *echo) heard(line string) bool {
	line = bare(line)
	switch {
	case line == "" || len(e.prompt) == 0:
		return false
	case line == e.prompt[e.next]:
		e.next = (e.next + 1) % len(e.prompt)
		return true
	case line == e.prompt[0]: // it begins again
		e.next = 1 % len(e.prompt)
		return true
	}
	return false
}
