package agent

import (
	"cmp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/ralph-loop/ralph/internal/stream"
)

type geminiLine struct {
	Type    string `json:"type"`
	Model   string `json:"model"`
	Role    string `json:"role"`
	Content string `json:"content"`

	ToolName   string         `json:"tool_name"`
	ToolID     string         `json:"tool_id"`
	Parameters jsontext.Value `json:"parameters"`
	Output     string         `json:"output"`

	Status  string `json:"status"` // of a tool's result, and of the run's
	Message string `json:"message"`
	Error   struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`
	Stats struct {
		geminiUsage
		Models map[string]geminiUsage `json:"models"`
	} `json:"stats"`
}

// geminiDecoder keeps the pieces of a message, and todo calls without an end.
type geminiDecoder struct {
	price pricing
	words strings.Builder
	todos recent[bool]
}

func (d *geminiDecoder) read(l geminiLine) []stream.Item {
	if l.Type == "message" && l.Role == "assistant" {
		return d.addText(l.Content)
	}
	return append(d.flushText(), d.done(l)...)
}

func (d *geminiDecoder) done(l geminiLine) []stream.Item {
	switch l.Type {
	case "init":
		return []stream.Item{stream.Progress{Text: "model " + Short(l.Model)}}
	case "tool_use":
		if l.ToolName == "write_todos" {
			d.todos.put(l.ToolID, true)
			return []stream.Item{todoList(l.Parameters)}
		}
		return []stream.Item{stream.ToolStart{ID: l.ToolID, Name: Short(l.ToolName), Input: summary(l.Parameters)}}
	case "tool_result":
		if d.todos.drop(l.ToolID) {
			return nil
		}
		return []stream.Item{l.toolEnd()}
	case "error":
		return asProgress(l.Message)
	case "result":
		return []stream.Item{l.result(d.price)}
	}
	return nil
}

func (d *geminiDecoder) unfinished() []stream.Item {
	return append(d.flushText(), noResult(stream.Usage{})...)
}

// maxHeld is the most of a message that is kept until it is whole.
const maxHeld = 1 << 20

// addText holds the pieces of a message until it is whole: a claim may be cut in two.
func (d *geminiDecoder) addText(piece string) []stream.Item {
	d.words.WriteString(piece)
	if d.words.Len() < maxHeld {
		return nil
	}
	held := d.words.String()
	d.words.Reset()
	if cut := strings.LastIndexByte(held, '\n'); cut > 0 {
		d.words.WriteString(held[cut+1:])
		held = held[:cut]
	}
	return []stream.Item{stream.Text{Text: held}}
}

func (d *geminiDecoder) flushText() []stream.Item {
	if d.words.Len() == 0 {
		return nil
	}
	text := d.words.String()
	d.words.Reset()
	return []stream.Item{stream.Text{Text: text}}
}

func (l geminiLine) toolEnd() stream.ToolEnd {
	return stream.ToolEnd{ID: l.ToolID, Output: truncate(cmp.Or(l.Output, l.Error.Message), maxOutput), Failed: l.Status == "error"}
}
