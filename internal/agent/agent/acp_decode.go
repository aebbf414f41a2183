package agent

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/ralph-loop/ralph/internal/agent/mcp"
	"github.com/ralph-loop/ralph/internal/core/stream"
)

// Conversation is a Decoder of a program that is asked on its stdin, one question after another.
type Conversation interface {
	Decoder
	Questions() (lines []byte, over bool) // that came up since the last call; over: the turn has ended
	Cancel() []byte                       // asks the program to end the turn
}

// The questions of a turn, in this order. There is one at a time.
const (
	acpInitialize = "initialize"
	acpNewSession = "session/new"
	acpPrompt     = "session/prompt"
)

// acpDecoder is the client's side of the Agent Client Protocol. It offers no files and no terminal: the program has its
// own. Go's SDK for the protocol ends a connection that has 1024 updates waiting, and an agent's words are one each.
type acpDecoder struct {
	prompt  string
	dir     string
	model   string
	price   pricing
	servers []mcp.ACPServer

	expects string // the model that it has to confirm; empty: any

	asked   string // the open question
	number  int    // its id
	session string
	words   strings.Builder // of a message that is not complete: a claim may be cut in two
	calls   map[string]acpCall
	spent   stream.Spent
	lines   []byte
	over    bool
}

type acpLine struct {
	ID     jsontext.Value `json:"id"`
	Method string         `json:"method"`
	Params struct {
		Update  acpUpdate   `json:"update"`
		Options []acpOption `json:"options"` // of a request for permission
	} `json:"params"`
	Result struct {
		SessionID string `json:"sessionId"`
		Options   []struct {
			ID    string `json:"id"`
			Value string `json:"currentValue"`
		} `json:"configOptions"`
		StopReason string   `json:"stopReason"`
		Usage      acpUsage `json:"usage"`
		Meta       struct {
			Quota struct {
				Models []acpModelUsage `json:"model_usage"`
			} `json:"quota"`
		} `json:"_meta"`
	} `json:"result"`
	Error *acpError `json:"error"`
}

type acpOption struct {
	ID   string `json:"optionId"`
	Kind string `json:"kind"`
}

type acpError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    struct {
		Details string `json:"details"`
		Message string `json:"message"`
	} `json:"data"`
}

type acpUsage struct {
	Output     int64 `json:"outputTokens"`
	Thought    int64 `json:"thoughtTokens"`
	CacheRead  int64 `json:"cachedReadTokens"`
	CacheWrite int64 `json:"cachedWriteTokens"`
	Total      int64 `json:"totalTokens"`
}

// plain subtracts from the sum: whether the input includes cached tokens differs by program.
func (u acpUsage) plain() stream.Usage {
	used := stream.Usage{Output: u.Output + u.Thought, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite}
	used.Input = max(u.Total-used.Tokens(), 0)
	return used
}

// acpModelUsage is how Gemini CLI and Qwen Code report usage.
type acpModelUsage struct {
	Model  string `json:"model"`
	Tokens struct {
		Input  int64 `json:"input_tokens"`
		Output int64 `json:"output_tokens"`
	} `json:"token_count"`
}

type acpUpdate struct {
	Kind      string         `json:"sessionUpdate"`
	Content   acpContent     `json:"content"`
	ID        string         `json:"toolCallId"`
	Title     string         `json:"title"`
	Tool      string         `json:"kind"`
	Status    string         `json:"status"`
	RawInput  jsontext.Value `json:"rawInput"`
	RawOutput acpOutput      `json:"rawOutput"`
	Entries   []struct {
		Content string `json:"content"`
		Status  string `json:"status"`
	} `json:"entries"` // of a plan
	Cost struct {
		Amount   float64 `json:"amount"`
		Currency string  `json:"currency"`
	} `json:"cost"`
}

// acpOutput is a tool's, as opencode and Copilot report it.
type acpOutput struct {
	Output   string `json:"output"`
	Metadata struct {
		Exit int `json:"exit"`
	} `json:"metadata"`
	Contents []struct {
		Exit int `json:"exitCode"`
	} `json:"contents"`
}

// acpCall is what is known of a tool call so far.
type acpCall struct {
	name, title, input, output string
	started                    bool
}

// acpContent is a text, or the texts of a tool call.
type acpContent string

