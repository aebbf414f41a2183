package proof_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/verdict"
	"github.com/ralph-loop/ralph/internal/proof/proof"
	"github.com/ralph-loop/ralph/internal/proof/results"
	"github.com/ralph-loop/ralph/internal/proof/suite"
)

// repository answers for checkouts. A result is "pass", "fail", or names of tests: "+a -b !c ~d" passed, failed, broken,
// and skipped.
type repository struct {
	runs   map[string]string // by the commit that is checked out; the second result of a commit follows a comma
	seen   []string
	change proof.Change
	texts  map[string][]byte
	took   int64 // milliseconds of a check; 0: 1
}

func (r *repository) prover() proof.Prover {
	return proof.Prover{
		Run: func(_ context.Context, run journal.Run, at proof.Place, emit func(journal.Event)) (proof.Outcome, error) {
			stand := at.Checkout
			if at.AfterSetup != "" {
				stand = at.AfterSetup
			}
			if at.Where == journal.AtTrial && r.runs["later "+stand] != "" {
				stand = "later " + stand
			}
			r.seen = append(r.seen, stand)
			var seen proof.Outcome
			for _, rule := range run.Policy.Checks {
				if at.Only != nil && !at.Only(rule.Name) {
					continue
				}
				check := r.check(rule.Name, stand, at.Second)
				check.Where, check.Commit = at.Where, at.Commit
				seen.Checks = append(seen.Checks, check)
				emit(check)
			}
			return seen, nil
		},
		Change: func(context.Context, journal.Run, string, string) (proof.Change, error) { return r.change, nil },
		Results: func(check journal.CheckEnded) (results.Results, error) {
			if check.Tests == nil {
				return results.Results{}, nil
			}
			return results.Parse(check.Tests.All.Path), nil
		},
		Call: func(_ context.Context, _ journal.Run, command string) (suite.Call, error) {
			none := suite.Source{Script: func(string) string { return "" }, Reads: func(string) bool { return false }}
			return suite.CallOf(command, none), nil
		},
		Text: func(_ context.Context, _, name string) ([]byte, error) { return r.texts[name], nil },
		With: func(_ context.Context, commit string, texts map[string][]byte) (string, error) {
			for name, text := range texts {
				commit += " " + name + ":" + string(text)
			}
			return commit, nil
		},
	}
}

// check returns the result of a check. Its tests are kept in the path of their record.
func (r *repository) check(name, stand string, second bool) journal.CheckEnded {
	text, found := r.runs[name+"@"+stand]
	if !found {
		text = r.runs[stand]
	}
	first, again, twice := strings.Cut(text, ",")
	if second && twice {
		first = again
	}
	check := journal.CheckEnded{Name: name, Command: name, Passed: true, TookMS: max(r.took, 1)}
	if first == "pass" || first == "" {
		return check
	}
	check.Passed = first != "fail" && !strings.ContainsAny(first, "-!")
	if !check.Passed {
		check.Exit = 1
	}
	if first == "fail" {
		return check
	}
	tests := &journal.Tests{}
	for word := range strings.FieldsSeq(first) {
		switch name := word[1:]; word[0] {
		case '+':
			tests.Passed++
			tests.All.Path += "passed " + name + "\n"
		case '-':
			tests.Red = append(tests.Red, name)
			tests.All.Path += "failed " + name + "\n"
		case '~':
			tests.All.Path += "skipped " + name + "\n"
		case '!':
			tests.Broken = append(tests.Broken, name)
			tests.All.Path += "broken " + name + "\n"
		}
	}
	check.Tests = tests
	return check
}

// proveStory proves the change for a story, and returns the run after it.
func (r *repository) proveStory(t *testing.T, run journal.Run, step verdict.Prove) journal.Run {
	t.Helper()
	emit := func(event journal.Event) { run = journal.Fold(run, journal.Entry{Seq: run.Seq + 1, Event: event}) }
	if err := r.prover().Prove(t.Context(), run, step, emit); err != nil {
		t.Fatal(err)
	}
	return run
}

