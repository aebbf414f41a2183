package driver_test

import (
	"context"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/agent/driver"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/lib/redact"
)

// idling returns a driver of that command, which may say nothing for 300 ms.
func idling(t *testing.T, command string) *driver.Agent {
	t.Helper()
	adapter, err := agent.Pick("command", agent.Options{Command: command})
	if err != nil {
		t.Fatal(err)
	}
	return &driver.Agent{
		Redact: redact.Values().Writer, Adapter: adapter, Run: (&process.Runner{}).Run, Dir: t.TempDir(), Now: epoch,
		Env: []string{"PATH=/usr/bin:/bin"}, Idle: 300 * time.Millisecond,
	}
}

// An agent that hangs is ended long before its iteration's time is over.
func TestAgentsThatSayNothingAreEnded(t *testing.T) {
	for name, script := range map[string]string{
		"silent from the start": "exec sleep 600",
		"silent after a word":   "echo hello; exec sleep 600",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ended, err := idling(t, "sh -c '"+script+"'").Do(t.Context(), agent.Order{Iteration: 1, Prompt: "go"})
			if want := "no output for 300ms"; err != nil || ended.Why != want {
				t.Errorf("Do: why %q, %v; want %q", ended.Why, err, want)
			}
		})
	}
}

// Tries that come to nothing are no sign of life, no matter what is printed along with
// them. The end names the model's server, as if the program had given up.
func TestAgentsThatOnlyRetryAreEnded(t *testing.T) {
	for name, test := range map[string]struct {
		again  []string
		why    string
		busy   bool
		cannot bool
	}{
		"overloaded": {
			[]string{`{"type":"system","subtype":"api_retry","attempt":1,"error":"overloaded","error_status":529}`},
			"no answer from the model for 300ms 529: overloaded", true, false,
		},
		"without access": {
			[]string{`{"type":"system","subtype":"api_retry","attempt":1,"error":"forbidden","error_status":403}`},
			"no answer from the model for 300ms 403: forbidden", false, true,
		},
		"one that works in between": {
			[]string{
				`{"type":"system","subtype":"api_retry","attempt":1,"error":"overloaded","error_status":529}`,
				`{"type":"assistant","message":{"content":[{"type":"text","text":"on it"}]}}`,
			},
			"", false, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			adapter, err := agent.Pick("claude", agent.Options{Command: "sh"})
			if err != nil {
				t.Fatal(err)
			}
			hand := idling(t, "sh")
			hand.Adapter = adapter
			hand.Run = func(ctx context.Context, c process.Command) (process.Result, error) {
				for i := 0; i < 20 && ctx.Err() == nil; i++ {
					time.Sleep(100 * time.Millisecond)
					fmt.Fprintln(c.Stdout, test.again[i%len(test.again)])
					fmt.Fprintln(c.Stderr)
				}
				if test.why == "" {
					fmt.Fprintln(c.Stdout, `{"type":"result","result":"so"}`)
					return process.Result{}, ctx.Err()
				}
				return process.Result{Exit: 143, Signal: "SIGTERM"}, context.Cause(ctx)
			}
			synctest.Test(t, func(t *testing.T) {
				ended, err := hand.Do(t.Context(), agent.Order{Iteration: 1, Prompt: "go"})
				if err != nil || ended.Why != test.why || ended.Busy != test.busy || ended.CannotRun != test.cannot {
					t.Errorf("Do: why %q, busy %t, cannot run %t, %v", ended.Why, ended.Busy, ended.CannotRun, err)
				}
			})
		})
	}
}

// One that goes on saying something is not. The clock is a bubble's: on a busy
// machine a program's pauses are as long as it likes.
func TestAgentsThatSaySomethingGoOn(t *testing.T) {
	for name, to := range map[string]func(process.Command) io.Writer{
		"talking":     func(c process.Command) io.Writer { return c.Stdout },
		"complaining": func(c process.Command) io.Writer { return c.Stderr },
	} {
		t.Run(name, func(t *testing.T) {
			hand := idling(t, "sh")
			hand.Run = func(ctx context.Context, c process.Command) (process.Result, error) {
				for i := range 8 {
					time.Sleep(200 * time.Millisecond)
					fmt.Fprintln(to(c), i)
				}
				return process.Result{}, ctx.Err()
			}
			synctest.Test(t, func(t *testing.T) {
				ended, err := hand.Do(t.Context(), agent.Order{Iteration: 1, Prompt: "go"})
				if err != nil || ended.Why != "" || ended.Failed {
					t.Errorf("Do: failed %t, why %q, %v; want nothing of the kind", ended.Failed, ended.Why, err)
				}
			})
		})
	}
}

// epoch is a clock for tests in which the time says nothing.
func epoch() time.Time { return time.Unix(0, 0) }
