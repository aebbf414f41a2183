package driver_test

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/agent/driver"
	"github.com/ralph-loop/ralph/internal/process"
	"github.com/ralph-loop/ralph/internal/redact"
)

// Whether the model's server turned an agent away is told by what its program
// reports of the call, and by nothing that the agent says.
func TestTurnedAway(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	const (
		claudeFailed = `{"type":"result","subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":`
	)
	for name, test := range map[string]struct {
		agent, prints string
		busy, denied  bool
		until         time.Time
	}{
		"claude, rate limit":    {agent: "claude", prints: claudeFailed + `429}`, busy: true},
		"claude, overload":      {agent: "claude", prints: claudeFailed + `529}`, busy: true},
		"claude, server error":  {agent: "claude", prints: claudeFailed + `500}`, busy: true},
		"claude, a bad request": {agent: "claude", prints: claudeFailed + `400}`},
		"claude, no such model": {agent: "claude", prints: claudeFailed + `404}`, denied: true},
		"claude, a refused key": {agent: "claude", prints: claudeFailed + `401}`, denied: true},
		"claude, a login's limit": {
			agent: "claude", busy: true, until: now.Add(time.Hour),
			prints: `{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1795179600}}` + "\n" + claudeFailed + `0}`,
		},
		"claude, a limit in milliseconds": {
			agent: "claude", busy: true, until: now.Add(time.Hour),
			prints: `{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1795179600000}}` + "\n" + claudeFailed + `429}`,
		},
		"claude, a limit until no date": {
			agent: "claude", busy: true,
			prints: `{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":9000000000000000000}}` + "\n" + claudeFailed + `429}`,
		},
		"claude, a limit that is near": {
			agent:  "claude",
			prints: `{"type":"rate_limit_event","rate_limit_info":{"status":"allowed_warning","resetsAt":1795179600}}` + "\n" + claudeFailed + `0}`,
		},
		"claude, done although rejected before": {
			agent: "claude",
			prints: `{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1795179600}}` + "\n" +
				`{"type":"result","subtype":"success","is_error":false,"result":"ok"}`,
		},
		"claude, words of rate limits": {
			agent: "claude",
			prints: `{"type":"assistant","message":{"content":[{"type":"text","text":"429 Too Many Requests: rate limit, usage limit reached"}]}}` + "\n" +
				`{"type":"result","subtype":"error_max_turns","is_error":true,"terminal_reason":"max_turns","result":"429 rate limit exceeded"}`,
		},
		"codex, rate limit":  {agent: "codex", prints: `{"type":"turn.failed","error":{"message":"exceeded retry limit, last status: 429 Too Many Requests"}}`, busy: true},
		"codex, high demand": {agent: "codex", prints: `{"type":"turn.failed","error":{"message":"We’re currently experiencing high demand, which may cause temporary errors."}}`, busy: true},
		"codex, usage limit until later today": {
			agent: "codex", busy: true, until: now.Add(2*time.Hour + time.Minute),
			prints: `{"type":"turn.failed","error":{"message":"You’ve hit your usage limit. Try again at ` + now.Add(2*time.Hour).Local().Format("3:04 PM") + `."}}`,
		},
		"codex, usage limit until a day": {
			agent: "codex", busy: true, until: time.Date(2026, 11, 23, 7, 36, 0, 0, time.Local),
			prints: `{"type":"turn.failed","error":{"message":"You’ve hit your usage limit. To get more access now, send a request to your admin or try again at Nov 23rd, 2026 7:35 AM."}}`,
		},
		"opencode, an empty account": {
			agent: "opencode", denied: true,
			prints: `{"type":"error","error":{"name":"APIError","data":{"statusCode":429,"message":"You exceeded your current quota, please check your plan and billing details. For more information on this error, read the docs: https://platform.openai.com/docs/guides/error-codes/api-errors."}}}`,
		},
		"gemini, a limit in the words of an empty account": {
			agent: "gemini", busy: true,
			prints: `{"type":"result","status":"error","error":{"message":"[API Error: {\"error\":{\"code\":429,\"message\":\"You exceeded your current quota, please check your plan and billing details. For more information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits.\",\"status\":\"RESOURCE_EXHAUSTED\"}}]"}}`,
		},
		"codex, words of it": {
			agent: "codex",
			prints: `{"type":"item.completed","item":{"id":"1","type":"agent_message","text":"exceeded retry limit, last status: 429 Too Many Requests"}}` + "\n" +
				`{"type":"turn.failed","error":{"message":"the ratelimit package: 429"}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			adapter, err := agent.Pick(test.agent, agent.Options{Command: "sh -c 'printf \"%s\\n\" \"$LINES_\"; exit 1' --"})
			if err != nil {
				t.Fatal(err)
			}
			hand := &driver.Agent{
				Redact: redact.Values().Writer, Adapter: adapter, Run: (&process.Runner{}).Run, Dir: t.TempDir(), Now: func() time.Time { return now },
				Env: []string{"PATH=/usr/bin:/bin", "LINES_=" + test.prints},
			}
			ended, err := hand.Do(t.Context(), agent.Order{Iteration: 1, Prompt: "go"})
			if err != nil || ended.Busy != test.busy || (ended.Fix != "") != test.denied || !ended.Until.Equal(test.until) {
				t.Errorf("Do: busy %v until %s, why %q, %v; want %v until %s", ended.Busy, ended.Until, ended.Why, err, test.busy, test.until)
			}
		})
	}
}

// An agent that has used what was left is ended in the middle of its work, even if it does not obey, and
// what it used is known although it never got to say so.
func TestOverspent(t *testing.T) {
	const (
		line  = `{"type":"assistant","message":{"id":"m","model":"claude-haiku-4-5","content":[{"type":"text","text":"so"}],"usage":{"input_tokens":1000000,"output_tokens":10000}}}`
		begin = `{"type":"system","subtype":"init","model":"claude-haiku-4-5"}` + "\n"
	)
	for name, test := range map[string]struct {
		budget agent.Budget
		want   bool
		model  string // without a price
	}{
		"by dollars":     {agent.Budget{USD: 1}, true, ""},
		"by tokens":      {agent.Budget{Tokens: 1_010_000}, true, ""},
		"not by dollars": {agent.Budget{USD: 2}, false, ""},
		"not by tokens":  {agent.Budget{Tokens: 1_010_001}, false, ""},
		"no budget":      {agent.Budget{}, false, ""},

		"by the dearest of its maker": {agent.Budget{USD: 1}, true, "claude-unheard-of-9"},
		"of no maker that is known":   {agent.Budget{USD: 1}, true, "unheard-of"},
		"of none, by tokens alone":    {agent.Budget{Tokens: 1_010_001}, false, "unheard-of"},
	} {
		t.Run(name, func(t *testing.T) {
			end := `trap "" TERM; exec sleep 600`
			if !test.want {
				end = "exit 1"
			}
			adapter, err := agent.Pick("claude", agent.Options{Command: "sh -c 'printf \"%s\\n\" \"$LINES_\"; " + end + "' --"})
			if err != nil {
				t.Fatal(err)
			}
			hand := &driver.Agent{
				Redact: redact.Values().Writer, Adapter: adapter, Run: (&process.Runner{}).Run, Dir: t.TempDir(), Now: epoch, Budget: test.budget, Grace: time.Hour,
				Env: []string{"PATH=/usr/bin:/bin", "LINES_=" + strings.ReplaceAll(begin+line, "claude-haiku-4-5", cmp.Or(test.model, "claude-haiku-4-5"))},
			}
			ended, err := hand.Do(t.Context(), agent.Order{Iteration: 1, Prompt: "go"})
			if err != nil || ended.Overspent != test.want || !ended.Failed || ended.Usage.Tokens() != 1_010_000 {
				t.Errorf("Do: overspent %v, %d tokens, why %q, %v", ended.Overspent, ended.Usage.Tokens(), ended.Why, err)
			}
			if priced := test.model == ""; ended.Cost.Known != priced || priced && ended.Cost.USD != 1.05 {
				t.Errorf("Do: cost %+v, want 1.05 by the list", ended.Cost)
			}
		})
	}
}

// What an agent reports as it ends by itself ends the run, if nothing else counts it: a model without a price.
func TestOverspentAtTheEnd(t *testing.T) {
	const (
		gemini = `{"type":"result","status":"success","stats":{"total_tokens":1000000,"input_tokens":1000000,"models":{"MODEL":{"input_tokens":1000000}}}}`
		claude = `{"type":"assistant","message":{"id":"m","content":[],"usage":{"input_tokens":1000000}}}` + "\n" + `{"type":"result","result":"so","usage":{"input_tokens":1000000}}`
	)
	for name, test := range map[string]struct {
		agent, lines, model string
		budget              agent.Budget
		counted, want       bool
	}{
		"by the dearest of its maker": {agent: "gemini", lines: gemini, model: "gemini-unheard-of-9", budget: agent.Budget{USD: 1}, want: true},
		"of no maker that is known":   {agent: "gemini", lines: gemini, model: "unheard-of", budget: agent.Budget{USD: 1}, want: true},
		"of what has a price":         {agent: "gemini", lines: gemini, model: "gemini-2.5-pro", budget: agent.Budget{USD: 1}}, // its cost is on record
		"within the budget":           {agent: "gemini", lines: gemini, model: "gemini-unheard-of-9", budget: agent.Budget{USD: 1000}},
		"no budget":                   {agent: "gemini", lines: gemini, model: "unheard-of"},
		"counted by the model server": {agent: "gemini", lines: gemini, model: "unheard-of", budget: agent.Budget{USD: 1}, counted: true},
		"of a turn's only model":      {agent: "codex", lines: `{"type":"turn.completed","usage":{"input_tokens":1000000}}`, model: "unheard-of", budget: agent.Budget{USD: 1}, want: true},
		"though its result says less": {agent: "claude", lines: claude + "\n" + `{"type":"result","result":"so","total_cost_usd":0}`, budget: agent.Budget{USD: 1}, want: true},
		"in its last message":         {agent: "claude", lines: claude, budget: agent.Budget{USD: 1}, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			adapter, err := agent.Pick(test.agent, agent.Options{Command: "sh -c 'printf \"%s\n\" \"$LINES_\"' --"})
			if err != nil {
				t.Fatal(err)
			}
			adapter.Counted = test.counted
			hand := &driver.Agent{
				Redact: redact.Values().Writer, Adapter: adapter, Run: func(ctx context.Context, c process.Command) (process.Result, error) {
					return (&process.Runner{}).Run(context.WithoutCancel(ctx), c) // it ends by itself
				}, Dir: t.TempDir(), Now: epoch, Budget: test.budget, Grace: time.Hour,
				Env: []string{"PATH=/usr/bin:/bin", "LINES_=" + strings.ReplaceAll(test.lines, "MODEL", test.model)},
			}
			ended, err := hand.Do(t.Context(), agent.Order{Iteration: 1, Prompt: "go", Model: test.model})
			if err != nil || ended.Overspent != test.want || (ended.Why != "") != test.want || ended.Failed || ended.Usage.Tokens() != 1_000_000 {
				t.Errorf("Do: overspent %v, %d tokens, why %q, %v", ended.Overspent, ended.Usage.Tokens(), ended.Why, err)
			}
		})
	}
}

// Codex says what it used only at the end of a turn. It is ended within the turn
// by what it writes down of itself, and of no other thread.
func TestOverspentByRollouts(t *testing.T) {
	const (
		thread = "01a20015-a465-7c21-898e-0ba63d3cc389"
		own    = "rollout-2026-11-21T21-49-08-" + thread + ".jsonl"
		later  = "rollout-2026-11-21T21-50-00-other.jsonl"
		meta   = `{"type":"session_meta","payload":{"id":"` + thread + `"}}` + "\n"
		model  = `{"type":"turn_context","payload":{"model":"gpt-5"}}` + "\n"
	)
	count := func(tokens string) string {
		return `{"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":` + tokens + `,"output_tokens":1000}}}}` + "\n"
	}
	for name, test := range map[string]struct {
		files map[string]string
		want  int64 // tokens, of which a thousand are too many
	}{
		"its own":              {map[string]string{own: meta + model + count("10") + count("2000")}, 3000},
		"somebody else's":      {map[string]string{own: meta, later: `{"payload":{"id":"x"}}` + "\n" + count("2000")}, 0},
		"a line under way":     {map[string]string{own: meta + strings.TrimSuffix(count("2000"), "\n")}, 0},
		"nothing that is told": {map[string]string{own: meta + `{"type":"event_msg","payload":{"type":"token_count","info":null}}` + "\n"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			day := filepath.Join(home, "sessions", "2026", "11", "21")
			if err := os.MkdirAll(day, 0o700); err != nil {
				t.Fatal(err)
			}
			for file, text := range test.files {
				if err := os.WriteFile(filepath.Join(day, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := syscall.Mkfifo(filepath.Join(day, "rollout-2026-11-21T23-00-00-fifo.jsonl"), 0o600); err != nil {
				t.Fatal(err)
			}
			end := `trap "" TERM; exec sleep 600`
			if test.want == 0 {
				end = "exit 1"
			}
			adapter, err := agent.Pick("codex", agent.Options{Command: "sh -c 'printf \"%s\n\" \"$LINES_\"; " + end + "' --"})
			if err != nil {
				t.Fatal(err)
			}
			hand := &driver.Agent{
				Redact: redact.Values().Writer, Adapter: adapter, Run: (&process.Runner{}).Run, Dir: t.TempDir(), Now: epoch, Budget: agent.Budget{Tokens: 1000},
				Env: []string{"PATH=/usr/bin:/bin", "CODEX_HOME=" + home, `LINES_={"type":"thread.started","thread_id":"` + thread + `"}`},
			}
			ended, err := hand.Do(t.Context(), agent.Order{Iteration: 1, Prompt: "go"})
			if err != nil || ended.Overspent != (test.want > 0) || ended.Usage.Tokens() != test.want {
				t.Errorf("Do: overspent %v, %d tokens, why %q, %v", ended.Overspent, ended.Usage.Tokens(), ended.Why, err)
			}
		})
	}
}
