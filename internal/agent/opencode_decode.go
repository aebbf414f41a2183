package agent

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/ralph-loop/ralph/internal/stream"
)

type opencodeLine struct {
	Type  string       `json:"type"`
	Part  opencodePart `json:"part"`
	Error struct {
		Name string `json:"name"`
		Data struct {
			Message string `json:"message"`
			Status  int    `json:"statusCode"`
			Headers struct {
				After string `json:"retry-after"`
			} `json:"responseHeaders"`
		} `json:"data"`
	} `json:"error"`
}

// opencodePart has different keys for each type of line.
type opencodePart struct {
	Text   string         `json:"text"`
	Tool   string         `json:"tool"`
	CallID string         `json:"callID"`
	State  opencodeState  `json:"state"`
	Reason string         `json:"reason"`
	Tokens opencodeTokens `json:"tokens"`
	Cost   float64        `json:"cost"`
}

type opencodeState struct {
	Status   string         `json:"status"`
	Input    jsontext.Value `json:"input"`
	Output   string         `json:"output"`
	Error    string         `json:"error"`
	Metadata struct {
		Exit int `json:"exit"`
	} `json:"metadata"`
}

// opencodeTokens are those of one step. Reasoning is billed as output.
type opencodeTokens struct {
	Input     int64 `json:"input"`
	Output    int64 `json:"output"`
	Reasoning int64 `json:"reasoning"`
	Cache     struct {
		Read  int64 `json:"read"`
		Write int64 `json:"write"`
	} `json:"cache"`
}

func (t opencodeTokens) plain() stream.Usage {
	return stream.Usage{Input: t.Input, Output: t.Output + t.Reasoning, CacheRead: t.Cache.Read, CacheWrite: t.Cache.Write}
}

// opencodeDecoder: no line marks the end, so the end of the last step counts.
type opencodeDecoder struct {
	price  pricing
	model  string
	spent  stream.Spent
	ended  string         // how the last step did
	broken *stream.Result // an error since
}

func (d *opencodeDecoder) read(l opencodeLine) []stream.Item {
	switch l.Type {
	case "step_start":
		d.ended = ""
	case "text":
		if l.Part.Text != "" {
			return []stream.Item{stream.Text{Text: l.Part.Text}}
		}
	case "tool_use":
		return l.Part.call()
	case "step_finish":
		return d.finished(l.Part)
	case "error":
		return d.streamError(l)
	}
	return nil
}

// call returns a tool's whole life, for opencode tells of it when it is over.
func (p opencodePart) call() []stream.Item {
	if p.Tool == "todowrite" {
		return []stream.Item{todoList(p.State.Input)}
	}
	end := stream.ToolEnd{ID: p.CallID, Output: truncate(cmp.Or(p.State.Output, p.State.Error), maxOutput)}
	end.Failed = p.State.Status == "error" || p.State.Metadata.Exit != 0 || p.Tool == "invalid"
	return []stream.Item{stream.ToolStart{ID: p.CallID, Name: Short(p.Tool), Input: summary(p.State.Input)}, end}
}

// finished adds a step to those before it: its tokens and its cost are its own.
func (d *opencodeDecoder) finished(p opencodePart) []stream.Item {
	d.ended, d.broken = p.Reason, nil
	step := d.priced(p.Tokens.plain(), p.Cost)
	if step.Usage == (stream.Usage{}) && p.Cost == 0 {
		return nil
	}
	if d.spent != (stream.Spent{}) {
		step = d.spent.Plus(step)
	}
	d.spent = step
	return []stream.Item{d.spent}
}

// priced has opencode's own cost of a step, or one by the price list: opencode knows no price of some models, and an agent
// can change the prices that opencode keeps.
func (d *opencodeDecoder) priced(used stream.Usage, usd float64) stream.Spent {
	model := d.model
	if _, name, found := strings.Cut(model, "/"); found && !d.price.cost(model, used).Known && d.price.cost(name, used).Known {
		model = name
	}
	listed := d.price.spent(model, used)
	if usd > listed.Cost.USD {
		return stream.Spent{Usage: used, Cost: stream.Cost{USD: usd, Known: true}}
	}
	return listed
}

// streamError takes an error. It ends the run, unless another step follows.
func (d *opencodeDecoder) streamError(l opencodeLine) []stream.Item {
	after, _ := strconv.ParseUint(l.Error.Data.Headers.After, 10, 32) // in seconds; a date is passed over
	d.broken = &stream.Result{
		Failed: true, Reason: Short(l.Error.Name), Text: l.Error.Data.Message, Status: l.Error.Data.Status,
		After: time.Duration(after) * time.Second,
	}
	if l.Error.Name == "ProviderAuthError" {
		d.broken.Denied = stream.NoLogin
	}
	return nil
}

func (d *opencodeDecoder) unfinished() []stream.Item {
	result := stream.Result{Reason: d.ended}
	switch d.ended {
	case "stop":
	case "", "tool-calls":
		result.Failed, result.Reason = true, NoResult
	default: // length, content-filter: it was cut off
		result.Failed = true
	}
	if d.broken != nil {
		result = *d.broken
	}
	result.Usage, result.Cost = d.spent.Usage, d.spent.Cost
	return []stream.Item{result}
}
