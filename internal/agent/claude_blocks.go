package agent

import (
	"cmp"
	"encoding/json"
	"errors"
	"strings"

	"github.com/ralph-loop/ralph/internal/stream"
)

// claudeUsage is the usage of a message or a whole run.
type claudeUsage struct {
	Input      int64 `json:"input_tokens"`
	Output     int64 `json:"output_tokens"`
	CacheRead  int64 `json:"cache_read_input_tokens"`
	CacheWrite int64 `json:"cache_creation_input_tokens"`
	Kept       struct {
		Hour int64 `json:"ephemeral_1h_input_tokens"`
	} `json:"cache_creation"`
}

func (u claudeUsage) plain() stream.Usage {
	return stream.Usage{Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, CacheHour: u.Kept.Hour}
}

// claudeBlock is a part of a message.
type claudeBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   claudeBlocks    `json:"content"` // of a tool's result
	IsError   bool            `json:"is_error"`
}

// output is what a tool said, as one text.
func (b claudeBlock) output() string {
	var texts []string
	for _, part := range b.Content {
		if part.Type == "text" {
			texts = append(texts, part.Text)
		}
	}
	return head(strings.Join(texts, "\n"), maxOutput)
}

// claudeBlocks is the content of a message: blocks, or only a text.
type claudeBlocks []claudeBlock

// UnmarshalJSON takes both forms and no other; content that it does not know
// is no content.
func (b *claudeBlocks) UnmarshalJSON(data []byte) error {
	if data[0] == '"' { // whoever calls this has seen that it is JSON
		var text string
		err := json.Unmarshal(data, &text)
		*b = claudeBlocks{{Type: "text", Text: text}}
		return err
	}
	var blocks []claudeBlock
	if err := json.Unmarshal(data, &blocks); err != nil && !isTypeError(err) {
		return err
	}
	*b = blocks
	return nil
}

func isTypeError(err error) bool {
	var mismatch *json.UnmarshalTypeError
	return errors.As(err, &mismatch)
}

// todoList reads the input of a call by which an agent keeps its list: TodoWrite
// of Claude Code, where a task is its content, write_todos of Gemini's, where it
// is a description.
func todoList(input json.RawMessage) stream.Todo {
	parsed, _ := readLine[struct {
		Todos []struct {
			Content     string `json:"content"`
			Description string `json:"description"`
			Status      string `json:"status"`
		} `json:"todos"`
	}](input)
	var todo stream.Todo
	for _, task := range parsed.Todos {
		todo.Tasks = append(todo.Tasks, stream.Task{Text: short(cmp.Or(task.Content, task.Description)), State: taskState(task.Status)})
	}
	return todo
}

func taskState(status string) stream.TaskState {
	switch status {
	case "completed", "done":
		return stream.TaskDone
	case "in_progress", "in-progress", "active":
		return stream.TaskActive
	}
	return stream.TaskPending
}

// claudeMeter sums usage by message. Each content block of a message is a line
// that repeats its usage, so the id decides what is new.
type claudeMeter struct {
	open    bounded[stream.Usage]
	settled stream.Usage
}

func (m *claudeMeter) take(id string, u stream.Usage) {
	if gone, full := m.open.put(id, u); full {
		m.settled = m.settled.Plus(gone)
	}
}

func (m *claudeMeter) sum() stream.Usage {
	sum := m.settled
	for _, u := range m.open.of {
		sum = sum.Plus(u)
	}
	return sum
}