// UnmarshalJSONFrom accepts both forms.
func (c *acpContent) UnmarshalJSONFrom(from *jsontext.Decoder) error {
	type block struct {
		Text    string `json:"text"`
		Content struct {
			Text string `json:"text"`
		} `json:"content"`
	}
	if from.PeekKind() == '{' {
		value, err := from.ReadValue()
		var single block
		readLine(value, &single)
		*c = acpContent(single.Text)
		return err
	}
	var blocks []block
	err := jsonv2.UnmarshalDecode(from, &blocks)
	var texts []string
	for _, b := range blocks {
		texts = append(texts, b.Content.Text)
	}
	*c = acpContent(strings.Join(texts, "\n"))
	return err
}

func newACP(d *acpDecoder) *acpConversation {
	d.ask(acpInitialize, map[string]any{"protocolVersion": 1, "clientCapabilities": map[string]any{}})
	return &acpConversation{lineDecoder: decoderOf(d), acp: d}
}

// acpConversation is the acpDecoder with its questions.
type acpConversation struct {
	*lineDecoder[acpLine]
	acp *acpDecoder
}

// Questions returns the lines that the program has to get next.
func (c *acpConversation) Questions() (lines []byte, over bool) {
	lines = c.acp.lines
	c.acp.lines = nil
	return lines, c.acp.over
}

// Cancel returns the line that ends the turn.
func (c *acpConversation) Cancel() []byte {
	return acpMessage(map[string]any{
		"method": "session/cancel",
		"params": map[string]any{"sessionId": c.acp.session},
	})
}

func acpMessage(fields map[string]any) []byte {
	fields["jsonrpc"] = "2.0"
	line, _ := json.Marshal(fields) // strings, and maps and lists of them, have no error
	return append(line, '\n')
}

func (d *acpDecoder) ask(question string, params map[string]any) {
	d.asked = question
	d.number++
	d.lines = append(d.lines, acpMessage(map[string]any{"id": d.number, "method": question, "params": params})...)
}

func (d *acpDecoder) unfinished() []stream.Item {
	return append(d.flush(), stream.Result{Failed: true, Reason: NoResult, Usage: d.spent.Usage, Cost: d.spent.Cost})
}

func (d *acpDecoder) read(l acpLine) []stream.Item {
	switch {
	case l.Method == "session/update":
		return d.update(l.Params.Update)
	case l.Method != "":
		d.reply(l)
		return nil
	case string(l.ID) != strconv.Itoa(d.number) || d.over: // an answer to no question of ours
		return nil
	case l.Error != nil:
		return d.ended(l.Error.result())
	}
	return d.answered(l)
}

// answered goes on with the next question.
func (d *acpDecoder) answered(l acpLine) []stream.Item {
	switch {
	case d.asked == acpInitialize:
		d.ask(acpNewSession, map[string]any{"cwd": d.dir, "mcpServers": d.servers})
	case d.asked == acpNewSession && d.replacesModel(l):
		return d.ended(stream.Result{
			Failed: true,
			Reason: "error",
			Text:   "Model not found: " + d.expects,
			Denied: stream.NoLogin,
		})
	case d.asked == acpNewSession:
		d.session = l.Result.SessionID
		text := []any{map[string]any{"type": "text", "text": d.prompt}}
		d.ask(acpPrompt, map[string]any{"sessionId": d.session, "prompt": text})
	case d.asked == acpPrompt:
		d.count(l)
		return d.ended(stream.Result{Reason: l.Result.StopReason, Failed: l.Result.StopReason != "end_turn"})
	}
	return nil
}

// replacesModel reports whether the program would ask another model than the expected one.
func (d *acpDecoder) replacesModel(l acpLine) bool {
	if d.expects == "" {
		return false
	}
	for _, option := range l.Result.Options {
		if option.ID == "model" {
			return option.Value != d.expects
		}
	}
	return false
}

// reply permits what a program asks for: the sandbox holds it, not its own questions.
func (d *acpDecoder) reply(l acpLine) {
	if len(l.ID) == 0 {
		return
	}
	fields := map[string]any{"id": json.RawMessage(l.ID)}
	permits := func(option acpOption) bool { return strings.HasPrefix(option.Kind, "allow") }
	i := slices.IndexFunc(l.Params.Options, permits)
	if i >= 0 && l.Method == "session/request_permission" {
		outcome := map[string]any{"outcome": "selected", "optionId": l.Params.Options[i].ID}
		fields["result"] = map[string]any{"outcome": outcome}
	} else {
		fields["error"] = map[string]any{"code": -32601, "message": "Method not found"}
	}
	d.lines = append(d.lines, acpMessage(fields)...)
}

