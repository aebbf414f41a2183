package agent

import (
	"slices"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/stream"
)

// command is any program of the user's. It reads the prompt from its stdin,
// and what it prints are its words; its tools and its cost stay unknown, so
// its work is judged by what it leaves in the tree.
func command(o Options) (Adapter, error) {
	words, err := Words(o.Command)
	if err != nil {
		return Adapter{}, err
	}
	if len(words) == 0 {
		return Adapter{}, fault.Usage(`the agent "command" has no command`, "set agent.command in .ralph/settings.json, --agent-command, or in a workflow the input agent-command", nil)
	}
	argv := slices.Concat(words, o.Args)
	return Adapter{
		Name:    "command",
		Program: words[0],
		Install: "install it, or set another agent command",
		Argv:    func(Order) []string { return slices.Clone(argv) },
		Env:     func(order Order) []string { return merge(o.Keys.env(), given("RALPH_MODEL", order.Model)) },
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
