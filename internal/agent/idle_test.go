package agent_test

import (
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/process"
)

// An agent that hangs is ended long before its iteration's time is over; one
// that goes on saying something is not.
func TestAgentsThatSayNothingAreEnded(t *testing.T) {
	const forever = "exec sleep 600"
	for name, test := range map[string]struct{ script, want string }{
		"silent from the start": {forever, "nothing was heard of it for 300ms"},
		"silent after a word":   {"echo hello; " + forever, "nothing was heard of it for 300ms"},
		"talking":               {"for i in 1 2 3 4 5 6 7 8; do echo $i; sleep 0.1; done", ""},
		"complaining":           {"for i in 1 2 3 4 5 6 7 8; do echo $i >&2; sleep 0.1; done", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			adapter, err := agent.Pick("command", agent.Options{Command: "sh -c '" + test.script + "'"})
			if err != nil {
				t.Fatal(err)
			}
			hand := &agent.Hand{
				Adapter: adapter, Run: (&process.Runner{}).Run, Dir: t.TempDir(),
				Env: []string{"PATH=/usr/bin:/bin"}, Idle: 300 * time.Millisecond,
			}
			ended, err := hand.Do(t.Context(), agent.Order{Iteration: 1, Prompt: "go"})
			if err != nil || ended.Why != test.want {
				t.Errorf("Do: why %q, %v; want %q", ended.Why, err, test.want)
			}
		})
	}
}
