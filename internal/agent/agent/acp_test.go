package agent_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/agent/mcp"
	"github.com/ralph-loop/ralph/internal/core/stream"
	"github.com/ralph-loop/ralph/internal/testsupport/agenttest"
)

func TestACPAgentsAreStartedAs(t *testing.T) {
	provider := agent.Keys{ProviderAPIKey: "p", ModelBaseURL: "http://127.0.0.1:1", AnthropicAPIKey: "not its own"}
	typed := provider
	typed.ProviderType = "anthropic"
	counted := agent.Keys{AnthropicAPIKey: "a", ModelBaseURL: "http://127.0.0.1:1", Bounded: true}
	opencode := []string{"OPENCODE_DISABLE_PROJECT_CONFIG=1", "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1"}
	for name, test := range map[string]struct {
		agent, model string
		options      agent.Options
		argv         string
		env          []string
		notes        []string
	}{
		"gemini": {
			agent: "gemini", model: "gemini-2.5-pro", argv: "gemini --acp --yolo --skip-trust -m gemini-2.5-pro",
			options: agent.Options{Keys: agent.Keys{GeminiAPIKey: "k", AnthropicAPIKey: "not its own"}}, env: []string{"GEMINI_API_KEY=k"},
		},
		"gemini with everything twice, and a model of the user's": {
			agent: "gemini", model: "gemini-2.5-pro", argv: "/opt/gemini --model=mine --acp --yolo --skip-trust",
			options: agent.Options{Command: "/opt/gemini -y --model=mine", Args: []string{"--approval-mode=plan", "--skip-trust"}},
			notes:   []string{"--approval-mode is always yolo: another value is ignored"},
		},
		"copilot by its login": {
			agent: "copilot", model: "gpt-5", argv: "copilot --acp --allow-all --no-ask-user --no-auto-update",
			options: agent.Options{Keys: agent.Keys{ProviderAPIKey: "of another day"}}, env: []string{"COPILOT_MODEL=gpt-5"},
		},
		"copilot at a model server": {
			agent: "copilot", model: "m", argv: "copilot --acp --allow-all --no-ask-user --no-auto-update", options: agent.Options{Keys: provider},
			env: []string{"COPILOT_MODEL=m", "COPILOT_OFFLINE=true", "COPILOT_PROVIDER_BASE_URL=http://127.0.0.1:1/v1", "COPILOT_PROVIDER_API_KEY=p"},
		},
		"copilot at one of another kind": {
			agent: "copilot", argv: "copilot --acp --allow-all --no-ask-user --no-auto-update", options: agent.Options{Keys: typed},
			env: []string{
				"COPILOT_OFFLINE=true", "COPILOT_PROVIDER_BASE_URL=http://127.0.0.1:1", "COPILOT_PROVIDER_TYPE=anthropic", "COPILOT_PROVIDER_API_KEY=p",
			},
		},
		"qwen": {
			agent: "qwen", model: "m", argv: "qwen --acp --yolo -m m", options: agent.Options{Keys: provider},
			env: []string{"OPENAI_API_KEY=p", "OPENAI_BASE_URL=http://127.0.0.1:1/v1", "OPENAI_MODEL=m"},
		},
		"opencode": {
			agent: "opencode", argv: "opencode acp",
			env: with(opencode, `OPENCODE_CONFIG_CONTENT={"permission":"allow"}`),
		},
		"opencode with a model of the user's": {
			agent: "opencode", model: "anthropic/claude-opus-5", argv: "/opt/opencode acp",
			options: agent.Options{Command: "/opt/opencode acp", Args: []string{"-m", "openai/gpt-5"}, Keys: agent.Keys{OpenAIAPIKey: "o", AnthropicAPIKey: "a"}},
			env:     with(opencode, `OPENCODE_CONFIG_CONTENT={"model":"openai/gpt-5","permission":"allow"}`, "OPENAI_API_KEY=o"),
		},
		"opencode at ralph's model server": {
			agent: "opencode", model: "anthropic/claude-sonnet-4-6", argv: "opencode acp", options: agent.Options{Keys: counted},
			env: with(opencode, "OPENCODE_DISABLE_MODELS_FETCH=1", `OPENCODE_CONFIG_CONTENT={"autoupdate":false,"model":"anthropic/claude-sonnet-4-6",`+
				`"permission":"allow","provider":{"anthropic":{"models":{"claude-sonnet-4-6":{}},"options":{"apiKey":"{env:ANTHROPIC_API_KEY}",`+
				`"baseURL":"http://127.0.0.1:1/v1"}}},"share":"disabled","small_model":"anthropic/claude-sonnet-4-6"}`, "ANTHROPIC_API_KEY=a"),
		},
		"opencode at an unknown model server": {
			agent: "opencode", model: "llama", argv: "opencode acp",
			options: agent.Options{Keys: agent.Keys{OpenAIAPIKey: "o", ModelBaseURL: "http://127.0.0.1:1", Bounded: true}},
			env: with(opencode, "OPENCODE_DISABLE_MODELS_FETCH=1", `OPENCODE_CONFIG_CONTENT={"autoupdate":false,"model":"ralph/llama","permission":"allow",`+
				`"provider":{"ralph":{"models":{"llama":{}},"npm":"@ai-sdk/openai-compatible","options":{"apiKey":"{env:OPENAI_API_KEY}",`+
				`"baseURL":"http://127.0.0.1:1/v1"}}},"share":"disabled","small_model":"ralph/llama"}`, "OPENAI_API_KEY=o"),
		},
		"any other": {
			agent: "acp", model: "m", argv: "my-agent serve --fast", options: agent.Options{Command: "my-agent serve", Args: []string{"--fast"}, Keys: provider},
			env: []string{"ANTHROPIC_API_KEY=not its own", "ANTHROPIC_BASE_URL=http://127.0.0.1:1", "PROVIDER_API_KEY=p", "RALPH_MODEL=m"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			adapter, err := agent.Pick(test.agent, test.options)
			if err != nil {
				t.Fatal(err)
			}
			order := agent.Order{Model: test.model, Prompt: "work"}
			if got := strings.Join(adapter.Argv(order), " "); got != test.argv {
				t.Errorf("argv = %s, want %s", got, test.argv)
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

// talker is a program that speaks the protocol as far as a test needs it. It prints 5000 words one by one, asks for
// permission, and stays when its turn is over.
func talker() int {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	say := func(text string, args ...any) { fmt.Printf(text+"\n", args...) }
	update := func(text string, args ...any) {
		say(`{"jsonrpc":"2.0","method":"session/update","params":{"update":%s}}`, fmt.Sprintf(text, args...))
	}
	for lines.Scan() {
		var asked struct {
			ID     json.RawMessage
			Method string
			Params struct {
				Prompt  []struct{ Text string }
				Servers []mcp.ACPServer `json:"mcpServers"`
			}
			Result struct{ Outcome struct{ OptionID string } }
		}
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			return 1
		}
		switch asked.Method {
		case "initialize":
			say(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":1}}`, asked.ID)
		case "session/new":
			update(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"server %s "}}`, asked.Params.Servers[0].Name)
			say(`{"jsonrpc":"2.0","id":%s,"result":{"sessionId":"s"}}`, asked.ID)
		case "session/prompt":
			for range 5000 {
				update(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"word "}}`)
			}
			update(`{"sessionUpdate":"plan","entries":[{"content":"edit","status":"in_progress"}]}`)
			update(`{"sessionUpdate":"tool_call","toolCallId":"c","kind":"edit","title":%q,"status":"pending"}`, strings.TrimSpace(asked.Params.Prompt[0].Text))
			say(`{"jsonrpc":"2.0","id":"p","method":"session/request_permission","params":{"options":[{"optionId":"no","kind":"reject_once"},{"optionId":"yes","kind":"allow_once"}]}}`)
		case "": // the answer
			update(`{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed","content":[{"content":{"text":%q}}]}`, asked.Result.Outcome.OptionID)
			update(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"<response>DO"}}`)
			update(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"NE</response>"}}`)
			say(`{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn","usage":{"totalTokens":12,"outputTokens":2}}}`)
			<-time.NewTimer(time.Hour).C // no end of its stdin ends it
		}
	}
	return 0
}

