package agent_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/price"
	"github.com/ralph-loop/ralph/internal/stream"
)

func TestGeminiIsStartedAs(t *testing.T) {
	start := []string{"--yolo", "--skip-trust", "-o", "stream-json"}
	server := agent.Keys{GeminiAPIKey: "k", ModelBaseURL: "http://127.0.0.1:1"}
	tests := map[string]struct {
		options agent.Options
		order   agent.Order
		argv    []string
		env     []string
		notes   []string
		home    bool
	}{
		"plain": {argv: with("gemini", start)},
		"with a key, a model and flags": {
			options: agent.Options{
				NeedKey: true, Args: []string{"--include-directories", "../docs"},
				Keys: agent.Keys{GeminiAPIKey: "k", AnthropicAPIKey: "not its own"},
			},
			order: agent.Order{Model: "gemini-2.5-pro"},
			argv:  with("gemini", start, "-m", "gemini-2.5-pro", "--include-directories", "../docs"),
			env:   []string{"GEMINI_API_KEY=k"},
		},
		"with a model of the user's": {
			options: agent.Options{Command: "/opt/gemini --model=mine"}, order: agent.Order{Model: "gemini-2.5-pro"},
			argv: with("/opt/gemini", "--model=mine", start),
		},
		"with everything twice": {
			options: agent.Options{Command: "gemini -y", Args: []string{"--approval-mode=yolo", "--skip-trust", "-o", "stream-json"}},
			argv:    with("gemini", start),
		},
		"asked for what cannot be": {
			options: agent.Options{Args: []string{"--approval-mode", "plan", "--output-format", "text"}},
			argv:    with("gemini", start),
			notes: []string{
				"--approval-mode is always yolo: another value is ignored",
				"--output-format is always stream-json: another value is ignored",
			},
		},
		"at a model server": {
			options: agent.Options{NeedKey: true, Keys: server}, order: agent.Order{Home: "/tmp/home"},
			argv: with("gemini", start), home: true,
			env: []string{"GEMINI_API_KEY=k", "GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:1", "GEMINI_CLI_HOME=/tmp/home"},
		},
		"at a model server, on a laptop": {
			options: agent.Options{Keys: server}, order: agent.Order{Home: "/tmp/home"},
			argv: with("gemini", start), home: true,
			env: []string{"GEMINI_API_KEY=k", "GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:1", "GEMINI_CLI_HOME=/tmp/home"},
			notes: []string{"with another model server gemini runs in its own home, without your ~/.gemini; " +
				`"security": {"auth": {"selectedType": "gemini-api-key"}} in its settings.json keeps yours`},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			adapter, err := agent.Pick("gemini", test.options)
			if err != nil {
				t.Fatal(err)
			}
			test.order.Prompt = "work"
			if diff := cmp.Diff(test.argv, adapter.Argv(test.order)); diff != "" {
				t.Errorf("argv (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.env, adapter.Env(test.order)); diff != "" {
				t.Errorf("env (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.notes, adapter.Notes); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
			if setting := adapter.Home[".gemini/settings.json"]; strings.Contains(setting, "gemini-api-key") != test.home {
				t.Errorf("settings = %q, want some: %v", setting, test.home)
			}
		})
	}
}

func TestGeminiWithoutAKey(t *testing.T) {
	_, err := agent.Pick("gemini", agent.Options{NeedKey: true, Keys: agent.Keys{OpenAIAPIKey: "k"}})
	if hint := fault.Hint(err); fault.Exit(err) != fault.ExitUsage || !strings.Contains(hint, "gemini-api-key") {
		t.Errorf("Pick = %v, hint %q, want the input named", err, hint)
	}
}

func TestGeminiLines(t *testing.T) {
	tests := map[string]struct {
		lines string
		want  []stream.Item
	}{
		"a message in pieces is one": {
			`{"type":"init","model":"gemini-2.5-pro"}
{"type":"message","role":"user","content":"<promise>COMPLETE</promise>"}
{"type":"message","role":"assistant","content":"I look.\n<prom","delta":true}
{"type":"message","role":"assistant","content":"ise>A</promise>","delta":true}
{"type":"tool_use","tool_name":"run_shell_command","tool_id":"t","parameters":{"command":"ls","description":"list"}}
{"type":"tool_result","tool_id":"t","status":"success","output":"a.go"}`,
			[]stream.Item{
				stream.Progress{Text: "model gemini-2.5-pro"},
				stream.Text{Text: "I look.\n<promise>A</promise>"},
				stream.ToolStart{ID: "t", Name: "run_shell_command", Input: "ls"},
				stream.ToolEnd{ID: "t", Output: "a.go"},
			},
		},
		"a tool that failed": {
			`{"type":"tool_result","tool_id":"t","status":"error","error":{"type":"file_not_found","message":"no such file"}}`,
			[]stream.Item{stream.ToolEnd{ID: "t", Output: "no such file", Failed: true}},
		},
		"a todo list is no tool": {
			`{"type":"tool_use","tool_name":"write_todos","tool_id":"t","parameters":{"todos":[{"description":"edit","status":"in_progress"},{"description":"drop","status":"cancelled"}]}}
{"type":"tool_result","tool_id":"t","status":"success"}`,
			[]stream.Item{stream.Todo{Tasks: []stream.Task{{Text: "edit", State: stream.TaskActive}, {Text: "drop", State: stream.TaskPending}}}},
		},
		"cost by model, thoughts as output": {
			`{"type":"result","status":"success","stats":{"total_tokens":3000,"input_tokens":2600,"output_tokens":300,"cached":1000,"input":1600,
"models":{"gemini-2.5-pro":{"total_tokens":2000,"input_tokens":1700,"output_tokens":200,"cached":700},"gemini-2.5-flash":{"total_tokens":1000,"input_tokens":900,"output_tokens":100,"cached":300},"gemini-9":{}}}}`,
			[]stream.Item{stream.Result{
				Reason: "success", Usage: stream.Usage{Input: 1600, Output: 400, CacheRead: 1000},
				Cost: stream.Cost{Known: true, USD: (1000*1.25 + 300*10 + 700*0.125 + 600*0.30 + 100*2.50 + 300*0.03) / 1e6},
			}},
		},
		"one price unknown, none known": {
			`{"type":"result","status":"success","stats":{"total_tokens":2,"input_tokens":1,"output_tokens":1,"models":{"gemini-2.5-pro":{"input_tokens":1},"mock":{"output_tokens":1}}}}`,
			[]stream.Item{stream.Result{Reason: "success", Usage: stream.Usage{Input: 1, Output: 1}, Cost: stream.Cost{USD: 1.25e-6}, Boundless: true}},
		},
		"a limit that says when it ends": {
			`{"type":"result","status":"error","error":{"type":"unknown","message":"[API Error: {\"error\":{\"code\":429,\"details\":[{\"retryDelay\":\"34.5s\"}]}}]"}}`,
			[]stream.Item{stream.Result{
				Failed: true, Reason: "error", Status: 429, After: 34*time.Second + 500*time.Millisecond,
				Text: `[API Error: {"error":{"code":429,"details":[{"retryDelay":"34.5s"}]}}]`,
			}},
		},
		"a key that is none": {
			`{"type":"result","status":"error","error":{"message":"[API Error: {\"error\":{\"code\":400,\"message\":\"API key not valid. Please pass a valid API key.\"}}]"}}`,
			[]stream.Item{stream.Result{
				Failed: true, Reason: "error", Status: 401, Text: `[API Error: {"error":{"code":400,"message":"API key not valid. Please pass a valid API key."}}]`,
			}},
		},
		"a status by its name": {
			`{"type":"result","status":"error","error":{"message":"[API Error: The model is overloaded. (Status: UNAVAILABLE)]"}}`,
			[]stream.Item{stream.Result{Failed: true, Reason: "error", Status: 503, Text: "[API Error: The model is overloaded. (Status: UNAVAILABLE)]"}},
		},
		"an error of its own": {
			`{"type":"result","status":"error","error":{"type":"FatalTurnLimitedError","message":"Reached max session turns (Status: UNAVAILABLE)]"}}`,
			[]stream.Item{stream.Result{Failed: true, Reason: "error", Text: "Reached max session turns (Status: UNAVAILABLE)]"}},
		},
		"a warning": {
			`{"type":"error","severity":"warning","message":"Loop detected, stopping execution"}`,
			[]stream.Item{stream.Progress{Text: "Loop detected, stopping execution"}},
		},
		"what is unknown passes":   {`{"type":"later","new":1}` + "\n" + `{"type":7}`, nil},
		"what is no JSON is shown": {"Error: no", []stream.Item{stream.Progress{Text: "Error: no"}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			lines := strings.ReplaceAll(test.lines, ",\n\"models\"", `,"models"`)
			if diff := cmp.Diff(test.want, decode(t, "gemini", lines), nearly); diff != "" {
				t.Errorf("items (-want +got):\n%s", diff)
			}
		})
	}
}

// nearly compares dollars, whose sum depends on the order.
var nearly = cmp.Comparer(func(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 })

// A message that never ends is not kept for ever, nor are its lines cut.
func TestGeminiHoldsNoEndlessMessage(t *testing.T) {
	adapter, err := agent.Pick("gemini", agent.Options{})
	if err != nil {
		t.Fatal(err)
	}
	decoder := adapter.Decoder(agent.Order{})
	piece := []byte(`{"type":"message","role":"assistant","content":"` + strings.Repeat("x", 1023) + `\n","delta":true}`)
	held, said := 0, 0
	for range 5000 {
		held += 1024
		for _, item := range decoder.Line(piece) {
			text := item.(stream.Text).Text
			if len(text)%1024 != 1023 {
				t.Fatalf("a text of %d bytes cuts a line", len(text))
			}
			held, said = 0, said+len(text)+1
		}
		if held > 1<<20 {
			t.Fatalf("%d bytes are held", held)
		}
	}
	for _, item := range decoder.End() {
		if text, is := item.(stream.Text); is {
			said += len(text.Text)
		}
	}
	if said != 5000*1024 {
		t.Errorf("%d bytes were said of %d", said, 5000*1024)
	}
}

func TestGeminiKilled(t *testing.T) {
	adapter, err := agent.Pick("gemini", agent.Options{})
	if err != nil {
		t.Fatal(err)
	}
	decoder := adapter.Decoder(agent.Order{})
	if got := decoder.End(); got != nil {
		t.Errorf("End of silence = %v, want nothing", got)
	}
	decoder.Line([]byte(`{"type":"message","role":"assistant","content":"I am","delta":true}`))
	want := []stream.Item{stream.Text{Text: "I am"}, stream.Result{Failed: true, Reason: "ended without a result"}}
	if diff := cmp.Diff(want, decoder.End()); diff != "" {
		t.Errorf("End (-want +got):\n%s", diff)
	}
}

func TestWaitsAmongErrors(t *testing.T) {
	tests := map[string]struct {
		agent, line string
		want        stream.Item
	}{
		"gemini, with a status": {
			"gemini", "Attempt 2 failed with status 503. Retrying with backoff... _ApiError: {}",
			stream.Retry{Reason: "no answer from the model", Status: 503, Attempt: 2},
		},
		"gemini, a limit": {
			"gemini", "Attempt 1 failed with 429 error (no Retry-After header). Retrying with backoff...",
			stream.Retry{Reason: "no answer from the model", Status: 429, Attempt: 1},
		},
		"gemini, without one": {
			"gemini", "Attempt 1 failed. Retrying with backoff... Error: fetch failed",
			stream.Retry{Reason: "no answer from the model", Attempt: 1},
		},
		"gemini, of something else": {"gemini", "Attempt 1 failed with status 500: gave up", nil},
		"opencode": {
			"opencode", `timestamp=t level=ERROR run=d message="stream error" providerID=r session.id=s small=false agent=build error.error="AI_APICallError: mock error 429"`,
			stream.Retry{Reason: "AI_APICallError: mock error 429"},
		},
		"opencode, of the title": {
			"opencode", `timestamp=t level=ERROR run=d message="stream error" providerID=r session.id=s small=true agent=title error.error="AI_RetryError: no"`, nil,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			adapter, err := agent.Pick(test.agent, agent.Options{})
			if err != nil {
				t.Fatal(err)
			}
			got, is := adapter.ParseStderr(test.line)
			if diff := cmp.Diff(test.want, got); diff != "" || is != (test.want != nil) {
				t.Errorf("Complaint = %v (-want +got):\n%s", is, diff)
			}
		})
	}
}

func TestGeminiAtThePayersPrice(t *testing.T) {
	adapter, err := agent.Pick("gemini", agent.Options{Prices: map[string]price.Rate{"mock": {Input: 2}}})
	if err != nil {
		t.Fatal(err)
	}
	got := adapter.Decoder(agent.Order{}).Line([]byte(`{"type":"result","status":"success","stats":{"input_tokens":500000,"models":{"mock":{"input_tokens":500000}}}}`))
	want := []stream.Item{stream.Result{Reason: "success", Usage: stream.Usage{Input: 500000}, Cost: stream.Cost{USD: 1, Known: true}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("items (-want +got):\n%s", diff)
	}
}