// baseline runs the checks at the base, and returns the run after it.
func (r *repository) baseline(t *testing.T, run journal.Run) journal.Run {
	t.Helper()
	emit := func(event journal.Event) { run = journal.Fold(run, journal.Entry{Seq: run.Seq + 1, Event: event}) }
	if err := r.prover().Baseline(t.Context(), run, verdict.Baseline{}, emit); err != nil {
		t.Fatal(err)
	}
	return run
}

// prove proves the change, and returns the last proof.
func (r *repository) prove(t *testing.T, run journal.Run) journal.Proof {
	t.Helper()
	run = r.proveStory(t, r.baseline(t, run), verdict.Prove{Commit: "c2", Tree: "t2"})
	return run.Proofs[len(run.Proofs)-1]
}

func runOf(checks ...string) journal.Run {
	run := journal.Run{ID: "r", Base: "base", Head: "c2", Tree: "t2", Start: "base"}
	for _, check := range checks {
		run.Policy.Checks = append(run.Policy.Checks, policy.Check{Name: check, Command: check})
	}
	run.Policy.Baseline, run.Policy.Untested.Do = policy.BaselineNew, policy.UntestedOff
	return run
}

var (
	product  = proof.File{Path: "a.go", Kind: proof.Product, AtBase: true, AtHead: true}
	newTest  = proof.File{Path: "a_test.go", Kind: proof.Test, AtHead: true}
	oldTest  = proof.File{Path: "b_test.go", Kind: proof.Test, AtBase: true, AtHead: true, Removes: true}
	document = proof.File{Path: "README.md", Kind: proof.Document, AtBase: true, AtHead: true}
	makefile = proof.File{Path: "Makefile", Kind: proof.Check, AtBase: true, AtHead: true}
	manifest = proof.File{Path: "go.mod", Kind: proof.Manifest, AtBase: true, AtHead: true}
)

