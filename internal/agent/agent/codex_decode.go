package agent

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/ralph-loop/ralph/internal/core/stream"
	"github.com/ralph-loop/ralph/internal/lib/pattern"
)

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

// codexUsage is of the whole thread. Input includes cached tokens, output those of the reasoning.
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

type codexDecoder struct {
	price pricing
	model string
	open  map[string]bool // calls without an end
	last  string          // the last error of the stream itself
}

func (d *codexDecoder) read(l codexLine) []stream.Item {
	if l.Item.Type == "todo_list" {
		return []stream.Item{l.Item.todo()}
	}
	switch l.Type {
	case "thread.started":
		return []stream.Item{stream.Progress{Text: "thread " + Short(l.Thread)}}
	case "item.started":
		return d.started(l.Item)
	case "item.completed":
		return d.completed(l.Item)
	case "error":
		return d.streamError(l.Message)
	case "turn.completed":
		used := d.price.spent(d.model, l.Usage.plain())
		return []stream.Item{stream.Result{Reason: "completed", Usage: used.Usage, Cost: used.Cost}}
	case "turn.failed":
		return []stream.Item{codexFailure("turn failed", l.Error.Message)}
	}
	return nil
}

// unfinished has no usage: Codex reports it only at the end of a turn.
func (d *codexDecoder) unfinished() []stream.Item {
	return []stream.Item{codexFailure(NoResult, d.last)}
}

func (d *codexDecoder) started(item codexItem) []stream.Item {
	call, isCall := item.call()
	if !isCall {
		return nil
	}
	d.open[item.ID] = true
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
		return asProgress(item.Text)
	case "error": // often a mere warning: only a turn fails
		return asProgress(item.Message)
	case "file_change":
		return item.edits()
	}
	call, isCall := item.call()
	if !isCall {
		return nil
	}
	end := stream.ToolEnd{ID: item.ID, Output: item.output(), Failed: item.failed()}
	if d.open[item.ID] {
		delete(d.open, item.ID)
		return []stream.Item{end}
	}
	return []stream.Item{call, end} // some versions report some calls only when they are over
}

var retrying = pattern.Of(`^Reconnecting\.\.\. (\d+)/\d+ \((.*)\)$`)

// streamError ends nothing: a failed turn has a line of its own.
func (d *codexDecoder) streamError(message string) []stream.Item {
	if m := retrying.FindStringSubmatch(message); m != nil {
		attempt, _ := strconv.Atoi(m[1])
		return []stream.Item{stream.Retry{Reason: Short(m[2]), Status: codexHTTPStatus(m[2]), Attempt: attempt}}
	}
	d.last = message
	return asProgress(message)
}

type codexItem struct {
	ID      string `json:"id"`
	Type    string `json:"type"`
	Status  string `json:"status"`
	Text    string `json:"text"`
	Message string `json:"message"`

	Command string `json:"command"`
	Output  string `json:"aggregated_output"`
	Exit    int    `json:"exit_code"` // null while it runs

	Changes []struct {
		Path string `json:"path"`
		Kind string `json:"kind"`
	} `json:"changes"`

	Query string `json:"query"`

	Server    string         `json:"server"`
	Tool      string         `json:"tool"`
	Arguments jsontext.Value `json:"arguments"`
	Prompt    string         `json:"prompt"` // for another agent
	Result    struct {
		Content claudeOutput `json:"content"`
	} `json:"result"`
	Error struct {
		Message string `json:"message"`
	} `json:"error"`

	Items []struct {
		Text      string `json:"text"`
		Completed bool   `json:"completed"`
	} `json:"items"`
}

func (i codexItem) call() (stream.ToolStart, bool) {
	switch i.Type {
	case "command_execution":
		return stream.ToolStart{ID: i.ID, Name: "shell", Input: Short(bareCommand(i.Command))}, true
	case "web_search":
		return stream.ToolStart{ID: i.ID, Name: "web_search", Input: Short(i.Query)}, true
	case "mcp_tool_call":
		return stream.ToolStart{ID: i.ID, Name: Short(i.Server + "." + i.Tool), Input: summary(i.Arguments)}, true
	case "collab_tool_call":
		return stream.ToolStart{ID: i.ID, Name: Short(i.Tool), Input: Short(i.Prompt)}, true
	}
	return stream.ToolStart{}, false
}

// bareCommand returns a command without the shell that runs it.
func bareCommand(command string) string {
	words, err := Words(command)
	if err != nil || len(words) != 3 {
		return command
	}
	if words[1] != "-lc" && words[1] != "-c" {
		return command
	}
	return words[2]
}

// edits makes each file of a patch a call: one may be work, and the next only record progress.
func (i codexItem) edits() []stream.Item {
	var items []stream.Item
	for n, change := range i.Changes {
		id := fmt.Sprintf("%s.%d", i.ID, n+1)
		items = append(items,
			stream.ToolStart{ID: id, Name: "edit", Input: Short(change.Kind + " " + change.Path)},
			stream.ToolEnd{ID: id, Failed: i.failed()})
	}
	return items
}

func (i codexItem) failed() bool {
	return i.Exit != 0 || i.Status == "failed" || i.Status == "declined" || i.Error.Message != ""
}

func (i codexItem) output() string {
	return truncate(cmp.Or(i.Output, i.Error.Message, string(i.Result.Content)), maxOutput)
}

func (i codexItem) todo() stream.Todo {
	var todo stream.Todo
	for _, task := range i.Items {
		state := stream.TaskPending
		if task.Completed {
			state = stream.TaskDone
		}
		todo.Tasks = append(todo.Tasks, stream.Task{Text: Short(task.Text), State: state})
	}
	return todo
}
