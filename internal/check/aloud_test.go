package check_test

import (
	"context"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/check"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/process"
)

type nowhere struct{ io.Writer }

func (nowhere) Close() error { return nil }

// Who is to name every test is asked beside what it is told already.
func TestAloudAsksGoTest(t *testing.T) {
	for name, c := range map[string]struct {
		aloud     bool
		env, want []string
	}{
		"as it comes":      {false, []string{"A=b"}, []string{"A=b"}},
		"aloud":            {true, []string{"A=b"}, []string{"A=b", "GOFLAGS=-v"}},
		"beside its flags": {true, []string{"GOFLAGS=-mod=vendor", "A=b"}, []string{"GOFLAGS=-mod=vendor -v", "A=b"}},
	} {
		before := append([]string{}, c.env...)
		var got []string
		hand := check.Hand{
			Env: c.env, Log: func(string) (io.WriteCloser, error) { return nowhere{io.Discard}, nil },
			Run: func(_ context.Context, command process.Command) (process.Result, error) {
				got = command.Env
				return process.Result{}, nil
			},
		}
		job := check.Job{Aloud: c.aloud, Checks: []policy.Check{{Name: "test", Command: "go test ./..."}}}
		if err := hand.Do(t.Context(), job, func(journal.Event) {}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(before, c.env); diff != "" {
			t.Errorf("%s: the hand's own (-want +got):\n%s", name, diff)
		}
	}
}