// The two rules, a row for each outcome.
func TestRules(t *testing.T) {
	for name, c := range map[string]struct {
		runs  map[string]string
		files []proof.File
		look  []journal.Look
		want  journal.Result
		why   string
		tests string
	}{
		"a test fails without the change": {
			runs:  map[string]string{"base": "+a", "head": "+a +b", "new": "+a -b"},
			files: []proof.File{product, newTest}, want: journal.Proven, tests: "b",
		},
		"a test does not build without the change": {
			runs:  map[string]string{"base": "+p.a", "head": "+p.a +p.b", "new": "!p"},
			files: []proof.File{product, newTest}, want: journal.Proven, tests: "p.b",
		},
		"without names the exit code decides": {
			runs:  map[string]string{"base": "pass", "head": "pass", "new": "fail"},
			files: []proof.File{product, newTest}, want: journal.Proven,
		},
		"the new test passes without the change": {
			runs:  map[string]string{"base": "+a", "head": "+a +b", "new": "+a +b"},
			files: []proof.File{product, newTest}, want: journal.NoNewFailingTest, why: "the new tests pass without the change",
		},
		"no test": {
			runs: map[string]string{"base": "+a", "head": "+a"}, files: []proof.File{product}, want: journal.NoNewFailingTest, why: "no test is added or changed",
		},
		"the test fails on the base and another one passes": {
			runs:  map[string]string{"base": "+a", "head": "+a", "new": "+a -c"},
			files: []proof.File{product, newTest}, want: journal.NoNewFailingTest, why: "the new tests fail on the base code, and do not pass with the change",
		},
		"a file that does not load on the base has a name of its own": {
			runs:  map[string]string{"base": "+a", "head": "+a +b", "new": "+a !b.test.js"},
			files: []proof.File{product, newTest}, want: journal.Proven,
		},
		"red before, and fixed by a change of the test": {
			runs:  map[string]string{"base": "+a -x", "head": "+a +x", "old": "+a -x"},
			files: []proof.File{product, oldTest}, want: journal.NoNewFailingTest, why: "no test is added or changed",
		},
		"only documents": {runs: map[string]string{"base": "+a", "head": "+a"}, files: []proof.File{document}, want: journal.DocumentsOnly, why: "only documents are changed"},
		"only tests":     {runs: map[string]string{"base": "+a", "head": "+a +b"}, files: []proof.File{newTest}, want: journal.TestsOnly, why: "only tests are changed"},
		"a check fails":  {runs: map[string]string{"base": "+a", "head": "-a"}, files: []proof.File{product}, want: journal.Failed, why: "go test ./... failed (exit 1): a"},
		"an old test fails": {
			runs:  map[string]string{"base": "+a", "head": "+a", "old": "-a"},
			files: []proof.File{product, oldTest}, want: journal.NeedsReview, why: "the tests of the base fail on the new code: go test ./... failed (exit 1): a",
		},
		"a test vanished": {
			runs: map[string]string{"base": "+a +b", "head": "+a"}, files: []proof.File{product}, want: journal.NeedsReview, why: "tests that passed no longer run: b",
		},
		"a test that passed is skipped": {
			runs: map[string]string{"base": "+a +b", "head": "+a ~b"}, files: []proof.File{product}, want: journal.NeedsReview, why: "tests that passed no longer run: b",
		},
		"a renamed test runs by its old file": {
			runs:  map[string]string{"base": "+a", "head": "+b", "old": "+a", "new": "-b"},
			files: []proof.File{product, oldTest}, want: journal.Proven, tests: "b",
		},
		"cases of a test may go": {
			runs: map[string]string{"base": "+a[1] +a[2]", "head": "+a[1]"}, files: []proof.File{product}, want: journal.NoNewFailingTest, why: "no test is added or changed",
		},
		"a check file": {
			runs:  map[string]string{"base": "pass", "head": "fail", "own": "pass"},
			files: []proof.File{product, makefile}, want: journal.NeedsReview, why: "the checks pass only with changed check files: Makefile",
		},
		"a manifest": {
			runs: map[string]string{"base": "+a", "head": "+a"}, files: []proof.File{product, manifest},
			look: []journal.Look{{Kind: "manifest", File: "go.mod", Why: "it may change what the checks do: replace"}},
			want: journal.NeedsReview, why: "go.mod: it may change what the checks do: replace",
		},
		"red before, by name": {
			runs: map[string]string{"base": "+a -x", "head": "+a -x +b", "new": "+a -x -b"}, files: []proof.File{product, newTest}, want: journal.Proven, tests: "b",
		},
		"red before, and fixed": {
			runs: map[string]string{"base": "+a -x", "head": "+a +x"}, files: []proof.File{product}, want: journal.Proven, tests: "x",
		},
		"red before twice by chance": {
			runs:  map[string]string{"base": "+a -x", "head": "+a +x", "later base": "+a +x"},
			files: []proof.File{product}, want: journal.NoNewFailingTest, why: "no test is added or changed",
		},
		"red before, without names": {
			runs: map[string]string{"base": "fail", "head": "fail"}, files: []proof.File{product}, want: journal.Unknown, why: "go test ./... was red before (exit 1)",
		},
		"red at the base by chance": {
			runs: map[string]string{"base": "+a -x,+a +x", "head": "+a +x"}, files: []proof.File{product}, want: journal.NoNewFailingTest, why: "no test is added or changed",
		},
		"flaky with the change": {
			runs:  map[string]string{"base": "+a", "head": "-a +b,+a +b", "new": "+a -b"},
			files: []proof.File{product, newTest}, want: journal.Proven, tests: "b",
		},
		"the failure of a known test on the base is chance": {
			runs:  map[string]string{"base": "+a", "head": "+a", "new": "-a,+a"},
			files: []proof.File{product, newTest}, want: journal.NoNewFailingTest, why: "the new tests pass without the change",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := repository{runs: c.runs, change: proof.Change{Files: c.files, Look: c.look, Head: "head"}}
			if c.runs["old"] != "" {
				r.change.OldTests = "old"
			}
			if c.runs["new"] != "" {
				r.change.NewTests, r.change.Setup = "new", "setup"
			}
			if c.runs["own"] != "" {
				r.change.Own = "own"
			}
			got := r.prove(t, runOf("go test ./..."))
			if got.Result != c.want || got.Why != c.why || strings.Join(got.Tests, " ") != c.tests {
				t.Errorf("%s by %q: %s, want %s by %q: %s", got.Result, got.Tests, got.Why, c.want, c.tests, c.why)
			}
			if c.want == journal.Proven && c.runs["new"] == "!p" && !got.DoesNotBuild {
				t.Error("the proof does not say that the tests do not build on the base")
			}
		})
	}
}

