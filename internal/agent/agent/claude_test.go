package agent_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/core/price"
	"github.com/ralph-loop/ralph/internal/core/stream"
)

func TestClaudeIsStartedAs(t *testing.T) {
	flags := []string{
		"-p", "--output-format", "stream-json", "--verbose",
		"--dangerously-skip-permissions", "--setting-sources", "user",
	}
	base := []string{
		"IS_SANDBOX=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"DISABLE_AUTOUPDATER=1",
	}
	tests := map[string]struct {
		options agent.Options
		order   agent.Order
		argv    []string
		env     []string
	}{
		"plain": {
			argv: append([]string{"claude"}, flags...),
			env:  base,
		},
		"with a model and flags": {
			options: agent.Options{Args: []string{"--effort", "high"}},
			order:   agent.Order{Model: "opus"},
			argv:    append(append([]string{"claude"}, flags...), "--model", "opus", "--effort", "high"),
			env:     base,
		},
		"by another path, through a proxy": {
			options: agent.Options{
				Command: "nice '/opt/my bin/claude'",
				Keys:    agent.Keys{AnthropicAPIKey: "dummy", ModelBaseURL: "http://127.0.0.1:1"},
				NeedKey: true,
			},
			argv: append([]string{"nice", "/opt/my bin/claude"}, flags...),
			env:  append([]string{"ANTHROPIC_API_KEY=dummy", "ANTHROPIC_BASE_URL=http://127.0.0.1:1"}, base...),
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			adapter, err := agent.Pick("claude", test.options)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.argv, adapter.Argv(test.order)); diff != "" {
				t.Errorf("argv (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.env, adapter.Env(test.order)); diff != "" {
				t.Errorf("env (-want +got):\n%s", diff)
			}
		})
	}
}

func TestClaudeLines(t *testing.T) {
	tests := map[string]struct {
		lines string
		want  []stream.Item
	}{
		"a sub-agent's words are not the agent's": {
			`{"type":"assistant","parent_tool_use_id":"t1","message":{"content":[{"type":"text","text":"<promise>COMPLETE</promise>"}]}}`,
			[]stream.Item{stream.Progress{Text: "<promise>COMPLETE</promise>"}},
		},
		"a sub-agent's tools are work": {
			`{"type":"assistant","parent_tool_use_id":"t1","message":{"content":[{"type":"tool_use","id":"t2","name":"Read","input":{"limit":3,"file_path":"a.go"}}]}}`,
			[]stream.Item{stream.ToolStart{ID: "t2", Name: "Read", Input: "a.go"}},
		},
		"the program's own messages are not the agent's": {
			`{"message":{"model":"<synthetic>","content":[{"type":"text","text":"API Error"}]},"type":"assistant"}`,
			[]stream.Item{stream.Progress{Text: "API Error"}},
		},
		"thinking says nothing": {
			`{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"<promise>COMPLETE</promise>"}]}}`, nil,
		},
		"a todo list is a list and no tool call": {
			`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t1","name":"TodoWrite","input":{"todos":[{"content":"read","status":"completed"},{"content":"edit","status":"in_progress"},{"content":"test","status":"pending"}]}}]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]}}`,
			[]stream.Item{stream.Todo{Tasks: []stream.Task{
				{Text: "read", State: stream.TaskDone},
				{Text: "edit", State: stream.TaskActive},
				{Text: "test", State: stream.TaskPending},
			}}},
		},
		"a tool answers in blocks": {
			`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"b"}]}]}}`,
			[]stream.Item{stream.ToolEnd{ID: "t1", Output: "a\nb", Failed: true}},
		},
		"an unknown tool shows its input": {
			`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t1","name":"New","input":{"n":  1}}]}}`,
			[]stream.Item{stream.ToolStart{ID: "t1", Name: "New", Input: `{"n": 1}`}},
		},
		"what is unknown passes": {
			`{"type":"telemetry","x":{}}
{"type":"system","subtype":"compact_boundary"}
{"type":"assistant","message":{"content":[{"type":"hologram"}],"new":1}}
{"type":7}`, nil,
		},
		"what is no JSON is shown": {
			"\n  npm warn\tdeprecated  \n{\"type\":\"assis",
			[]stream.Item{stream.Progress{Text: "npm warn deprecated"}, stream.Progress{Text: `{"type":"assis`}},
		},
		"a key of a wrong type costs only itself": {
			`{"type":"result","usage":"none","is_error":false,"result":"ok","total_cost_usd":"free"}`,
			[]stream.Item{stream.Result{Text: "ok"}},
		},
		"so does one in a message": {
			`{"type":"assistant","message":{"id":1,"usage":{"input_tokens":"many","output_tokens":2},"model":[],"content":["x",null,{"type":{}},{"type":"tool_use","id":"t1","name":"New","input":7},{"type":"text","text":"ok"}]}}
{"type":"assistant","message":{"usage":"none","content":{"type":"text"}}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","is_error":"yes","content":{"type":"text"}}]}}
{"type":"user","message":"hi"}`,
			[]stream.Item{
				stream.ToolStart{ID: "t1", Name: "New", Input: "7"},
				stream.Text{Text: "ok"},
				stream.Spent{Usage: stream.Usage{Output: 2}},
				stream.Spent{},
				stream.ToolEnd{ID: "t1"},
			},
		},
		"keys may be escaped, and the last of two counts": {
			`{"type":"assistant","message":{"content":"one","c\u006fntent":[{"type":"text","type":"text","text":"two","t\u0065xt":"thr\u0065e\n\ud83d"}]}}`,
			[]stream.Item{stream.Text{Text: "three\n\ufffd"}},
		},
		"the key that describes an input best is shown, wherever it stands": {
			`{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Bash","input":{"description":"why","command":"","cmd":"ls","path":"."}}]}}`,
			[]stream.Item{stream.ToolStart{Name: "Bash", Input: "ls"}},
		},
		"what is cached for an hour has its own price": {
			`{"type":"assistant","message":{"content":[],"usage":{"cache_creation_input_tokens":7,"cache_creation":{"ephemeral_1h_input_tokens":5}}}}`,
			[]stream.Item{stream.Spent{Usage: stream.Usage{CacheWrite: 7, CacheHour: 5}}},
		},
		"without sums by model the plain usage counts": {
			`{"type":"result","subtype":"success","result":"ok","total_cost_usd":0.5,"usage":{"input_tokens":1,"output_tokens":2,"cache_read_input_tokens":3,"cache_creation_input_tokens":4}}`,
			[]stream.Item{stream.Result{
				Text: "ok", Reason: "success",
				Usage: stream.Usage{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4},
				Cost:  stream.Cost{USD: 0.5, Known: true},
			}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, decode(t, "claude", test.lines)); diff != "" {
				t.Errorf("items (-want +got):\n%s", diff)
			}
		})
	}
}

