package agent

import (
	"cmp"
	"slices"
	"strings"
	"time"

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
		Install: "install it, or set another agent command",
		Argv:    func(Order) []string { return slices.Clone(argv) },
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
		if line = trimQuoteMarks(line); line != "" {
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

// scripted runs testsupport/scripted as a child, like agents that cost money.
func scripted(_ []string, o Options) (Adapter, error) {
	if o.Script == "" {
		return Adapter{}, fault.Usage(`the agent "scripted" has no script`, "name a script file as its only flag: agent-args", nil)
	}
	return Adapter{
		Program:   o.Self,
		Install:   "it is this program itself: start it by its full path",
		Argv:      func(Order) []string { return []string{o.Self, "scripted-agent", o.Script} },
		Env:       func(Order) []string { return nil },
		Decoder:   func(Order) Decoder { return decoderOf(scriptedDecoder{}) },
		Reporting: ReportsCost,
	}, nil
}

// Cue is a line of what the scripted agent prints.
type Cue struct {
	Type   string       `json:"type"`
	Text   string       `json:"text,omitempty"`
	ID     string       `json:"id,omitempty"`
	Name   string       `json:"name,omitempty"`
	Failed bool         `json:"failed,omitempty"`
	Reason string       `json:"reason,omitempty"`
	Status int          `json:"status,omitempty"`
	Usage  stream.Usage `json:"usage,omitzero"`
	Cost   stream.Cost  `json:"cost,omitzero"`
	After  string       `json:"after,omitempty"` // how long its model wants to be left alone
}

// The types of a Cue.
const (
	CueNote    = "note"
	CueSay     = "say"
	CueTool    = "tool"
	CueToolEnd = "tool_end"
	CueTodo    = "todo"
	CueSpent   = "spent"
	CueResult  = "result"
)

type scriptedDecoder struct{}

func (scriptedDecoder) unfinished() []stream.Item { return noResult(stream.Usage{}) }

func (scriptedDecoder) read(c Cue) []stream.Item {
	if item := c.item(); item != nil {
		return []stream.Item{item}
	}
	return nil
}

func (c Cue) item() stream.Item {
	switch c.Type {
	case CueNote:
		return stream.Progress{Text: c.Text}
	case CueSay:
		return stream.Text{Text: c.Text}
	case CueTool:
		return stream.ToolStart{ID: c.ID, Name: c.Name, Input: Short(c.Text)}
	case CueToolEnd:
		return stream.ToolEnd{ID: c.ID, Output: truncate(c.Text, maxOutput), Failed: c.Failed}
	case CueTodo:
		return scriptedTodo(c.Text)
	case CueSpent:
		return stream.Spent{Usage: c.Usage, Cost: c.Cost}
	case CueResult:
		after, _ := time.ParseDuration(c.After) // checked when the script was read
		return stream.Result{
			Text: c.Text, Failed: c.Failed, Reason: c.Reason, Status: c.Status, Usage: c.Usage, Cost: c.Cost, After: after,
		}
	}
	return nil
}

// scriptedTodo reads lines of "[x] done", "[>] in work" and "[ ] to do".
func scriptedTodo(text string) stream.Todo {
	marks := map[string]stream.TaskState{"[x]": stream.TaskDone, "[>]": stream.TaskActive}
	var todo stream.Todo
	for line := range strings.Lines(text) {
		mark, task := line[:min(3, len(line))], line[min(3, len(line)):]
		todo.Tasks = append(todo.Tasks, stream.Task{Text: Short(task), State: cmp.Or(marks[mark], stream.TaskPending)})
	}
	return todo
}
