package check_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/lib/process"
)

// A check is a shell's command in the tree, with the time and the grace that
// there are for it.
func TestTheCommandThatIsRun(t *testing.T) {
	l := newLab(t)
	var ran []process.Command
	l.hand.Run = func(_ context.Context, c process.Command) (process.Result, error) {
		ran = append(ran, c)
		return process.Result{}, nil
	}
	l.hand.Env, l.hand.Grace = []string{"A=b"}, 3*time.Second
	check := policy.Check{Name: "test", Command: "make test", Timeout: policy.Duration(time.Minute)}
	l.do(t, check)
	l.hand.Patience = func(limit time.Duration) time.Duration { return limit / 2 }
	l.do(t, check)
	whole := process.Command{
		Argv: []string{"sh", "-c", "make test"}, Dir: l.tree, Env: []string{"A=b"}, Timeout: time.Minute, Grace: 3 * time.Second,
	}
	half := whole
	half.Timeout = 30 * time.Second
	if diff := cmp.Diff([]process.Command{whole, half}, ran, cmpopts.IgnoreFields(process.Command{}, "Stdout", "Stderr")); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
}
