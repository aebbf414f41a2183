package agent

import (
	"cmp"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/ralph-loop/ralph/internal/core/stream"
)

// synthetic is the model of messages that Claude Code writes itself, such as API errors.
const synthetic = "<synthetic>"

type claudeLine struct {
	Type    string        `json:"type"`
	Subtype string        `json:"subtype"`
	Parent  *string       `json:"parent_tool_use_id"` // set in the lines of a sub-agent
	Message claudeMessage `json:"message"`
	claudeSystem
	claudeResult
	Limit claudeLimit `json:"rate_limit_info"`
}

type claudeLimit struct {
	Status   string `json:"status"` // allowed, allowed_warning, rejected
	ResetsAt int64  `json:"resetsAt"`
}

func (l claudeLimit) until() time.Time {
	const inMilliseconds = 1e11 // as seconds, the year 5138
	switch {
	case l.Status != "rejected" || l.ResetsAt <= 0:
		return time.Time{}
	case l.ResetsAt > inMilliseconds:
		return time.UnixMilli(l.ResetsAt)
	}
	return time.Unix(l.ResetsAt, 0)
}

type claudeSystem struct {
	Model       string  `json:"model"`
	Session     string  `json:"session_id"`
	Attempt     int     `json:"attempt"`
	DelayMS     float64 `json:"retry_delay_ms"`
	ErrorStatus int     `json:"error_status"`
	Error       string  `json:"error"`
	ToolName    string  `json:"tool_name"`
	Compacted   struct {
		From int64 `json:"pre_tokens"`
		To   int64 `json:"post_tokens"`
	} `json:"compact_metadata"`
}

// ClaudeEntry is a line of the transcript that Claude Code writes of a session.
type ClaudeEntry struct {
	Type      string        `json:"type"`
	Subtype   string        `json:"subtype"`
	Side      bool          `json:"isSidechain"` // of a subagent, which has its own context
	APIError  bool          `json:"isApiErrorMessage"`
	Timestamp time.Time     `json:"timestamp"`
	Message   claudeMessage `json:"message"`
}

// ReadClaudeEntry reads such a line.
func ReadClaudeEntry(line []byte) (entry ClaudeEntry, ok bool) {
	ok = readLine(line, &entry)
	return entry, ok
}

// IsOwnModel reports whether the session's own model wrote the line.
func (e ClaudeEntry) IsOwnModel() bool {
	return e.Type == "assistant" && !e.Side && !e.APIError && e.Message.Model != synthetic
}

// claudeDecoder keeps the usage of open messages, and todo calls without an end.
type claudeDecoder struct {
	price  pricing
	model  string    // of the session
	served string    // as its server calls it
	until  time.Time // when its login may ask again
	denied stream.Denial
	spent  claudeMeter
	sent   stream.Usage // that the newest Spent had
	todos  map[string]bool
}

func newClaudeDecoder(price pricing, model string) *claudeDecoder {
	return &claudeDecoder{
		price: price,
		model: model,
		spent: claudeMeter{open: map[string]stream.Usage{}, sums: map[string]stream.Usage{}},
		todos: map[string]bool{},
	}
}

func (d *claudeDecoder) read(l claudeLine) []stream.Item {
	switch l.Type {
	case "system":
		if l.Subtype == "init" {
			d.model = l.Model
		}
		return l.system()
	case "rate_limit_event":
		d.until = l.Limit.until()
	case "assistant":
		return append(d.assistant(l), d.meter()...)
	case "user":
		return d.user(l.Message.Content)
	case "result":
		result := l.result()
		result.Until = d.until
		if result.Failed {
			result.Denied = d.denied
		}
		return []stream.Item{result}
	}
	return nil
}

func (d *claudeDecoder) meter() []stream.Item {
	spent := d.price.sum(d.spent.sums)
	if spent.Usage == d.sent {
		return nil
	}
	d.sent = spent.Usage
	return []stream.Item{spent}
}

// unfinished has the usage that the messages began with: the least it can be.
func (d *claudeDecoder) unfinished() []stream.Item {
	return []stream.Item{stream.Result{
		Failed: true,
		Reason: NoResult,
		Usage:  d.price.sum(d.spent.sums).Usage,
		Until:  d.until,
	}}
}