// One message comes in as many lines as it has blocks, and each repeats its usage.
func TestClaudeCountsAMessageOnce(t *testing.T) {
	line := `{"type":"assistant","message":{"id":"m1","content":[],"usage":{"input_tokens":10}}}` + "\n"
	other := strings.ReplaceAll(line, "m1", "m2")
	adapter, err := agent.Pick("claude", agent.Options{})
	if err != nil {
		t.Fatal(err)
	}
	decoder := adapter.Decoder(agent.Order{})
	for l := range strings.Lines(line + other + line + other) {
		decoder.Line([]byte(l))
	}
	want := []stream.Item{stream.Result{Failed: true, Reason: "ended without a result", Usage: stream.Usage{Input: 20}}}
	if diff := cmp.Diff(want, decoder.End()); diff != "" {
		t.Errorf("End (-want +got):\n%s", diff)
	}
}

// A model's name may end in the length of its context, which has the same price.
func TestClaudePricesALongContext(t *testing.T) {
	for usd, prices := range map[float64]map[string]price.Rate{5: nil, 7: {"claude-opus-5[1m]": {Input: 7}}} {
		adapter, err := agent.Pick("claude", agent.Options{Prices: prices})
		if err != nil {
			t.Fatal(err)
		}
		decoder := adapter.Decoder(agent.Order{})
		decoder.Line([]byte(`{"type":"system","subtype":"init","model":"claude-opus-5[1m]"}`))
		items := decoder.Line([]byte(`{"type":"assistant","message":{"id":"m","content":[],"usage":{"input_tokens":1000000}}}`))
		want := []stream.Item{stream.Spent{Usage: stream.Usage{Input: 1e6}, Cost: stream.Cost{USD: usd, Known: true}}}
		if diff := cmp.Diff(want, items); diff != "" {
			t.Errorf("items (-want +got):\n%s", diff)
		}
	}
}

// A sub-agent's model may have another price. The session's own has the price of the name by which people choose it.
func TestClaudePricesASubAgentByItsModel(t *testing.T) {
	adapter, err := agent.Pick("claude", agent.Options{Prices: map[string]price.Rate{"ours": {Input: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	decoder := adapter.Decoder(agent.Order{})
	decoder.Line([]byte(`{"type":"system","subtype":"init","model":"ours"}`))
	for _, c := range []struct {
		parent, model string
		usd           float64
	}{
		{`null`, "served-as", 1}, {`"t"`, "served-as", 2}, {`"t"`, "claude-opus-5", 7}, {`"t"`, "<synthetic>", 8},
	} {
		items := decoder.Line(fmt.Appendf(nil, `{"type":"assistant","parent_tool_use_id":%s,"message":{"id":"m%g","model":%q,"usage":{"input_tokens":1000000}}}`, c.parent, c.usd, c.model))
		if spent, is := items[0].(stream.Spent); !is || spent.Cost != (stream.Cost{USD: c.usd, Known: true}) {
			t.Errorf("%s of %s: %+v, want $%g in all", c.model, c.parent, items, c.usd)
		}
	}
}

func decode(t *testing.T, name, text string) []stream.Item {
	t.Helper()
	adapter, err := agent.Pick(name, agent.Options{Script: "x", Command: "x", Keys: agent.Keys{ProviderAPIKey: "k"}})
	if err != nil {
		t.Fatal(err)
	}
	decoder := adapter.Decoder(agent.Order{})
	var items []stream.Item
	for line := range strings.Lines(text) {
		items = append(items, decoder.Line([]byte(strings.TrimSuffix(line, "\n")))...)
	}
	return items
}
