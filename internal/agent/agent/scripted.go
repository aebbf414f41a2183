package agent

import (
	"time"

	"github.com/go-json-experiment/json"

	"github.com/ralph-loop/ralph/internal/core/stream"
	"github.com/ralph-loop/ralph/internal/lib/fault"
)

// scripted runs testsupport/scripted as a child, like agents that cost money.
func scripted(_ kind, _ []string, o Options) (Adapter, error) {
	if o.Script == "" {
		return Adapter{}, fault.Usage(`the agent "scripted" has no script`,
			"name a script file in the variable RALPH_SCRIPT", nil)
	}
	return Adapter{
		Program:      o.Self,
		Argv:         func(Order) []string { return []string{o.Self, "scripted-agent", o.Script} },
		Env:          func(Order) []string { return nil },
		Decoder:      func(Order) Decoder { return decoderOf(&scriptedDecoder{}) },
		ReportsUsage: true,
	}, nil
}

// ScriptedLine is what the scripted agent prints: one of these.
type ScriptedLine struct {
	Text   string          `json:"text,omitempty"`
	Call   *ScriptedCall   `json:"call,omitempty"`
	Todo   *stream.Todo    `json:"todo,omitempty"`
	Spent  *ScriptedSpent  `json:"spent,omitempty"`
	Result *ScriptedResult `json:"result,omitempty"`
}

// ScriptedCall is a tool call that has ended.
type ScriptedCall struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Input  string `json:"input"`
	Output string `json:"output"`
	Failed bool   `json:"failed"`
}

// ScriptedSpent is what was used since the last one.
type ScriptedSpent struct {
	USD float64 `json:"usd"`
	stream.Usage
}

// ScriptedResult is the end.
type ScriptedResult struct {
	Reason string `json:"reason"`
	Failed bool   `json:"failed"`
	Text   string `json:"text"`
	Status int    `json:"status"`
	After  int    `json:"after"` // in seconds
}

// Line returns the line that the decoder reads.
func (l ScriptedLine) Line() ([]byte, error) {
	line, err := json.Marshal(l)
	return append(line, '\n'), err
}

type scriptedDecoder struct{ spent *stream.Spent }

func (d *scriptedDecoder) unfinished() []stream.Item {
	return []stream.Item{d.sum(stream.Result{Failed: true, Reason: NoResult})}
}

func (d *scriptedDecoder) sum(result stream.Result) stream.Result {
	if d.spent != nil {
		result.Usage = d.spent.Usage
		result.Cost = d.spent.Cost
	}
	return result
}

func (d *scriptedDecoder) read(l ScriptedLine) []stream.Item {
	switch {
	case l.Text != "":
		return []stream.Item{stream.Text{Text: l.Text}}
	case l.Call != nil:
		return []stream.Item{
			stream.ToolStart{ID: l.Call.ID, Name: l.Call.Name, Input: Short(l.Call.Input)},
			stream.ToolEnd{ID: l.Call.ID, Output: truncate(l.Call.Output, maxOutput), Failed: l.Call.Failed},
		}
	case l.Todo != nil:
		return []stream.Item{*l.Todo}
	case l.Spent != nil:
		more := pricing(nil).spent("", l.Spent.Usage)
		if l.Spent.USD > 0 {
			more = stream.Spent{Usage: l.Spent.Usage, Cost: stream.Cost{USD: l.Spent.USD, Known: true}}
		}
		if d.spent != nil {
			more = d.spent.Plus(more)
		}
		d.spent = &more
		return []stream.Item{more}
	case l.Result != nil:
		r := l.Result
		return []stream.Item{d.sum(stream.Result{
			Reason: r.Reason,
			Failed: r.Failed,
			Text:   r.Text,
			Status: r.Status,
			After:  time.Duration(r.After) * time.Second,
		})}
	}
	return nil
}
