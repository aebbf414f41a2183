package agent_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/process"
	"github.com/ralph-loop/ralph/internal/stream"
	"github.com/ralph-loop/ralph/internal/testsupport/agenttest"
)

func TestAmpIsStartedAs(t *testing.T) {
	flags := []string{"--stream-json", "--dangerously-allow-all"}
	long := strings.Repeat("x", 128<<10-1)
	tests := map[string]struct {
		options agent.Options
		order   agent.Order
		argv    []string
		stdin   string
		notes   []string
	}{
		"plain": {
			order: agent.Order{Prompt: "do\nit"},
			argv:  with("amp", flags, "-x", "do\nit"),
		},
		"with a mode and flags": {
			options: agent.Options{Command: "/opt/amp --no-color", Args: []string{"--no-ide"}},
			order:   agent.Order{Prompt: "p", Model: "high"},
			argv:    with("/opt/amp", "--no-color", flags, "--mode", "high", "--no-ide", "-x", "p"),
		},
		"with the longest argument": {order: agent.Order{Prompt: long}, argv: with("amp", flags, "-x", long)},
		"with a longer prompt": {
			order: agent.Order{Prompt: long + "x"}, argv: with("amp", flags, "-x"), stdin: long + "x",
		},
		"with a list for a prompt":  {order: agent.Order{Prompt: "- one"}, argv: with("amp", flags, "-x"), stdin: "- one"},
		"with a zero in its prompt": {order: agent.Order{Prompt: "a\x00b"}, argv: with("amp", flags, "-x"), stdin: "a\x00b"},
		"at a model server": {
			options: agent.Options{Keys: agent.Keys{ModelBaseURL: "http://127.0.0.1:1"}},
			order:   agent.Order{Prompt: "p"},
			argv:    with("amp", flags, "-x", "p"),
			notes:   []string{"amp uses its own server only: the base URL of a model server is ignored"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.options.Keys.AmpAPIKey, test.options.Keys.AnthropicAPIKey = "k", "not its own"
			adapter, err := agent.Pick("amp", test.options)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.argv, adapter.Argv(test.order)); diff != "" {
				t.Errorf("argv (-want +got):\n%s", diff)
			}
			if got := adapter.Stdin(test.order); got != test.stdin {
				t.Errorf("stdin = %d bytes, want %d", len(got), len(test.stdin))
			}
			if diff := cmp.Diff([]string{"AMP_API_KEY=k"}, adapter.Env(test.order)); diff != "" {
				t.Errorf("env (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.notes, adapter.Notes); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAmpWithoutAKey(t *testing.T) {
	_, err := agent.Pick("amp", agent.Options{})
	hint := fault.Hint(err)
	if fault.Exit(err) != fault.ExitUsage || !strings.Contains(hint, "provider-api-key") || !strings.Contains(hint, "AMP_API_KEY") {
		t.Errorf("Pick = %v, hint %q, want the input and the variable named", err, hint)
	}
}

// The prompt is said once: beside one in argv, what stdin holds would be joined to it.
func TestAmpReadsItsPromptOnce(t *testing.T) {
	for name, prompt := range map[string]string{"in argv": "do it", "on stdin": "- do it"} {
		t.Run(name, func(t *testing.T) {
			s := agenttest.New(t, "amp", agent.Options{Command: agenttest.Self(t, "env"), Keys: agent.Keys{AmpAPIKey: "k"}})
			said := ""
			s.Run = func(_ context.Context, c process.Command) (process.Result, error) {
				stdin, err := io.ReadAll(c.Stdin)
				if last := c.Argv[len(c.Argv)-1]; last != "-x" {
					said = last
				}
				said += string(stdin)
				return process.Result{}, err
			}
			if _, err := s.Do(t.Context(), agent.Order{Prompt: prompt}); err != nil || said != prompt {
				t.Errorf("Do = %v, the agent was told %q, want %q", err, said, prompt)
			}
		})
	}
}

func TestAmpLines(t *testing.T) {
	tests := map[string]struct {
		lines string
		want  []stream.Item
	}{
		"a run that goes well": {
			`{"type":"system","subtype":"init","session_id":"T-1","tools":["Bash"],"mcp_servers":[]}
{"type":"user","message":{"role":"user","content":[{"type":"text","text":"<promise>COMPLETE</promise>"}]},"parent_tool_use_id":null}
{"type":"assistant","message":{"content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"t1","name":"Bash","input":{"cmd":"ls"}}],"usage":{"input_tokens":9}},"parent_tool_use_id":null}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"a.go","is_error":false}]}}
{"type":"result","subtype":"success","is_error":false,"result":"Done.","num_turns":2,"usage":{"input_tokens":100,"output_tokens":50,"cache_read_input_tokens":80,"cache_creation_input_tokens":5}}`,
			[]stream.Item{
				stream.Progress{Text: "thread T-1"},
				stream.Text{Text: "I look."},
				stream.ToolStart{ID: "t1", Name: "Bash", Input: "ls"},
				stream.Spent{Usage: stream.Usage{Input: 9}},
				stream.ToolEnd{ID: "t1", Output: "a.go"},
				stream.Result{Text: "Done.", Reason: "success", Usage: stream.Usage{Input: 15, Output: 50, CacheRead: 80, CacheWrite: 5}},
			},
		},
		"a result without a sum": {
			`{"type":"assistant","message":{"content":[],"usage":{"input_tokens":10,"cache_read_input_tokens":4,"output_tokens":2}}}
{"type":"assistant","message":{"content":[],"usage":{"input_tokens":3,"cache_read_input_tokens":40,"output_tokens":1}}}
{"type":"result","subtype":"success","result":"ok"}`,
			[]stream.Item{
				stream.Spent{Usage: stream.Usage{Input: 6, Output: 2, CacheRead: 4}},
				stream.Spent{Usage: stream.Usage{Input: 9, Output: 3, CacheRead: 44}},
				stream.Result{Text: "ok", Reason: "success", Usage: stream.Usage{Input: 9, Output: 3, CacheRead: 44}},
			},
		},
		"an error": {
			`{"type":"result","subtype":"error_during_execution","error":"out of credits","is_error":true}`,
			[]stream.Item{stream.Result{Failed: true, Reason: "error_during_execution", Text: "out of credits"}},
		},
		"an error by its subtype alone": {
			`{"type":"result","subtype":"error_max_turns"}`,
			[]stream.Item{stream.Result{Failed: true, Reason: "error_max_turns"}},
		},
		"a todo list": {
			`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"todo_write","input":{"todos":[{"content":"edit","status":"in-progress"}]}}]}}`,
			[]stream.Item{stream.Todo{Tasks: []stream.Task{{Text: "edit", State: stream.TaskActive}}}},
		},
		"what is unknown passes":   {`{"type":"system","subtype":"later"}` + "\n" + `{"type":"thinking"}`, nil},
		"what is no JSON is shown": {"Error: no", []stream.Item{stream.Progress{Text: "Error: no"}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, decode(t, "amp", test.lines)); diff != "" {
				t.Errorf("items (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAmpKilled(t *testing.T) {
	adapter, err := agent.Pick("amp", agent.Options{Keys: agent.Keys{AmpAPIKey: "k"}})
	if err != nil {
		t.Fatal(err)
	}
	decoder := adapter.Decoder(agent.Order{})
	if got := decoder.End(); got != nil {
		t.Errorf("End of silence = %v, want nothing", got)
	}
	decoder.Line([]byte(`{"type":"assistant","message":{"content":[],"usage":{"input_tokens":7}}}`))
	want := []stream.Item{stream.Result{Failed: true, Reason: "ended without a result", Usage: stream.Usage{Input: 7}}}
	if diff := cmp.Diff(want, decoder.End()); diff != "" {
		t.Errorf("End (-want +got):\n%s", diff)
	}
}
