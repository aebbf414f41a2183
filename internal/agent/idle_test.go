package agent_test

import (
	"context"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/process"
)

// idling is a Hand with that command, which may say nothing for 300 ms.
func idling(t *testing.T, command string) *agent.Hand {
	t.Helper()
	adapter, err := agent.Pick("command", agent.Options{Command: command})
	if err != nil {
		t.Fatal(err)
	}
	return &agent.Hand{
		Adapter: adapter, Run: (&process.Runner{}).Run, Dir: t.TempDir(),
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
			if want := "nothing was heard of it for 300ms"; err != nil || ended.Why != want {
				t.Errorf("Do: why %q, %v; want %q", ended.Why, err, want)
			}
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
