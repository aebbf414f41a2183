package agent

import (
	"cmp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/ralph-loop/ralph/internal/core/stream"
	"github.com/ralph-loop/ralph/internal/lib/environ"
)

func claude(_ kind, words []string, o Options) (Adapter, error) {
	hooks := ""
	if o.Hooks {
		hooks = hookSettings(o.Self)
	}
	command, extra, notes := claudeRules.split(words, o.Args)
	if o.ReadOnly {
		extra = append(extra, "--tools", "Read,Grep,Glob")
	}
	adapter := Adapter{
		Version:       ask(command, "--version"),
		Notes:         notes,
		StatusCommand: ask(command, "auth", "status"),
		ReadStatus:    claudeReadStatus,
		DefaultEnv:    claudePatience,
		Argv:          func(order Order) []string { return claudeArgv(command, order, hooks, extra) },
		Env:           func(Order) []string { return claudeEnv(o.Keys, hooks != "") },
		Decoder: func(order Order) Decoder {
			return decoderOf(newClaudeDecoder(o.Prices, order.Model))
		},
		CallsHooks:   hooks != "",
		ReportsUsage: true,
	}
	if o.Docker != nil {
		return o.Docker.wrap(adapter, slices.Concat(command[1:], extra)), nil
	}
	return adapter, nil
}

var claudeRules = flagRules{
	"-p": {}, "--print": {}, "--verbose": {}, "--dangerously-skip-permissions": {},
	"--output-format": {only: "stream-json"},
}

// claudeArgv leaves the prompt to stdin: an argument ends at 128 KiB.
func claudeArgv(words []string, order Order, hooks string, extra []string) []string {
	argv := append(slices.Clone(words), "-p")
	argv = append(argv, claudeFormat...)
	argv = append(argv, "--dangerously-skip-permissions")
	argv = append(argv, claudeSources...)
	if hooks != "" {
		argv = append(argv, "--settings", hooks)
	}
	return slices.Concat(argv, claudeModel(order), extra)
}

var (
	claudeFormat = []string{"--output-format", "stream-json", "--verbose"} // the one needs the other
	// A repository's own settings hold hooks, which -p runs unasked.
	claudeSources = []string{"--setting-sources", "user"}
)

func claudeModel(order Order) []string {
	if order.Model == "" {
		return nil
	}
	return []string{"--model", order.Model}
}

func claudeEnv(keys Keys, hooked bool) []string {
	own := ""
	if hooked { // the plugin's, where the user has it, step back
		own = "settings"
	}
	return environ.Merge(keys.claudeEnv(), environ.Pairs("RALPH_HOOKS", own), []string{
		"IS_SANDBOX=1", // as root it refuses to start without, in a container too
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"DISABLE_AUTOUPDATER=1",
	})
}

// claudeReadStatus ignores the answer of versions without `claude auth status`.
func claudeReadStatus(_ int, printed []byte) string {
	var status struct {
		LoggedIn *bool `json:"loggedIn"`
	}
	if !readLine(printed, &status) || status.LoggedIn == nil || *status.LoggedIn {
		return ""
	}
	return "it has no key and is not logged in"
}

// claudePatience: six retries take half a minute, its default of ten three minutes.
var claudePatience = []string{"CLAUDE_CODE_MAX_RETRIES=6"}

type claudeUsage struct {
	Input      int64 `json:"input_tokens"`
	Output     int64 `json:"output_tokens"`
	CacheRead  int64 `json:"cache_read_input_tokens"`
	CacheWrite int64 `json:"cache_creation_input_tokens"`
	Cached     struct {
		Hour int64 `json:"ephemeral_1h_input_tokens"`
	} `json:"cache_creation"`
}

func (u claudeUsage) plain() stream.Usage {
	return stream.Usage{
		Input:      u.Input,
		Output:     u.Output,
		CacheRead:  u.CacheRead,
		CacheWrite: u.CacheWrite,
		CacheHour:  u.Cached.Hour,
	}
}

type claudeMessage struct {
	ID      string       `json:"id"`
	Model   string       `json:"model"`
	Content claudeBlocks `json:"content"`
	Usage   struct {
		claudeUsage
	} `json:"usage"`
}

type claudeBlock struct {
	Type      string         `json:"type"`
	Text      string         `json:"text"`
	ID        string         `json:"id"`
	Name      string         `json:"name"`
	Input     jsontext.Value `json:"input"`
	ToolUseID string         `json:"tool_use_id"`
	Content   claudeOutput   `json:"content"` // of a tool's result
	IsError   bool           `json:"is_error"`
}

// claudeBlocks are a list of blocks, or one text.
type claudeBlocks []claudeBlock

// UnmarshalJSONFrom accepts both forms.
func (b *claudeBlocks) UnmarshalJSONFrom(from *jsontext.Decoder) error {
	if from.PeekKind() == '"' {
		*b = claudeBlocks{{Type: "text"}}
		return json.UnmarshalDecode(from, &(*b)[0].Text)
	}
	return json.UnmarshalDecode(from, (*[]claudeBlock)(b))
}

// claudeOutput is a tool's output: a text, or texts among other blocks.
type claudeOutput string

// UnmarshalJSONFrom accepts both forms.
func (o *claudeOutput) UnmarshalJSONFrom(from *jsontext.Decoder) error {
	if from.PeekKind() == '"' {
		return json.UnmarshalDecode(from, (*string)(o))
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	err := json.UnmarshalDecode(from, &parts)
	var texts []string
	for _, part := range parts {
		if part.Type == "text" {
			texts = append(texts, part.Text)
		}
	}
	*o = claudeOutput(strings.Join(texts, "\n"))
	return err
}

// todoList reads TodoWrite of Claude Code, with contents, and write_todos of Gemini, with descriptions.
func todoList(input jsontext.Value) stream.Todo {
	var parsed struct {
		Todos []struct {
			Content     string `json:"content"`
			Description string `json:"description"`
			Status      string `json:"status"`
		} `json:"todos"`
	}
	readLine(input, &parsed)
	var todo stream.Todo
	for _, item := range parsed.Todos {
		text := Short(cmp.Or(item.Content, item.Description))
		todo.Tasks = append(todo.Tasks, stream.Task{Text: text, State: taskState(item.Status)})
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

// claudeMeter sums usage by message: each content block is a line that repeats the message's usage.
type claudeMeter struct {
	open map[string]stream.Usage // by model and message
	sums map[string]stream.Usage // by model
}

func (m *claudeMeter) add(model, message string, used stream.Usage) {
	key := model + " " + message
	m.sums[model] = m.sums[model].Plus(used.Minus(m.open[key]))
	m.open[key] = used
}
