package agent_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/stream"
	"github.com/ralph-loop/ralph/internal/testsupport/agenttest"
	"github.com/ralph-loop/ralph/internal/testsupport/modeltest"
)

// A refused key is refused for good: retries are useless.
func TestRealKeyIsRefused(t *testing.T) {
	eachProgram(t, func(c cli) {
		t := c.T
		t.Parallel() // each has to wait
		b := c.bench(modeltest.Answer{Status: 401, Times: modeltest.Always})
		got, err := b.Do(t.Context(), b.order)
		if err != nil || !got.Failed || !got.CannotRun || got.Busy || !strings.Contains(got.Why, "401") {
			t.Errorf("Do = %+v, %v", got, err)
		}
		if got.Fix != b.Adapter.Login || got.Fix == "" {
			t.Errorf("Fix = %q", got.Fix)
		}
		t.Logf("measured: %s gives up after %d ms and %d requests: %s", c.agent, got.TookMS, len(b.server.Work()), got.Why)
	})
}

// Without a key and a login a program is not tried again, and it is said how to log in.
func TestRealLoginIsMissing(t *testing.T) {
	denied := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(denied.Close)
	clis := maps.Clone(clis)
	clis["amp"] = cli{agent: "amp", keys: agent.Keys{ProviderAPIKey: realKey}, env: []string{"AMP_URL=" + denied.URL}}
	clis["codex"] = cli{agent: "codex", args: []string{"-c", `openai_base_url="` + denied.URL + `/v1"`}}
	for name, c := range clis {
		if os.Getenv("AGENTS") == "" || c.twin {
			continue
		}
		t.Run(name, func(t *testing.T) {
			c.T = t
			s := agenttest.New(t, c.agent, agent.Options{Command: "'" + c.path() + "'", Args: c.args, Keys: agent.Keys{ProviderAPIKey: c.keys.ProviderAPIKey}})
			s.Env = append(s.Env, append(c.env, "TMPDIR="+t.TempDir())...)
			s.Timeout = patience
			got, err := s.Do(t.Context(), agent.Order{Model: c.model, Prompt: "Write hello.txt."})
			if err != nil || !got.CannotRun || got.Fix != s.Adapter.Login || got.Fix == "" {
				t.Errorf("Do = %+v, %v", got, err)
			}
			t.Logf("measured: %s: %s", c.agent, got.Why)
		})
	}
}

// What passes is waited for by the program itself, which says so.
func TestRealServerRecovers(t *testing.T) {
	for name, trouble := range map[string]modeltest.Answer{
		"429": {Status: 429, RetryAfter: time.Second},
		"cut": {Words: "This is cut <promise>HALF</promise> in the middle.", Cut: true},
	} {
		t.Run(name, func(t *testing.T) {
			eachProgram(t, func(c cli) {
				t := c.T
				t.Parallel()
				b := c.bench(append([]modeltest.Answer{trouble}, wroteHello()...)...)
				got, err := b.Do(t.Context(), b.order)
				if trouble.Cut && c.brittle {
					if err != nil || !got.Failed || got.CannotRun || len(got.Promises) > 0 {
						t.Errorf("Do = %+v, %v", got, err)
					}
					return
				}
				if err != nil || got.Failed || got.Tools != 1 || got.Response != "DONE" || b.server.Left() != 0 {
					t.Errorf("Do = %+v, %v; %d answers left", got, err, b.server.Left())
				}
				if len(got.Promises) > 0 {
					t.Errorf("it claimed %q, of which only a half arrived", got.Promises)
				}
				if c.acp { // it does not tell
					return
				}
				told := slices.ContainsFunc(b.Items, func(item stream.Item) bool {
					retry, is := item.(stream.Retry)
					return is && retry.Status == trouble.Status && retry.Attempt == 1 && retry.Reason != ""
				})
				if !told && (!c.mute || trouble.Status < 500) {
					t.Errorf("it did not report that it had to try again")
				}
			})
		})
	}
}

// Where the trouble lasts, a program gives up, and it is known to be the server's
// trouble. One that speaks the protocol may try in silence for hours; ralph's model
// server sees its trouble.
func TestRealServerIsBusy(t *testing.T) {
	eachProgram(t, func(c cli) {
		t := c.T
		t.Parallel()
		if c.acp {
			return
		}
		b := c.bench(modeltest.Answer{Status: 429, Times: modeltest.Always})
		got, err := b.Do(t.Context(), b.order)
		if err != nil || !got.Failed || !got.Busy || got.CannotRun || !strings.Contains(got.Why, "429") {
			t.Errorf("Do = %+v, %v", got, err)
		}
		t.Logf("measured: %s gives up after %d ms and %d requests: %s", c.agent, got.TookMS, len(b.server.Work()), got.Why)
	})
}

// An answer that never comes ends the program after its patience, in silence. A
// busy machine may take longer than that to ask at all: then it has more.
func TestRealServerStalls(t *testing.T) {
	eachProgram(t, func(c cli) {
		t := c.T
		t.Parallel()
		for _, idle := range []time.Duration{12 * time.Second, 40 * time.Second, 2 * time.Minute} {
			b := c.bench(modeltest.Answer{Stall: true, Times: modeltest.Always})
			b.Idle = idle
			got, err := b.Do(t.Context(), b.order)
			if err != nil || !got.Failed || got.CannotRun || got.TimedOut || !strings.Contains(got.Why, "no output for "+policy.FormatDuration(idle)) {
				t.Errorf("Do = %+v, %v", got, err)
			}
			if slices.ContainsFunc(b.server.Work(), func(r modeltest.Request) bool { return strings.Contains(r.Body, "as the real tests ask.") }) {
				return
			}
		}
		t.Error("the server was not asked")
	})
}
