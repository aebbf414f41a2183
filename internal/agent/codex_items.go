package agent

import (
	"encoding/json"
	"fmt"

	"github.com/ralph-loop/ralph/internal/stream"
)

// codexItem is a thing that Codex said or did; which of the keys it has, its
// type tells.
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

	Server    string          `json:"server"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Prompt    string          `json:"prompt"` // for another agent
	Result    struct {
		Content claudeBlocks `json:"content"`
	} `json:"result"`
	Error struct {
		Message string `json:"message"`
	} `json:"error"`

	Items []struct {
		Text      string `json:"text"`
		Completed bool   `json:"completed"`
	} `json:"items"`
}

// call is the beginning of a tool call, if the item is one.
func (i codexItem) call() (stream.ToolStart, bool) {
	switch i.Type {
	case "command_execution":
		return stream.ToolStart{ID: i.ID, Name: "shell", Input: short(bareCommand(i.Command))}, true
	case "web_search":
		return stream.ToolStart{ID: i.ID, Name: "web_search", Input: short(i.Query)}, true
	case "mcp_tool_call":
		return stream.ToolStart{ID: i.ID, Name: short(i.Server + "." + i.Tool), Input: summary(i.Arguments)}, true
	case "collab_tool_call":
		return stream.ToolStart{ID: i.ID, Name: short(i.Tool), Input: short(i.Prompt)}, true
	}
	return stream.ToolStart{}, false
}

// bareCommand takes off the shell that Codex runs each command with.
func bareCommand(command string) string {
	words, err := Words(command)
	if err == nil && len(words) == 3 && (words[1] == "-lc" || words[1] == "-c") {
		return words[2]
	}
	return command
}

// edits are the files of a patch, each a call of its own: one of them may be
// work, and the next the loop's books.
func (i codexItem) edits() []stream.Item {
	var items []stream.Item
	for n, change := range i.Changes {
		id := fmt.Sprintf("%s.%d", i.ID, n+1)
		items = append(items,
			stream.ToolStart{ID: id, Name: "edit", Input: short(change.Kind + " " + change.Path)},
			stream.ToolEnd{ID: id, Failed: i.failed()})
	}
	return items
}

func (i codexItem) failed() bool {
	return i.Exit != 0 || i.Status == "failed" || i.Status == "declined" || i.Error.Message != ""
}

func (i codexItem) output() string {
	switch {
	case i.Output != "":
		return head(i.Output, maxOutput)
	case i.Error.Message != "":
		return head(i.Error.Message, maxOutput)
	}
	return claudeBlock{Content: i.Result.Content}.output()
}

// todo is the list, if the item is one. Codex knows done and not done.
func (i codexItem) todo() []stream.Item {
	if i.Type != "todo_list" {
		return nil
	}
	var todo stream.Todo
	for _, task := range i.Items {
		state := stream.TaskPending
		if task.Completed {
			state = stream.TaskDone
		}
		todo.Tasks = append(todo.Tasks, stream.Task{Text: short(task.Text), State: state})
	}
	return []stream.Item{todo}
}
