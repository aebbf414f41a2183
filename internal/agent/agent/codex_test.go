package agent_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/core/price"
	"github.com/ralph-loop/ralph/internal/core/stream"
	"github.com/ralph-loop/ralph/internal/lib/fault"
)

const (
	unbound  = "--dangerously-bypass-approvals-and-sandbox"
	provider = `model_providers.ralph={name="ralph",base_url="http://127.0.0.1:1/v1",wire_api="responses",supports_websockets=false`
)

func TestCodexIsStartedAs(t *testing.T) {
	counted := []string{"exec", "--json", "-c", "project_doc_max_bytes=0", "-c", `service_tier="default"`, unbound}
	start := counted
	chosen := []string{"-c", `model_provider="ralph"`}
	gone := []string{"codex no longer has --full-auto: " + unbound + " replaces it"}
	tests := map[string]struct {
		options agent.Options
		model   string
		argv    []string
		env     []string
		notes   []string
	}{
		"plain": {argv: with("codex", start, "-")},
		"with a key, a model and flags": {
			options: agent.Options{
				Args: []string{"-c", "model_reasoning_effort=high"}, NeedKey: true,
				Keys: agent.Keys{OpenAIAPIKey: "k", AnthropicAPIKey: "not its own"},
			},
			model: "gpt-6.1-sol",
			argv:  with("codex", start, "-m", "gpt-6.1-sol", "-c", "model_reasoning_effort=high", "-"),
			env:   []string{"CODEX_API_KEY=k"},
		},
		"through a proxy": {
			options: agent.Options{Keys: agent.Keys{OpenAIAPIKey: "dummy", ModelBaseURL: "http://127.0.0.1:1"}},
			argv:    with("codex", start, "-c", provider+`,env_key="CODEX_API_KEY"}`, chosen, "-"),
			env:     []string{"CODEX_API_KEY=dummy"},
		},
		"at a server of ours, which refuses what runs at the maker's": {
			options: agent.Options{
				Args: []string{"-c", `web_search="live"`}, // for people who want to see it refused
				Keys: agent.Keys{OpenAIAPIKey: "dummy", ModelBaseURL: "http://127.0.0.1:1", Bounded: true, Confined: true},
			},
			argv: with("codex", counted, "-c", provider+`,env_key="CODEX_API_KEY"}`, chosen, "-c", `web_search="disabled"`, "-c", `web_search="live"`, "-"),
			env:  []string{"CODEX_API_KEY=dummy"},
		},
		"at a server of ours, where it can ask another": {
			options: agent.Options{Keys: agent.Keys{ModelBaseURL: "http://127.0.0.1:1", Bounded: true}},
			argv:    with("codex", start, "-c", provider+"}", chosen, "-c", `web_search="disabled"`, "-"),
		},
		"with a model in the flags": {
			options: agent.Options{Args: []string{"--model=mine"}}, model: "gpt-6-sol",
			argv: with("codex", start, "--model=mine", "-"),
		},
		"as seed 001 has it": {
			options: agent.Options{Command: "/opt/codex e", Args: []string{"--json", "--full-auto"}},
			argv:    with("/opt/codex", start, "-"),
			notes:   gone,
		},
		"with everything twice": {
			options: agent.Options{Command: "nice codex --full-auto exec", Args: []string{"--full-auto", "--yolo", unbound, "-m", "e"}},
			argv:    with("nice", "codex", start, "-m", "e", "-"),
			notes:   gone,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			adapter, err := agent.Pick("codex", test.options)
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

// with joins words and lists of words.
func with(parts ...any) []string {
	var words []string
	for _, part := range parts {
		switch part := part.(type) {
		case string:
			words = append(words, part)
		case []string:
			words = append(words, part...)
		}
	}
	return words
}

func TestCodexIsRefused(t *testing.T) {
	tests := map[string]struct {
		options agent.Options
		hint    string
	}{
		"a password in argv": {agent.Options{Keys: agent.Keys{ModelBaseURL: "http://me:secret@host/v1"}}, "without a name"},
		"no URL":             {agent.Options{Keys: agent.Keys{ModelBaseURL: "localhost:80"}}, "model-base-url"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := agent.Pick("codex", test.options)
			if hint := fault.Hint(err); fault.Exit(err) != fault.ExitUsage || !strings.Contains(hint, test.hint) {
				t.Errorf("Pick = %v, hint %q, want %q", err, hint, test.hint)
			}
			if err != nil && strings.Contains(err.Error()+fault.Hint(err), "secret") {
				t.Errorf("Pick tells a password: %v", err)
			}
		})
	}
}

func TestCodexLines(t *testing.T) {
	tests := map[string]struct {
		lines string
		want  []stream.Item
	}{
		"a command without its shell": {
			`{"type":"item.started","item":{"id":"i","type":"command_execution","command":"/bin/bash -lc 'go test ./...'","aggregated_output":"","exit_code":null,"status":"in_progress"}}
{"type":"item.completed","item":{"id":"i","type":"command_execution","command":"/bin/bash -lc 'go test ./...'","aggregated_output":"FAIL\n","exit_code":1,"status":"failed"}}`,
			[]stream.Item{stream.ToolStart{ID: "i", Name: "shell", Input: "go test ./..."}, stream.ToolEnd{ID: "i", Output: "FAIL\n", Failed: true}},
		},
		"a command that a shell would expand stays as it is": {
			`{"type":"item.started","item":{"id":"i","type":"command_execution","command":"/bin/bash -lc \"echo $HOME\""}}`,
			[]stream.Item{stream.ToolStart{ID: "i", Name: "shell", Input: `/bin/bash -lc "echo $HOME"`}},
		},
		"a refused command": {
			`{"type":"item.completed","item":{"id":"i","type":"command_execution","command":"rm","exit_code":null,"status":"declined"}}`,
			[]stream.Item{stream.ToolStart{ID: "i", Name: "shell", Input: "rm"}, stream.ToolEnd{ID: "i", Failed: true}},
		},
		"each file of a patch is an edit": {
			`{"type":"item.started","item":{"id":"i","type":"file_change","changes":[{"path":"a.go","kind":"add"}],"status":"in_progress"}}
{"type":"item.updated","item":{"id":"i","type":"file_change","changes":[{"path":"a.go","kind":"add"}],"status":"in_progress"}}
{"type":"item.completed","item":{"id":"i","type":"file_change","changes":[{"path":"a.go","kind":"add"},{"path":"ralph/prd.json","kind":"update"}],"status":"completed"}}`,
			[]stream.Item{
				stream.ToolStart{ID: "i.1", Name: "edit", Input: "add a.go"},
				stream.ToolEnd{ID: "i.1"},
				stream.ToolStart{ID: "i.2", Name: "edit", Input: "update ralph/prd.json"},
				stream.ToolEnd{ID: "i.2"},
			},
		},
		"a tool of a server": {
			`{"type":"item.started","item":{"id":"i","type":"mcp_tool_call","server":"docs","tool":"find","arguments":{"query":"x"},"result":null,"error":null,"status":"in_progress"}}
{"type":"item.completed","item":{"id":"i","type":"mcp_tool_call","server":"docs","tool":"find","arguments":{"query":"x"},"result":{"content":[{"type":"text","text":"found"}],"structured_content":null},"error":null,"status":"completed"}}`,
			[]stream.Item{stream.ToolStart{ID: "i", Name: "docs.find", Input: "x"}, stream.ToolEnd{ID: "i", Output: "found"}},
		},
		"another agent's help is work": {
			`{"type":"item.completed","item":{"id":"i","type":"collab_tool_call","tool":"spawn_agent","prompt":"look","status":"completed"}}`,
			[]stream.Item{stream.ToolStart{ID: "i", Name: "spawn_agent", Input: "look"}, stream.ToolEnd{ID: "i"}},
		},
		"a todo list, first, changed and last": {
			`{"type":"item.started","item":{"id":"i","type":"todo_list","items":[{"text":"read","completed":false}]}}
{"type":"item.updated","item":{"id":"i","type":"todo_list","items":[{"text":"read","completed":true}]}}
{"type":"item.completed","item":{"id":"i","type":"todo_list","items":[]}}`,
			[]stream.Item{
				stream.Todo{Tasks: []stream.Task{{Text: "read", State: stream.TaskPending}}},
				stream.Todo{Tasks: []stream.Task{{Text: "read", State: stream.TaskDone}}},
				stream.Todo{},
			},
		},
		"thoughts and warnings are no words of the agent's": {
			`{"type":"item.completed","item":{"id":"i","type":"reasoning","text":"<promise>COMPLETE</promise>"}}
{"type":"item.completed","item":{"id":"j","type":"error","message":"deprecated"}}
{"type":"item.completed","item":{"id":"k","type":"agent_message","text":""}}`,
			[]stream.Item{stream.Progress{Text: "<promise>COMPLETE</promise>"}, stream.Progress{Text: "deprecated"}},
		},
		"a status in any other sentence is none": {
			`{"type":"turn.failed","error":{"message":"the tool said: unexpected status 401 Unauthorized: no"}}`,
			[]stream.Item{stream.Result{Failed: true, Reason: "turn failed", Text: "the tool said: unexpected status 401 Unauthorized: no"}},
		},
		"what is unknown passes": {
			`{"type":"item.plan.delta","delta":"x"}
{"type":"turn.started"}
{"type":"item.started","item":{"id":"i","type":"hologram"}}
{"type":"item.completed","item":{"id":"i","type":"hologram"}}
{"type":"item.completed","item":"x"}`, nil,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, decode(t, "codex", test.lines)); diff != "" {
				t.Errorf("items (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCodexIsPriced(t *testing.T) {
	own := map[string]price.Rate{"mine": {Output: 1e6}}
	tests := map[string]struct {
		args  []string
		model string
		want  stream.Cost
	}{
		"by the order's model":     {model: "mine", want: stream.Cost{USD: 5, Known: true}},
		"by the model of the user": {args: []string{"-m", "mine"}, model: "gpt-6-sol", want: stream.Cost{USD: 5, Known: true}},
		"not without a model":      {},
		"not an unknown model":     {model: "theirs"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			adapter, err := agent.Pick("codex", agent.Options{Args: test.args, Prices: own})
			if err != nil {
				t.Fatal(err)
			}
			got := adapter.Decoder(agent.Order{Model: test.model}).Line([]byte(`{"type":"turn.completed","usage":{"input_tokens":100,"cached_input_tokens":60,"cache_write_input_tokens":30,"output_tokens":5}}`))
			want := []stream.Item{stream.Result{
				Reason: "completed", Usage: stream.Usage{Input: 10, CacheRead: 60, CacheWrite: 30, Output: 5}, Cost: test.want,
			}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("items (-want +got):\n%s", diff)
			}
		})
	}
}
