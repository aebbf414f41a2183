package agent_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/stream"
)

func TestOpencodeIsStartedAs(t *testing.T) {
	start := []string{"run", "--format", "json", "--auto", "--print-logs", "--log-level", "ERROR"}
	base := []string{"OPENCODE_DISABLE_PROJECT_CONFIG=1", "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1"}
	alone := with(base, `OPENCODE_CONFIG_CONTENT={"subagent_depth":0}`) // what sub-agents use is not reported
	all := agent.Keys{AnthropicAPIKey: "a", OpenAIAPIKey: "o", GeminiAPIKey: "g", AmpAPIKey: "not its own"}
	server := all
	server.ModelBaseURL = "http://127.0.0.1:1"
	counted := server
	counted.Bounded = true
	tests := map[string]struct {
		options agent.Options
		model   string
		argv    []string
		env     []string
		notes   []string
	}{
		"plain": {argv: with("opencode", start), env: alone},
		"with all keys": {
			options: agent.Options{NeedKey: true, Keys: all},
			argv:    with("opencode", start), env: with(alone, "ANTHROPIC_API_KEY=a", "GEMINI_API_KEY=g", "OPENAI_API_KEY=o"),
		},
		"with the key of its model's maker": {
			options: agent.Options{Keys: all}, model: "google/gemini-2.5-pro",
			argv: with("opencode", start, "-m", "google/gemini-2.5-pro"), env: with(alone, "GEMINI_API_KEY=g"),
		},
		"with a maker of whom no key is known": {
			options: agent.Options{Keys: all}, model: "groq/llama", argv: with("opencode", start, "-m", "groq/llama"), env: alone,
		},
		"as people call it, with a model of theirs": {
			options: agent.Options{Command: "/opt/opencode run", Args: []string{"-m", "openai/gpt-5-codex", "--format=json", "--variant", "high"}, Keys: all},
			model:   "anthropic/claude-opus-5",
			argv:    with("/opt/opencode", start, "-m", "openai/gpt-5-codex", "--variant", "high"), env: with(alone, "OPENAI_API_KEY=o"),
		},
		"asked for what cannot be": {
			options: agent.Options{Args: []string{"--format", "default", "--log-level=DEBUG"}}, argv: with("opencode", start), env: alone,
			notes: []string{"--format is always json: another value is ignored", "--log-level is always ERROR: another value is ignored"},
		},
		"at ralph's model server": {
			options: agent.Options{Keys: counted}, model: "anthropic/claude-sonnet-4-6", argv: with("opencode", start, "-m", "anthropic/claude-sonnet-4-6"),
			env: with(base, "OPENCODE_DISABLE_MODELS_FETCH=1", `OPENCODE_CONFIG_CONTENT={"autoupdate":false,"provider":{"anthropic":{"models":{"claude-sonnet-4-6":{}},`+
				`"options":{"apiKey":"{env:ANTHROPIC_API_KEY}","baseURL":"http://127.0.0.1:1/v1"}}},"share":"disabled","small_model":"anthropic/claude-sonnet-4-6"}`,
				"ANTHROPIC_API_KEY=a"),
		},
		"at an unknown model server": {
			options: agent.Options{Keys: server}, model: "llama", argv: with("opencode", start, "-m", "ralph/llama"),
			env: with(base, "OPENCODE_DISABLE_MODELS_FETCH=1", `OPENCODE_CONFIG_CONTENT={"autoupdate":false,"provider":{"ralph":{"models":{"llama":{}},`+
				`"npm":"@ai-sdk/openai-compatible","options":{"apiKey":"{env:OPENAI_API_KEY}","baseURL":"http://127.0.0.1:1/v1"}}},"share":"disabled","small_model":"ralph/llama","subagent_depth":0}`,
				"OPENAI_API_KEY=o"),
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			adapter, err := agent.Pick("opencode", test.options)
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

func TestOpencodeWithoutAKey(t *testing.T) {
	_, err := agent.Pick("opencode", agent.Options{NeedKey: true, Keys: agent.Keys{AmpAPIKey: "k"}})
	if hint := fault.Hint(err); fault.Exit(err) != fault.ExitUsage || !strings.Contains(hint, "openai-api-key") {
		t.Errorf("Pick = %v, hint %q, want the inputs named", err, hint)
	}
}

// It has no line for its end, so each of these is a whole run.
func TestOpencodeRuns(t *testing.T) {
	const (
		start = `{"type":"step_start","part":{"type":"step-start"}}` + "\n"
		tools = `{"type":"step_finish","part":{"reason":"tool-calls","tokens":{"input":10,"output":5,"reasoning":2,"cache":{"write":3,"read":4}},"cost":0.25}}` + "\n"
		stop  = `{"type":"step_finish","part":{"reason":"stop","tokens":{"input":1,"output":1,"cache":{}},"cost":0.5}}` + "\n"
		fails = `{"type":"error","error":{"name":"APIError","data":{"message":"no","statusCode":429,"responseHeaders":{"retry-after":"7"}}}}` + "\n"
	)
	one := stream.Usage{Input: 10, Output: 7, CacheRead: 4, CacheWrite: 3}
	two := one.Plus(stream.Usage{Input: 1, Output: 1})
	quarter, whole := stream.Cost{USD: 0.25, Known: true}, stream.Cost{USD: 0.75, Known: true}
	tests := map[string]struct {
		lines string
		model string
		want  []stream.Item
	}{
		"each step at its own cost": {start + tools + start + stop, "", []stream.Item{
			stream.Spent{Usage: one, Cost: quarter},
			stream.Spent{Usage: two, Cost: whole},
			stream.Result{Reason: "stop", Usage: two, Cost: whole},
		}},
		"killed after a tool": {start + tools, "", []stream.Item{
			stream.Spent{Usage: one, Cost: quarter},
			stream.Result{Failed: true, Reason: "ended without a result", Usage: one, Cost: quarter},
		}},
		"killed in its next step": {stop + start, "", []stream.Item{
			stream.Spent{Usage: stream.Usage{Input: 1, Output: 1}, Cost: stream.Cost{USD: 0.5, Known: true}},
			stream.Result{Failed: true, Reason: "ended without a result", Usage: stream.Usage{Input: 1, Output: 1}, Cost: stream.Cost{USD: 0.5, Known: true}},
		}},
		"cut off by its model": {`{"type":"step_finish","part":{"reason":"length"}}`, "", []stream.Item{
			stream.Result{Failed: true, Reason: "length"},
		}},
		"an error ends it": {start + fails, "", []stream.Item{
			stream.Result{Failed: true, Reason: "APIError", Text: "no", Status: 429, After: 7 * time.Second},
		}},
		"an error that was got over": {fails + start + stop, "", []stream.Item{
			stream.Spent{Usage: stream.Usage{Input: 1, Output: 1}, Cost: stream.Cost{USD: 0.5, Known: true}},
			stream.Result{Reason: "stop", Usage: stream.Usage{Input: 1, Output: 1}, Cost: stream.Cost{USD: 0.5, Known: true}},
		}},
		"no cost of its own, but a price": {
			`{"type":"step_finish","part":{"reason":"stop","tokens":{"input":1000000},"cost":0}}`, "anthropic/claude-sonnet-4-6", []stream.Item{
				stream.Spent{Usage: stream.Usage{Input: 1e6}, Cost: stream.Cost{USD: 3, Known: true}},
				stream.Result{Reason: "stop", Usage: stream.Usage{Input: 1e6}, Cost: stream.Cost{USD: 3, Known: true}},
			},
		},
		"a price that someone lowered": {
			`{"type":"step_finish","part":{"reason":"stop","tokens":{"input":1000000},"cost":0.1}}`, "anthropic/claude-sonnet-4-6", []stream.Item{
				stream.Spent{Usage: stream.Usage{Input: 1e6}, Cost: stream.Cost{USD: 3, Known: true}},
				stream.Result{Reason: "stop", Usage: stream.Usage{Input: 1e6}, Cost: stream.Cost{USD: 3, Known: true}},
			},
		},
		"a cost of some steps": {
			start + stop + strings.Replace(stop, `"cost":0.5`, `"cost":0`, 1), "anthropic/claude-sonnet-4-6", []stream.Item{
				stream.Spent{Usage: stream.Usage{Input: 1, Output: 1}, Cost: stream.Cost{USD: 0.5, Known: true}},
				stream.Spent{Usage: stream.Usage{Input: 2, Output: 2}, Cost: stream.Cost{USD: 0.500018, Known: true}},
				stream.Result{Reason: "stop", Usage: stream.Usage{Input: 2, Output: 2}, Cost: stream.Cost{USD: 0.500018, Known: true}},
			},
		},
		"a tool, a failed one, and none": {
			`{"type":"tool_use","part":{"tool":"bash","callID":"a","state":{"status":"completed","input":{"command":"false"},"output":"","metadata":{"exit":1}}}}
{"type":"tool_use","part":{"tool":"edit","callID":"b","state":{"status":"error","input":{"filePath":"x.go"},"error":"not found"}}}
{"type":"tool_use","part":{"tool":"todowrite","callID":"c","state":{"input":{"todos":[{"content":"edit","status":"completed"}]}}}}
{"type":"text","part":{"text":"Done."}}
{"type":"later"}
Error: no`, "", []stream.Item{
				stream.ToolStart{ID: "a", Name: "bash", Input: "false"},
				stream.ToolEnd{ID: "a", Failed: true},
				stream.ToolStart{ID: "b", Name: "edit", Input: "x.go"},
				stream.ToolEnd{ID: "b", Output: "not found", Failed: true},
				stream.Todo{Tasks: []stream.Task{{Text: "edit", State: stream.TaskDone}}},
				stream.Text{Text: "Done."},
				stream.Progress{Text: "Error: no"},
				stream.Result{Failed: true, Reason: "ended without a result"},
			},
		},
		"silence": {"", "", nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			adapter, err := agent.Pick("opencode", agent.Options{})
			if err != nil {
				t.Fatal(err)
			}
			decoder := adapter.Decoder(agent.Order{Model: test.model})
			var items []stream.Item
			for line := range strings.Lines(test.lines) {
				items = append(items, decoder.Line([]byte(strings.TrimSuffix(line, "\n")))...)
			}
			if diff := cmp.Diff(test.want, append(items, decoder.End()...)); diff != "" {
				t.Errorf("items (-want +got):\n%s", diff)
			}
		})
	}
}

// The server of the user's own settings is adopted with the key that the
// environment holds for it, or without one. A key in the settings stays there.
func TestOpencodeAdopts(t *testing.T) {
	const own = `{"model":"anthropic/claude-x","provider":{
		"anthropic":{"options":{"baseURL":"https://gateway.example/v1"}},
		"ollama":{"npm":"@ai-sdk/openai-compatible","options":{"baseURL":"http://localhost:11434/v1"}},
		"keyed":{"npm":"@ai-sdk/openai-compatible","options":{"baseURL":"https://keyed.example/v1","apiKey":"[REDACTED]"}},
		"odd":{"npm":"@ai-sdk/azure","options":{"baseURL":"https://odd.example"}}}}`
	keys := agent.Keys{AnthropicAPIKey: "ant"}
	gateway := agent.UserSettings{Model: "anthropic/claude-x", Keys: agent.Keys{AnthropicAPIKey: "ant", ModelBaseURL: "https://gateway.example/v1"}}
	for _, test := range []struct {
		name, printed, model string
		keys                 agent.Keys
		want                 agent.UserSettings
	}{
		{"the model of the settings", own, "", keys, gateway},
		{"a maker without a key", own, "", agent.Keys{}, agent.UserSettings{Model: "anthropic/claude-x", Server: "https://gateway.example/v1"}},
		{"another model", own, "openai/x", keys, agent.UserSettings{Model: "openai/x", Keys: keys}},
		{"a server without a key", own, "ollama/x", keys, agent.UserSettings{Model: "ollama/x", Keys: agent.Keys{
			AnthropicAPIKey: "ant", OpenAIAPIKey: "none", ModelBaseURL: "http://localhost:11434/v1",
		}}},
		{"a server with a key", own, "keyed/x", keys, agent.UserSettings{Model: "keyed/x", Server: "https://keyed.example/v1"}},
		{"another API", own, "odd/x", keys, agent.UserSettings{Model: "odd/x", Server: "https://odd.example"}},
		{"no settings", `{}`, "", keys, agent.UserSettings{Keys: keys}},
		{"no JSON", "opencode: unknown command", "anthropic/claude-x", keys, agent.UserSettings{Keys: keys}},
	} {
		adapter, err := agent.Pick("opencode", agent.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, adapter.ReadSettings([]byte(test.printed), test.keys, test.model)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}
