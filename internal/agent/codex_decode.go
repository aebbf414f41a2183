package agent

import (
	"strconv"

	"github.com/ralph-loop/ralph/internal/pattern"
	"github.com/ralph-loop/ralph/internal/stream"
)

// codexLine is a line of codex exec --json, as far as it is read here.
type codexLine struct {
	Type    string     `json:"type"`
	Thread  string     `json:"thread_id"`
	Item    codexItem  `json:"item"`
	Usage   codexUsage `json:"usage"`
	Message string     `json:"message"` // of an error
	Error   struct {
		Message string `json:"message"`
	} `json:"error"` // of a failed turn
}

// codexUsage is the usage of the whole thread. Its cached tokens, read and
// written, are among the input's, and the reasoning's among the output's.
type codexUsage struct {
	Input      int64 `json:"input_tokens"`
	CacheRead  int64 `json:"cached_input_tokens"`
	CacheWrite int64 `json:"cache_write_input_tokens"`
	Output     int64 `json:"output_tokens"`
}

func (u codexUsage) plain() stream.Usage {
	return stream.Usage{
		Input:      max(u.Input-u.CacheRead-u.CacheWrite, 0),
		Output:     u.Output,
		CacheRead:  u.CacheRead,
		CacheWrite: u.CacheWrite,
	}
}

// codexDecoder reads the lines of codex exec --json.
type codexDecoder struct {
	price  pricing
	model  string
	wrote  *rollouts     // beside its output
	open   bounded[bool] // calls without an end
	last   string        // the last error of the stream itself
	spoke  bool
	closed bool
	cut    clipper
}

// Line reads one line. What it does not know passes silently, so that a newer
// CLI does no harm; what is no JSON is shown.
func (d *codexDecoder) Line(line []byte) []stream.Item {
	line = d.cut.spare(line, `"type":"command_execution"`, `"type":"agent_message"`)
	parsed, ok := readLine[codexLine](line)
	if !ok {
		return raw(line)
	}
	d.spoke = true
	switch parsed.Type {
	case "thread.started":
		d.wrote.began(parsed.Thread)
		return []stream.Item{stream.Progress{Text: "thread " + short(parsed.Thread)}}
	case "item.started":
		return d.started(parsed.Item)
	case "item.updated":
		return parsed.Item.todo()
	case "item.completed":
		return d.completed(parsed.Item)
	case "error":
		return d.trouble(parsed.Message)
	case "turn.completed":
		d.closed = true
		used := parsed.Usage.plain()
		return []stream.Item{stream.Result{Reason: "completed", Usage: used, Cost: d.price.of(d.model, used)}}
	case "turn.failed":
		d.closed = true
		return []stream.Item{codexFailure("turn failed", parsed.Error.Message)}
	}
	return nil
}

// End stands in for the end of a turn that was cut off: by a signal, Codex
// says nothing more. What was used until then, it never said.
func (d *codexDecoder) End() []stream.Item {
	if d.closed || !d.spoke {
		return nil
	}
	return []stream.Item{codexFailure(noResult, d.last)}
}

// Follow is what it used so far, by the files that it writes.
func (d *codexDecoder) Follow() []stream.Item { return d.wrote.follow() }

func (d *codexDecoder) started(item codexItem) []stream.Item {
	if item.Type == "todo_list" {
		return item.todo()
	}
	call, isCall := item.call()
	if !isCall {
		return nil
	}
	d.open.put(item.ID, true)
	return []stream.Item{call}
}

func (d *codexDecoder) completed(item codexItem) []stream.Item {
	switch item.Type {
	case "agent_message":
		if item.Text == "" {
			return nil
		}
		return []stream.Item{stream.Text{Text: item.Text}}
	case "reasoning":
		return raw([]byte(item.Text))
	case "error": // often a mere warning: only a turn fails
		return raw([]byte(item.Message))
	case "todo_list":
		return item.todo()
	case "file_change":
		return item.edits()
	}
	call, isCall := item.call()
	if !isCall {
		return nil
	}
	end := stream.ToolEnd{ID: item.ID, Output: item.output(), Failed: item.failed()}
	if d.open.drop(item.ID) {
		return []stream.Item{end}
	}
	return []stream.Item{call, end} // some versions tell of some calls only when they are over
}

// retrying is how Codex says that it asks its model again.
var retrying = pattern.Of(`^Reconnecting\.\.\. (\d+)/\d+ \((.*)\)$`)

// trouble takes an error of the stream. It ends nothing by itself: a turn that
// fails says so, in a line of its own.
func (d *codexDecoder) trouble(message string) []stream.Item {
	if m := retrying.FindStringSubmatch(message); m != nil {
		attempt, _ := strconv.Atoi(m[1])
		return []stream.Item{stream.Retry{Reason: short(m[2]), Status: codexStatus(m[2]), Attempt: attempt}}
	}
	d.last = message
	return raw([]byte(message))
}
