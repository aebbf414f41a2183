package checkout_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/box/confine"
	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/proof/check"
	"github.com/ralph-loop/ralph/internal/proof/checkout"
)

// proving is a change that is proven again and again.
type proving struct {
	trusted *git.Trusted
	span    git.Span
	check   string
	setup   string
	env     []string
	kept    checkout.Kept
	runs    string // gets a line from each run of the check
	places  int    // that are tried to find out which no test needs
}

// prove proves the change and tells how often the check ran, and how it ended at the base.
func (p proving) prove(t *testing.T) (runs int, o checkout.Outcome) {
	t.Helper()
	home, run := t.TempDir(), new(process.Runner).Run
	v := checkout.Verifier{
		Code: p.trusted, Dir: t.TempDir(), Hand: check.Hand{Run: run}, Kept: p.kept,
		Git: git.Git{Run: run, Path: os.Getenv("PATH"), Home: home},
	}
	v.Confide(p.env, confine.Needs{})
	before, _ := os.ReadFile(p.runs)
	ended, err := v.Prove(t.Context(), "", p.span, func(func(string) []byte) (policy.Policy, error) {
		rules := policy.ForPreset(policy.ByStories)
		rules.Checks = policy.AddChecks(nil, []string{p.check}, policy.DefaultCheckTimeout)
		rules.Setup = policy.NewSetup([]string{p.setup}, policy.DefaultCheckTimeout)
		rules.Untested.Max = p.places
		if p.places == 0 {
			rules.Untested.Do = policy.UntestedOff
		}
		return rules, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	after, _ := os.ReadFile(p.runs)
	return strings.Count(string(after[len(before):]), "\n"), checkout.Sum(ended)
}

// The checks run at a base once, for all proofs by the same checks on it, and again where
// anything differs that they could depend on. Without a test of its own, a change costs
// the run on its commit and the one at the base.
func TestABaselineIsKept(t *testing.T) {
	trusted, commits := repository(t, "echo 1 >one && commit && echo 2 >two && commit && echo 3 >three && commit")
	tools := t.TempDir()
	tool := filepath.Join(tools, "tool")
	if err := os.WriteFile(tool, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	runs := filepath.Join(t.TempDir(), "runs")
	first := proving{
		trusted: trusted, span: git.Span{From: commits[0], To: commits[1]}, check: "echo run >>" + runs + "; echo '<testsuite><testcase name=\"one\"/></testsuite>' >$RALPH_REPORTS/a.xml; cat one", setup: "true",
		env: []string{"PATH=" + tools + ":" + os.Getenv("PATH"), "A=1"}, kept: checkout.Kept{Dir: filepath.Join(t.TempDir(), "kept"), Self: tool, With: "today"}, runs: runs,
	}
	for _, c := range []struct {
		name   string
		change func(*proving)
		want   int
	}{
		{"first", func(*proving) {}, 2},
		{"again", func(*proving) {}, 1},
		{"another change", func(p *proving) { p.span.To = commits[2] }, 1},
		{"another base", func(p *proving) { p.span = git.Span{From: commits[1], To: commits[2]} }, 2},
		{"another check", func(p *proving) { p.check += " " }, 2},
		{"another setup", func(p *proving) { p.setup = ":" }, 2},
		{"another environment", func(p *proving) { p.env = append(p.env, "A=2") }, 2},
		{"another day", func(p *proving) { p.kept.With = "tomorrow" }, 2},
		{"nothing is kept", func(p *proving) { p.kept = checkout.Kept{} }, 2},
		{"another program", func(*proving) { write(t, tool, "#!/bin/sh\nexit 1\n") }, 2},
		{"a log that was changed", func(p *proving) { change(t, p.kept.Dir, "*/*.log") }, 2},
		{"a list of tests that was changed", func(p *proving) { change(t, p.kept.Dir, "*/*.tests") }, 2},
		{"results that cannot be read", func(p *proving) { change(t, p.kept.Dir, "*/checks.json") }, 2},
		{"all as before", func(*proving) {}, 1},
	} {
		p := first
		c.change(&p)
		got, outcome := p.prove(t)
		if got != c.want {
			t.Errorf("%s: the check ran %d times, want %d", c.name, got, c.want)
		}
		if told := outcome.Checks; len(told) != 1 || !told[0].AtBase || told[0].Before == nil || told[0].Before.Passed != 1 || outcome.Result != journal.NoNewFailingTest {
			t.Errorf("%s: %s (%s), with the checks %+v; want no new failing test, and one test that passes at the base", c.name, outcome.Result, outcome.Why, told)
		}
	}
}

// What is red at the base may be so for a reason that is gone later.
func TestARedBaselineIsNotKept(t *testing.T) {
	trusted, commits := repository(t, "echo 1 >one && commit && echo 2 >two && commit")
	runs := filepath.Join(t.TempDir(), "runs")
	p := proving{
		trusted: trusted, span: git.Span{From: commits[0], To: commits[1]}, check: "echo run >>" + runs + "; test -e two", setup: "true",
		env: os.Environ(), kept: checkout.Kept{Dir: filepath.Join(t.TempDir(), "kept")}, runs: runs,
	}
	for range 2 {
		if got, outcome := p.prove(t); got < 2 {
			t.Errorf("the check ran %d times (%s), want it at the base, too", got, outcome.Result)
		}
	}
}

// Only so many baselines are kept.
func TestOldBaselinesGo(t *testing.T) {
	trusted, commits := repository(t, "echo 1 >one && commit && echo 2 >two && commit")
	p := proving{
		trusted: trusted, span: git.Span{From: commits[0], To: commits[1]}, check: "cat one", setup: "true",
		env: os.Environ(), kept: checkout.Kept{Dir: filepath.Join(t.TempDir(), "kept")}, runs: filepath.Join(t.TempDir(), "runs"),
	}
	for range 6 {
		p.kept.With += "1"
		p.prove(t)
	}
	if left, err := filepath.Glob(filepath.Join(p.kept.Dir, "*", "checks.json")); len(left) != 4 || err != nil {
		t.Errorf("%d baselines are left (%v), want 4", len(left), err)
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// change writes to the files of a form in a folder.
func change(t *testing.T, dir, form string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, form))
	if err != nil || len(names) == 0 {
		t.Fatalf("no file is %s in %s: %v", form, dir, err)
	}
	for _, name := range names {
		write(t, name, "passed other\n")
	}
}
