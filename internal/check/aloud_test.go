package check_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/check"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/process"
	"github.com/ralph-loop/ralph/internal/redact"
)

type nowhere struct{ io.Writer }

func (nowhere) Close() error { return nil }

// Runners are asked to name every test in a clean checkout, beside the flags that
// they have already, and not in the agent's tree.
func TestCleanCheckoutsNameEveryTest(t *testing.T) {
	for name, c := range map[string]struct {
		where     journal.Where
		env, want []string
	}{
		"the agent's tree": {journal.AtWork, []string{"A=b"}, []string{"A=b"}},
		"some tests asked": {journal.AtBase, []string{"RALPH_TESTS=a", "A=b"}, []string{"A=b", "GOFLAGS=-v -count=1", "PYTEST_ADDOPTS=-rap"}},
		"a clean checkout": {journal.AtProof, []string{"A=b"}, []string{"A=b", "GOFLAGS=-v -count=1", "PYTEST_ADDOPTS=-rap"}},
		"with flags": {
			journal.AtBase,
			[]string{"GOFLAGS=-mod=vendor", "PYTEST_ADDOPTS=-x", "A=b"},
			[]string{"GOFLAGS=-mod=vendor -v -count=1", "PYTEST_ADDOPTS=-x -rap", "A=b"},
		},
	} {
		before := append([]string{}, c.env...)
		got, _ := said(t, c.where, c.env, "")
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(before, c.env); diff != "" {
			t.Errorf("%s: the hand's own (-want +got):\n%s", name, diff)
		}
	}
}

// The excerpt has what went wrong, without the names of the tests that pass.
func TestExcerptsLeaveOutTestsThatPass(t *testing.T) {
	const output = "=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n    b_test.go:3: want 1\n--- FAIL: TestB (0.00s)\nFAIL\np\t0.1s\nPASSED a.py::test_c\nno end"
	_, excerpt := said(t, journal.AtProof, nil, output)
	if want := "    b_test.go:3: want 1\n--- FAIL: TestB (0.00s)\nFAIL\np\t0.1s\nno end"; excerpt != want {
		t.Errorf("excerpt = %q, want %q", excerpt, want)
	}
	long := strings.Repeat("x", 200_000) + "\n"
	if _, excerpt = said(t, journal.AtProof, nil, long+"end"); !strings.HasSuffix(excerpt, "x\nend") {
		t.Errorf("of a long line the excerpt ends with %q", excerpt[len(excerpt)-10:])
	}
}

// said returns the environment that a check gets, and the excerpt of what it prints.
func said(t *testing.T, where journal.Where, env []string, output string) (got []string, excerpt string) {
	t.Helper()
	hand := check.Hand{
		Env: env, Veil: redact.Values().Writer, Log: func(string) (io.WriteCloser, error) { return nowhere{io.Discard}, nil },
		Run: func(_ context.Context, command process.Command) (process.Result, error) {
			got = command.Env
			_, err := io.WriteString(command.Stdout, output)
			return process.Result{}, err
		},
	}
	job := check.Job{Where: where, Checks: []policy.Check{{Name: "test", Command: "go test ./..."}}}
	err := hand.Do(t.Context(), job, func(event journal.Event) {
		if ended, is := event.(journal.CheckEnded); is {
			excerpt = ended.Excerpt
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return got, excerpt
}
