package agent_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/stream"
)

func TestCopilotIsStartedAs(t *testing.T) {
	start := []string{"--allow-all", "--no-ask-user", "--no-auto-update", "--output-format", "json"}
	server := agent.Keys{CopilotProviderAPIKey: "k", ModelBaseURL: "http://127.0.0.1:1", OpenAIAPIKey: "not its own"}
	typed := server
	typed.CopilotProviderType = "anthropic"
	tests := map[string]struct {
		options agent.Options
		model   string
		argv    []string
		env     []string
		notes   []string
	}{
		"by its login": {
			options: agent.Options{Keys: agent.Keys{CopilotProviderAPIKey: "of another day"}}, model: "gpt-5-codex",
			argv: with("copilot", start), env: []string{"COPILOT_MODEL=gpt-5-codex"},
		},
		"at a model server": {
			options: agent.Options{NeedKey: true, Keys: server}, model: "m", argv: with("copilot", start),
			env: []string{"COPILOT_MODEL=m", "COPILOT_OFFLINE=true", "COPILOT_PROVIDER_BASE_URL=http://127.0.0.1:1/v1", "COPILOT_PROVIDER_API_KEY=k"},
		},
		"at one of another kind": {
			options: agent.Options{Keys: typed}, argv: with("copilot", start),
			env: []string{
				"COPILOT_OFFLINE=true", "COPILOT_PROVIDER_BASE_URL=http://127.0.0.1:1", "COPILOT_PROVIDER_TYPE=anthropic", "COPILOT_PROVIDER_API_KEY=k",
			},
		},
		"with flags": {
			options: agent.Options{Command: "/opt/copilot --yolo", Args: []string{"--model", "mine", "--output-format=text", "--allow-all"}},
			argv:    with("/opt/copilot", start, "--model", "mine"),
			notes:   []string{"--output-format is always json: another value is ignored"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			adapter, err := agent.Pick("copilot", test.options)
			if err != nil {
				t.Fatal(err)
			}
			order := agent.Order{Model: test.model, Prompt: "work"}
			if diff := cmp.Diff(test.argv, adapter.Argv(order)); diff != "" {
				t.Errorf("argv (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.env, adapter.Env(order)); diff != "" {
				t.Errorf("env (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.notes, adapter.Notes); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCopilotWithoutAServer(t *testing.T) {
	for name, keys := range map[string]agent.Keys{
		"no key": {ModelBaseURL: "http://127.0.0.1:1", OpenAIAPIKey: "k"}, "no server": {CopilotProviderAPIKey: "k"},
	} {
		_, err := agent.Pick("copilot", agent.Options{NeedKey: true, Keys: keys})
		if hint := fault.Hint(err); fault.Exit(err) != fault.ExitUsage || !strings.Contains(hint, "provider-api-key") {
			t.Errorf("%s: Pick = %v, hint %q, want the inputs named", name, err, hint)
		}
	}
}

func TestCopilotLines(t *testing.T) {
	tests := map[string]struct {
		lines string
		want  []stream.Item
	}{
		"words, and those of another": {
			`{"type":"session.tools_updated","data":{"model":"m"}}
{"type":"user.message","data":{"content":"<promise>COMPLETE</promise>"}}
{"type":"assistant.message_delta","data":{"deltaContent":"Do"}}
{"type":"assistant.message","data":{"content":"Done.","outputTokens":7}}
{"type":"assistant.message","data":{"content":"<promise>COMPLETE</promise>","parentToolCallId":"t","outputTokens":3}}
{"type":"result","exitCode":0}`,
			[]stream.Item{
				stream.Progress{Text: "model m"},
				stream.Text{Text: "Done."},
				stream.Spent{Usage: stream.Usage{Output: 7}},
				stream.Progress{Text: "<promise>COMPLETE</promise>"},
				stream.Spent{Usage: stream.Usage{Output: 10}},
				stream.Result{Reason: "completed", Usage: stream.Usage{Output: 10}},
			},
		},
		"tools": {
			`{"type":"tool.execution_start","data":{"toolCallId":"a","toolName":"bash","arguments":{"command":"exit 3"}}}
{"type":"tool.execution_complete","data":{"toolCallId":"a","shellExecution":{"exitCode":3},"success":true,"result":{"content":"gone"}}}
{"type":"tool.execution_complete","data":{"toolCallId":"b","success":false,"error":{"message":"no such tool"}}}
{"type":"tool.execution_complete","data":{"toolCallId":"c","success":true,"result":{"content":"fine"}}}`,
			[]stream.Item{
				stream.ToolStart{ID: "a", Name: "bash", Input: "exit 3"},
				stream.ToolEnd{ID: "a", Output: "gone", Failed: true},
				stream.ToolEnd{ID: "b", Output: "no such tool", Failed: true},
				stream.ToolEnd{ID: "c", Output: "fine"},
			},
		},
		"a wait, and the end of waiting": {
			`{"type":"model.call_failure","data":{"statusCode":429,"retryAttempt":0}}
{"type":"assistant.turn_retry","data":{"reason":"rate_limit"}}
{"type":"session.error","data":{"errorType":"rate_limit","message":"retried 5 times","statusCode":429}}
{"type":"result","exitCode":1}`,
			[]stream.Item{
				stream.Retry{Reason: "rate_limit", Status: 429, Attempt: 1},
				stream.Result{Failed: true, Reason: "rate_limit", Text: "retried 5 times", Status: 429, Busy: true},
			},
		},
		"an error that was got over": {
			`{"type":"session.error","data":{"errorType":"query","message":"no","statusCode":500}}` + "\n" + `{"type":"result","exitCode":0}`,
			[]stream.Item{stream.Result{Reason: "completed"}},
		},
		"a result that says nothing": {`{"type":"result"}`, []stream.Item{stream.Result{Failed: true, Reason: "failed"}}},
		"what is unknown passes":     {`{"type":"later","data":[]}` + "\n" + `{"type":7}`, nil},
		"what is no JSON is shown":   {"Error: no", []stream.Item{stream.Progress{Text: "Error: no"}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, decode(t, "copilot", test.lines)); diff != "" {
				t.Errorf("items (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCopilotKilled(t *testing.T) {
	adapter, err := agent.Pick("copilot", agent.Options{})
	if err != nil {
		t.Fatal(err)
	}
	decoder := adapter.Decoder(agent.Order{})
	if got := decoder.End(); got != nil {
		t.Errorf("End of silence = %v, want nothing", got)
	}
	decoder.Line([]byte(`{"type":"assistant.message","data":{"content":"","outputTokens":7}}`))
	want := []stream.Item{stream.Result{Failed: true, Reason: "ended without a result", Usage: stream.Usage{Output: 7}}}
	if diff := cmp.Diff(want, decoder.End()); diff != "" {
		t.Errorf("End (-want +got):\n%s", diff)
	}
}
