package driver_test

import (
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/agent/driver"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/lib/redact"
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
		"claude, a bad request": {agent: "claude", prints: claudeFailed + `400}`},
		"claude, no login": {
			agent: "claude", denied: true,
			prints: `{"type":"assistant","error":"authentication_failed","message":{}}` + "\n" + claudeFailed + `0}`,
		},
		"claude, no such model": {agent: "claude", prints: claudeFailed + `404}`, denied: true},
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
			ended, err := hand.Do(t.Context(), agent.Order{Iteration: 1, Retries: 1, Prompt: "go"})
			if err != nil || ended.Busy != test.busy || (ended.Fix != "") != test.denied || !ended.Until.Equal(test.until) {
				t.Errorf("Do: busy %v until %s, why %q, %v; want %v until %s", ended.Busy, ended.Until, ended.Why, err, test.busy, test.until)
			}
		})
	}
}