// Linters show nothing about tests: only checks that run tests meet the second rule.
func TestLintersDoNotProve(t *testing.T) {
	r := repository{
		runs:   map[string]string{"lint@new": "fail", "go test ./...@base": "+a", "go test ./...@head": "+a +b", "go test ./...@new": "+a +b"},
		change: proof.Change{Files: []proof.File{product, newTest}, Head: "head", NewTests: "new", Setup: "setup"},
	}
	if got := r.prove(t, runOf("lint", "go test ./...")); got.Result != journal.NoNewFailingTest {
		t.Errorf("%s, want that the failing linter proves nothing", got.Result)
	}
	if slices.Contains(r.seen, "setup") {
		t.Errorf("checked out %q: without setup, the new tests are there from the beginning", r.seen)
	}
}

// A linter or a compiler is no test, also where it is the only check.
func TestALinterAloneDoesNotProve(t *testing.T) {
	r := repository{
		runs:   map[string]string{"base": "pass", "head": "pass", "new": "fail"},
		change: proof.Change{Files: []proof.File{product, newTest}, Head: "head", NewTests: "new"},
	}
	for command, want := range map[string]journal.Result{
		"go vet ./...":               journal.NoNewFailingTest,
		"cd web && npm run lint":     journal.NoNewFailingTest,
		"sh tests.sh":                journal.Proven,
		"go vet ./...\nsh shop.sh":   journal.Proven,
		"eslint .; node shop/all.js": journal.Proven,
	} {
		if got := r.prove(t, runOf(command)); got.Result != want {
			t.Errorf("%s: %s, want %s", command, got.Result, want)
		}
	}
}

// A check that was red before, and names no tests, shows nothing where it passes now.
func TestFixedWithoutNames(t *testing.T) {
	r := repository{
		runs:   map[string]string{"go test ./...@base": "fail", "go test ./...@head": "pass", "go test ./...@new": "fail"},
		change: proof.Change{Files: []proof.File{product, newTest}, Head: "head", NewTests: "new", Setup: "setup"},
	}
	got := r.prove(t, runOf("lint", "go test ./..."))
	if want := "go test ./... failed before the change, too, and names no tests"; got.Result != journal.NoNewFailingTest || got.Why != want {
		t.Errorf("%s: %s, want %s", got.Result, got.Why, want)
	}
}

// People can allow a story to change existing tests. They are listed then, and hold nothing back.
func TestAllowedChangesOfTests(t *testing.T) {
	r := repository{
		runs:   map[string]string{"base": "+a", "head": "+a", "old": "-a", "new": "-a"},
		change: proof.Change{Files: []proof.File{product, oldTest}, Head: "head", OldTests: "old", NewTests: "new"},
	}
	run := runOf("go test ./...")
	run.Plan.UserStories = []plan.Story{{ID: "US-001", MayChangeTests: true}}
	got := r.prove(t, run)
	if got.Result != journal.Proven || len(got.Look) != 1 || got.Look[0].Kind != "old_test" {
		t.Errorf("%s, to look at: %v", got.Result, got.Look)
	}
}

