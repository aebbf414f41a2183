package agent

import (
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/stream"
	"github.com/ralph-loop/ralph/internal/lib/environ"
)

// command is any program of the user's. It reads the prompt from its stdin, and what it prints are its words; its tools
// and its cost stay unknown, so only what it leaves in the tree counts.
func command(_ kind, words []string, o Options) (Adapter, error) {
	argv := slices.Concat(words, o.Args)
	return Adapter{
		Argv: func(Order) []string { return slices.Clone(argv) },
		Env: func(order Order) []string {
			return environ.Merge(o.Keys.env(), environ.Pairs("RALPH_MODEL", order.Model))
		},
		Decoder: func(order Order) Decoder { return &textDecoder{echo: newPromptEcho(order.Prompt)} },
		Plain:   true,
	}, nil
}

// textDecoder leaves out the prompt, which some programs print first: its claims are not the agent's.
type textDecoder struct{ echo *promptEcho }

// Line returns the line as Text.
func (p *textDecoder) Line(line []byte) []stream.Item {
	if p.echo.isNextLine(string(line)) {
		return []stream.Item{stream.Progress{Text: Short(string(line))}}
	}
	return []stream.Item{stream.Text{Text: string(line)}}
}

// End adds nothing: an exit code is all that such a program ends with.
func (*textDecoder) End() []stream.Item { return nil }

// promptEcho finds the lines of a prompt in an agent's output: they come in the prompt's order.
type promptEcho struct {
	prompt []string
	next   int
}

func newPromptEcho(prompt string) *promptEcho {
	e := &promptEcho{}
	for line := range strings.Lines(prompt) {
		line = trimQuoteMarks(line)
		if line != "" {
			e.prompt = append(e.prompt, line)
		}
	}
	return e
}

// trimQuoteMarks returns a line without what programs put around one that they repeat.
func trimQuoteMarks(line string) string { return strings.TrimSpace(strings.TrimLeft(line, "> |\t")) }

// isNextLine reports whether line is the prompt's next one. Blank lines never are.
func (e *promptEcho) isNextLine(line string) bool {
	line = trimQuoteMarks(line)
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