// modelOf returns which model has the price of a message. Sub-agents may have another than the session.
func (d *claudeDecoder) modelOf(own string, sub bool) string {
	if !sub || own == "" || own == synthetic || own == d.served {
		return d.model
	}
	return own
}

func (l claudeLine) system() []stream.Item {
	switch l.Subtype {
	case "init":
		return []stream.Item{stream.Progress{Text: "model " + l.Model}}
	case "api_retry":
		return []stream.Item{stream.Retry{
			Reason:  l.Error,
			Status:  l.ErrorStatus,
			Attempt: l.Attempt,
			Delay:   time.Duration(l.DelayMS * float64(time.Millisecond)),
		}}
	case "permission_denied":
		return []stream.Item{stream.Progress{Text: "permission denied: " + l.ToolName}}
	}
	return nil
}

// claudeDenials are errors that a person has to fix.
var claudeDenials = map[string]stream.Denial{
	"authentication_failed": stream.NoLogin,
	"oauth_org_not_allowed": stream.NoLogin,
	"billing_error":         stream.NoCredit,
}

func (d *claudeDecoder) assistant(l claudeLine) []stream.Item {
	d.denied = claudeDenials[l.Error]
	model := l.Message.Model
	isSub := l.Parent != nil
	if !isSub && model != "" && model != synthetic {
		d.served = model
	}
	d.spent.add(d.modelOf(model, isSub), l.Message.ID, l.Message.Usage.plain().Plausible())
	var items []stream.Item
	for _, block := range l.Message.Content {
		isTodo := block.Name == "TodoWrite" || block.Name == "todo_write"
		switch {
		case block.Type == "text" && block.Text == "":
		case block.Type == "text" && !isSub && model != synthetic:
			items = append(items, stream.Text{Text: block.Text})
		case block.Type == "text":
			items = append(items, stream.Progress{Text: Short(block.Text)})
		case isTodo && !isSub:
			d.todos[block.ID] = true
			items = append(items, todoList(block.Input))
		case strings.HasSuffix(block.Type, "tool_use"): // server_tool_use, mcp_tool_use
			items = append(items, stream.ToolStart{
				ID:    block.ID,
				Name:  Short(block.Name),
				Input: summary(block.Input),
			})
		}
	}
	return items
}

func (d *claudeDecoder) user(blocks claudeBlocks) []stream.Item {
	var items []stream.Item
	for _, block := range blocks {
		if block.Type != "tool_result" || d.todos[block.ToolUseID] {
			continue
		}
		items = append(items, stream.ToolEnd{
			ID:     block.ToolUseID,
			Output: truncate(string(block.Content), maxOutput),
			Failed: block.IsError,
		})
	}
	return items
}

// An error may have the subtype "success": IsError counts.
type claudeResult struct {
	IsError        bool           `json:"is_error"`
	Result         string         `json:"result"`
	Errors         []string       `json:"errors"` // instead of Result, after limits and interruptions
	TerminalReason string         `json:"terminal_reason"`
	Status         int            `json:"api_error_status"`
	TotalCost      jsontext.Value `json:"total_cost_usd"`
	Usage          claudeUsage    `json:"usage"`
	ModelUsage     map[string]struct {
		Input      int64 `json:"inputTokens"`
		Output     int64 `json:"outputTokens"`
		CacheRead  int64 `json:"cacheReadInputTokens"`
		CacheWrite int64 `json:"cacheCreationInputTokens"`
	} `json:"modelUsage"`
}

func (l claudeLine) result() stream.Result {
	result := stream.Result{
		Text:   cmp.Or(l.Result, strings.Join(l.Errors, "; ")),
		Failed: l.IsError,
		Reason: cmp.Or(l.TerminalReason, l.Subtype),
		Status: l.Status,
		Usage:  l.used(),
	}
	if l.IsError && (result.Reason == "" || result.Reason == "success") {
		result.Reason = "error"
	}
	var usd *float64
	if json.Unmarshal(l.TotalCost, &usd) == nil && usd != nil {
		result.Cost = stream.Cost{USD: *usd, Known: true}
	}
	return result
}

// used prefers the sums by model: they include sub-agents, and runs that a budget cut off.
func (r claudeResult) used() stream.Usage {
	if len(r.ModelUsage) == 0 {
		return r.Usage.plain()
	}
	var sum stream.Usage
	for _, u := range r.ModelUsage {
		sum = sum.Plus(stream.Usage{Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite})
	}
	return sum
}