func TestAnyACPAgentWorks(t *testing.T) {
	s := agenttest.New(t, "acp", agent.Options{Command: agenttest.Self(t, "talker"), Servers: mcp.Servers{"docs": {Command: "x"}}})
	work := order
	work.Model = "m"
	got, err := s.Do(t.Context(), work)
	if err != nil || got.Failed || got.Response != "DONE" || got.Tools != 1 || got.Usage != (stream.Usage{Input: 10, Output: 2}) {
		t.Errorf("Do = %+v, %v", got, err)
	}
	want := []stream.Item{
		stream.Text{Text: "server docs " + strings.Repeat("word ", 5000)},
		stream.Todo{Tasks: []stream.Task{{Text: "edit", State: stream.TaskActive}}},
		stream.ToolStart{ID: "c", Name: "edit", Input: "do it"},
		stream.ToolEnd{ID: "c", Output: "yes"},
		stream.Text{Text: "<response>DONE</response>"},
	}
	if diff := cmp.Diff(want, s.Items[:min(5, len(s.Items))]); diff != "" {
		t.Errorf("items (-want +got):\n%s", diff)
	}
}

// A program that reports the errors of its provider as words, or in no way, has failed.
func TestACPAgentsHideNoError(t *testing.T) {
	for name, status := range map[string]int{"answered": 200, "busy": 529, "refused": 403} {
		s := agenttest.New(t, "acp", agent.Options{Command: agenttest.Self(t, "talker"), Servers: mcp.Servers{"docs": {Command: "x"}}})
		s.Upstream = func() int { return status }
		work := order
		work.Model = "m"
		got, err := s.Do(t.Context(), work)
		if err != nil || got.Failed != (status > 200) || got.Busy != (status == 529) || (got.Denied == stream.NoAccess) != (status == 403) {
			t.Errorf("%s: Do = %+v, %v", name, got, err)
		}
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