// A story's base is the head before it. The whole change is proven against the run's base, and the proof of the only story
// shows it, too.
func TestBaseOfAStory(t *testing.T) {
	run := runOf("go test ./...")
	run.Baseline, run.BaseChecks = &journal.BaselineEnded{Usable: true}, []journal.CheckEnded{{Name: "go test ./...", Command: "go test ./...", Passed: true}}
	taken := func(n int, story, from, to string) journal.Iteration {
		return journal.Iteration{Number: n, Story: story, Taken: &journal.CommitsTaken{From: from, To: to}}
	}
	run.Iterations = []journal.Iteration{taken(1, "US-001", "base", "c1"), taken(2, "US-002", "c1", "c2")}
	r := repository{
		runs:   map[string]string{"c1": "+a", "head": "+a +b", "new": "+a -b"},
		change: proof.Change{Files: []proof.File{product, newTest}, Head: "head", NewTests: "new"},
	}
	for _, story := range []string{"US-002", ""} {
		run = r.proveStory(t, run, verdict.Prove{Story: story, Commit: "c2", Tree: "t2"})
	}
	if run.Proofs[0].Base != "c1" || run.Proofs[1].Base != "base" || run.Proofs[1].Reused {
		t.Errorf("bases %s and %s, reused: %v", run.Proofs[0].Base, run.Proofs[1].Base, run.Proofs[1].Reused)
	}
	if !slices.Contains(r.seen, "c1") {
		t.Errorf("checked out %q, want the head before the story, whose results are not known", r.seen)
	}
	run.Iterations, run.Proofs, r.seen = run.Iterations[:1], nil, nil
	for _, story := range []string{"US-001", ""} {
		run = r.proveStory(t, run, verdict.Prove{Story: story, Commit: "c2", Tree: "t2"})
	}
	if !run.Proofs[1].Reused || run.Proofs[1].Story != "" || len(r.seen) != 2 {
		t.Errorf("the proof of the only story is not used again: %+v after %q", run.Proofs[1], r.seen)
	}
}

// Work that an earlier job pushed before it was killed is the story's that is done again.
func TestBaseOfLostWork(t *testing.T) {
	run := journal.Run{Base: "base", Iterations: []journal.Iteration{
		{Number: 1, Story: "US-001", Taken: &journal.CommitsTaken{From: "base", To: "c1"}},
		{Number: 2, Story: "US-002", Taken: &journal.CommitsTaken{From: "c2", To: "c2"}},
	}}
	for own, want := range map[bool]string{true: "c1", false: "c2"} {
		run.Merging.Joins = []journal.Joined{{Of: journal.OfBranch, Own: own, From: "c1", With: "c2", To: "c2"}}
		if got := run.Before("US-002"); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// A story without a change is met already if a green test is named for each of its criteria.
func TestNothingChanged(t *testing.T) {
	for named, held := range map[string]int{"TestA": 1, "TestX": 0} {
		run := runOf("go test ./...")
		run.Plan.UserStories = []plan.Story{{ID: "US-001", AcceptanceCriteria: []string{"it adds"}, TestedBy: []string{named}}}
		r := repository{runs: map[string]string{"base": "+p.TestA"}}
		run = r.proveStory(t, r.baseline(t, run), verdict.Prove{Story: "US-001", Commit: "base", Tree: "t"})
		if got := run.Proofs[0]; !got.Idle || len(got.Held) != held || !got.Passed {
			t.Errorf("%s: %+v", named, got)
		}
	}
}

func TestSkips(t *testing.T) {
	for paths, want := range map[string]bool{"": false, "web/**": true, "web/** *.go": false, "a.go": false} {
		if got := proof.Skips(policy.Check{Paths: paths}, []string{"a.go"}); got != want {
			t.Errorf("%q: skips is %v", paths, got)
		}
	}
}
