package check_test

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/lib/redact"
	"github.com/ralph-loop/ralph/internal/proof/check"
	"github.com/ralph-loop/ralph/internal/proof/results"
)

type nowhere struct{ io.Writer }

func (nowhere) Close() error { return nil }

// In a clean checkout, Go runs all tests again, and pytest writes a report. The caller's selection of tests does not count.
func TestEnvironment(t *testing.T) {
	pytest := "PYTEST_ADDOPTS='--junitxml=reports/pytest.xml'"
	for name, c := range map[string]struct {
		where     journal.Where
		env, want []string
	}{
		"the agent's tree": {journal.AtWork, []string{"A=b"}, []string{"A=b"}},
		"some tests asked": {journal.AtBase, []string{"RALPH_TESTS=a", "A=b"}, []string{"A=b", "GOFLAGS=-count=1", pytest, "RALPH_REPORTS=reports"}},
		"a clean checkout": {journal.AtHead, []string{"A=b"}, []string{"A=b", "GOFLAGS=-count=1", pytest, "RALPH_REPORTS=reports"}},
		"with flags": {
			journal.AtBase,
			[]string{"GOFLAGS=-mod=vendor", "PYTEST_ADDOPTS=-x", "A=b"},
			[]string{"GOFLAGS=-mod=vendor -count=1", "PYTEST_ADDOPTS=-x '--junitxml=reports/pytest.xml'", "A=b", "RALPH_REPORTS=reports"},
		},
	} {
		before := append([]string{}, c.env...)
		got, _ := said(t, c.where, c.env, "")
		got = slices.DeleteFunc(got, func(one string) bool { return strings.HasPrefix(one, "JEST_") })
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(before, c.env); diff != "" {
			t.Errorf("%s: the hand's own (-want +got):\n%s", name, diff)
		}
	}
}

// Node writes a report, too. The project's own options stay.
func TestNodeReports(t *testing.T) {
	const report = `--test-reporter=spec --test-reporter-destination=stdout --test-reporter=junit --test-reporter-destination="reports/node.xml"`
	for env, want := range map[string]string{"A=b": report, "NODE_OPTIONS=--max-old-space-size=99": "--max-old-space-size=99 " + report} {
		got, _ := saidBy(t, "node --test", journal.AtHead, []string{env}, "")
		var options []string
		for _, one := range got {
			if value, ok := strings.CutPrefix(one, "NODE_OPTIONS="); ok {
				options = append(options, value)
			}
		}
		if diff := cmp.Diff([]string{want}, options); diff != "" {
			t.Errorf("%s (-want +got):\n%s", env, diff)
		}
	}
}

// The excerpt has what went wrong, without the names of the tests that pass.
func TestExcerptsLeaveOutTestsThatPass(t *testing.T) {
	const output = "=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n    b_test.go:3: want 1\n--- FAIL: TestB (0.00s)\nFAIL\np\t0.1s\nno end"
	_, excerpt := said(t, journal.AtHead, nil, output)
	if want := "    b_test.go:3: want 1\n--- FAIL: TestB (0.00s)\nFAIL\np\t0.1s\nno end"; excerpt != want {
		t.Errorf("excerpt = %q, want %q", excerpt, want)
	}
	long := strings.Repeat("x", 200_000) + "\n"
	if _, excerpt = said(t, journal.AtHead, nil, long+"end"); !strings.HasSuffix(excerpt, "x\nend") {
		t.Errorf("of a long line the excerpt ends with %q", excerpt[len(excerpt)-10:])
	}
}

// said returns the environment that a check gets, and the excerpt of what it prints.
func said(t *testing.T, where journal.Where, env []string, output string) (got []string, excerpt string) {
	t.Helper()
	return saidBy(t, "make test", where, env, output)
}

func saidBy(t *testing.T, command string, where journal.Where, env []string, output string) (got []string, excerpt string) {
	t.Helper()
	hand := check.Hand{
		Env: env, Veil: redact.Values().Writer, Log: func(string) (io.WriteCloser, error) { return nowhere{io.Discard}, nil },
		Run: func(_ context.Context, command process.Command) (process.Result, error) {
			got = command.Env
			_, err := io.WriteString(command.Stdout, output)
			return process.Result{}, err
		},
	}
	job := check.Job{Where: where, Checks: []policy.Check{{Name: "test", Command: command}}}
	if where != journal.AtWork {
		job.Reports = func(string) (string, func() (results.Results, error), error) {
			return "reports", func() (results.Results, error) { return results.Results{}, nil }, nil
		}
	}
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
