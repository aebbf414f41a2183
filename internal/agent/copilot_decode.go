package agent

import (
	"encoding/json"

	"github.com/ralph-loop/ralph/internal/stream"
)

// copilotLine is a line of copilot --output-format json, as far as it is read
// here.
type copilotLine struct {
	Type     string      `json:"type"`
	Data     copilotData `json:"data"`
	ExitCode *int        `json:"exitCode"` // of the result
}

// copilotData is what happened; which of the keys it has, the line's type tells.
type copilotData struct {
	Content   string `json:"content"`
	Parent    string `json:"parentToolCallId"` // set in the messages of a sub-agent
	Output    int64  `json:"outputTokens"`
	Model     string `json:"model"`
	Reason    string `json:"reason"`
	ErrorType string `json:"errorType"`
	Message   string `json:"message"`
	Status    int    `json:"statusCode"`
	Attempt   int    `json:"retryAttempt"`

	ToolCallID string          `json:"toolCallId"`
	ToolName   string          `json:"toolName"`
	Arguments  json.RawMessage `json:"arguments"`
	Success    bool            `json:"success"`
	Result     struct {
		Content string `json:"content"`
	} `json:"result"`
	Error struct {
		Message string `json:"message"`
	} `json:"error"`
	Shell struct {
		ExitCode int `json:"exitCode"`
	} `json:"shellExecution"`
}

// copilotDecoder reads Copilot's lines. Of tokens it says those of the answers,
// if any, and of money nothing: its models are paid by request or by others.
type copilotDecoder struct {
	failure copilotData // of the last call to the model
	broken  copilotData // the error that ends the session
	summed
}

// Line reads one line. What it does not know passes silently, so that a newer
// CLI does no harm; what is no JSON is shown.
func (d *copilotDecoder) Line(line []byte) []stream.Item {
	parsed, ok := readLine[copilotLine](line)
	if !ok {
		return raw(line)
	}
	d.spoke = true
	data := parsed.Data
	switch parsed.Type {
	case "session.tools_updated":
		return []stream.Item{stream.Progress{Text: "model " + short(data.Model)}}
	case "assistant.message":
		return d.said(data)
	case "tool.execution_start":
		return []stream.Item{stream.ToolStart{ID: data.ToolCallID, Name: short(data.ToolName), Input: summary(data.Arguments)}}
	case "tool.execution_complete":
		return []stream.Item{data.toolEnd()}
	case "model.call_failure":
		d.failure = data
	case "assistant.turn_retry":
		return []stream.Item{stream.Retry{Reason: short(data.Reason), Status: d.failure.Status, Attempt: d.failure.Attempt + 1}}
	case "session.error":
		d.broken = data
	case "result":
		d.closed = true
		return []stream.Item{d.result(parsed.ExitCode)}
	}
	return nil
}

func (d *copilotDecoder) said(data copilotData) []stream.Item {
	var items []stream.Item
	switch {
	case data.Content == "":
	case data.Parent == "":
		items = append(items, stream.Text{Text: data.Content})
	default:
		items = append(items, stream.Progress{Text: short(data.Content)})
	}
	if data.Output <= 0 {
		return items
	}
	d.spent.Output += data.Output
	return append(items, stream.Spent{Usage: d.spent})
}

func (c copilotData) toolEnd() stream.ToolEnd {
	end := stream.ToolEnd{ID: c.ToolCallID, Output: head(c.Result.Content, maxOutput), Failed: !c.Success || c.Shell.ExitCode != 0}
	if end.Output == "" {
		end.Output = head(c.Error.Message, maxOutput)
	}
	return end
}

// result goes by the exit code that the line names. An error that came before
// a good end was got over.
func (d *copilotDecoder) result(exit *int) stream.Result {
	result := stream.Result{Reason: "completed", Usage: d.spent}
	if exit != nil && *exit == 0 {
		return result
	}
	result.Failed, result.Reason = true, d.broken.ErrorType
	result.Text, result.Status = d.broken.Message, d.broken.Status
	result.Busy = d.broken.ErrorType == "rate_limit"
	if d.broken.ErrorType == "authentication" && d.broken.Status != statusKeyRefused {
		result.Denied = stream.NoLogin
	}
	if result.Reason == "" {
		result.Reason = "failed"
	}
	return result
}