func (d *acpDecoder) update(u acpUpdate) []stream.Item {
	switch u.Kind {
	case "agent_message_chunk":
		return d.addText(string(u.Content))
	case "tool_call", "tool_call_update":
		return append(d.flush(), d.call(u)...)
	case "plan":
		var todo stream.Todo
		for _, entry := range u.Entries {
			task := stream.Task{Text: Short(entry.Content), State: taskState(entry.Status)}
			todo.Tasks = append(todo.Tasks, task)
		}
		return append(d.flush(), todo)
	case "usage_update":
		if u.Cost.Amount > 0 && u.Cost.Currency == "USD" {
			d.spent.Cost = stream.Cost{USD: u.Cost.Amount, Known: true}
			return []stream.Item{d.spent}
		}
	}
	return nil
}

// call adds what an update reports of a call. The call starts once it is no longer pending: until then its input is
// not complete.
func (d *acpDecoder) call(u acpUpdate) []stream.Item {
	var items []stream.Item
	c := d.calls[u.ID]
	c.name = cmp.Or(Short(u.Tool), c.name)
	c.title = cmp.Or(Short(u.Title), c.title)
	c.input = cmp.Or(summary(u.RawInput), c.input)
	c.output = cmp.Or(truncate(cmp.Or(string(u.Content), u.RawOutput.Output), maxOutput), c.output)
	if u.Status == "pending" {
		d.calls[u.ID] = c
		return nil
	}
	if !c.started {
		c.started = true
		items = append(items, stream.ToolStart{
			ID:    u.ID,
			Name:  cmp.Or(c.name, c.title),
			Input: cmp.Or(c.input, c.title),
		})
	}
	if u.Status != "completed" && u.Status != "failed" {
		d.calls[u.ID] = c
		return items
	}
	delete(d.calls, u.ID)
	failed := u.Status == "failed" || u.RawOutput.Metadata.Exit != 0
	for _, part := range u.RawOutput.Contents {
		failed = failed || part.Exit != 0
	}
	return append(items, stream.ToolEnd{ID: u.ID, Output: c.output, Failed: failed})
}

// count takes the usage of the turn, which is reported with its end.
func (d *acpDecoder) count(l acpLine) {
	used := map[string]stream.Usage{}
	for _, m := range l.Result.Meta.Quota.Models {
		used[m.Model] = used[m.Model].Plus(stream.Usage{Input: m.Tokens.Input, Output: m.Tokens.Output})
	}
	if l.Result.Usage != (acpUsage{}) {
		whole := l.Result.Usage.plain()
		used = map[string]stream.Usage{d.pricedModel(whole): whole}
	}
	if len(used) == 0 {
		return
	}
	sum := d.price.sum(used)
	if d.spent.Cost.USD > sum.Cost.USD { // the program's own price
		sum.Cost = d.spent.Cost
	}
	d.spent = sum
}

// pricedModel is the model's name in the price list, which may be without its provider.
func (d *acpDecoder) pricedModel(used stream.Usage) string {
	_, name, found := strings.Cut(d.model, "/")
	if found && !d.price.cost(d.model, used).Known {
		return name
	}
	return d.model
}

func (d *acpDecoder) ended(result stream.Result) []stream.Item {
	d.over = true
	result.Usage = d.spent.Usage
	result.Cost = d.spent.Cost
	return append(d.flush(), result)
}

// result is the end of a turn by an error. Gemini CLI's codes are those of the model's server.
func (e acpError) result() stream.Result {
	result := stream.Result{Failed: true, Reason: "error", Text: cmp.Or(e.Data.Details, e.Data.Message, e.Message)}
	switch {
	case e.Code == -32000: // authentication is required
		result.Denied = stream.NoLogin
	case e.Code >= 400 && e.Code < 600:
		result.Status = e.Code
	}
	return result
}

// maxWords is how much of a message is kept until it is complete.
const maxWords = 1 << 20

func (d *acpDecoder) addText(piece string) []stream.Item {
	d.words.WriteString(piece)
	if d.words.Len() < maxWords {
		return nil
	}
	text := d.words.String()
	d.words.Reset()
	end := strings.LastIndexByte(text, '\n')
	if end > 0 {
		d.words.WriteString(text[end+1:])
		text = text[:end]
	}
	return []stream.Item{stream.Text{Text: text}}
}

func (d *acpDecoder) flush() []stream.Item {
	if d.words.Len() == 0 {
		return nil
	}
	text := d.words.String()
	d.words.Reset()
	return []stream.Item{stream.Text{Text: text}}
}
