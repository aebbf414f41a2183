package agent

import (
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/stream"
)

// scripted is the agent that testsupport/scripted plays, as a child like any other: what holds
// for it holds for the ones that cost money.
func scripted(_ []string, o Options) (Adapter, error) {
	if o.Script == "" {
		return Adapter{}, fault.Usage(`the agent "scripted" has no script`, "name a script file as its only flag: agent-args", nil)
	}
	return Adapter{
		Name:    "scripted",
		Program: o.Self,
		Install: "it is this program itself: start it by its whole path",
		Argv:    func(Order) []string { return []string{o.Self, "scripted-agent", o.Script} },
		Env:     func(Order) []string { return nil },
		Decoder: func(Order) Decoder { return decoderOf(scriptedDecoder{}) },
		Speaks:  true,
		Reports: ReportsCost,
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

func (scriptedDecoder) unfinished() []stream.Item { return cutOff(stream.Usage{}) }

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
		return stream.ToolStart{ID: c.ID, Name: c.Name, Input: short(c.Text)}
	case CueToolEnd:
		return stream.ToolEnd{ID: c.ID, Output: head(c.Text, maxOutput), Failed: c.Failed}
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
		state, known := marks[mark]
		if !known {
			state = stream.TaskPending
		}
		todo.Tasks = append(todo.Tasks, stream.Task{Text: short(task), State: state})
	}
	return todo
}
