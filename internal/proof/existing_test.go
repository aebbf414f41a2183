package proof_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/proof"
	"github.com/ralph-loop/ralph/internal/tally"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// byCommit tells of the tests of a check by the commit that it ran on; "old"
// stands for the old tests on the new code.
type byCommit struct {
	shelf
	lists map[string]string
}

func (b byCommit) Told(check journal.CheckEnded) (tally.Tally, error) {
	if check.Where == journal.AtDoubt && !strings.Contains(check.Commit, " with ") {
		return tally.Parse(b.lists["old"]), nil
	}
	return tally.Parse(b.lists[check.Commit]), nil
}

// judged returns the check "test" that says what a list of tests says.
func judged(commit, list string) journal.CheckEnded {
	told := tally.Parse(list)
	check := journal.CheckEnded{Name: "test", Commit: commit, Passed: told.Failed == 0 && !strings.Contains(list, "broken "), Exit: told.Failed}
	if list != "" {
		check.Tests = &journal.Tests{Runner: "go", Passed: told.Passed, Failed: told.Failed, Red: told.Names(tally.Failed), Broken: told.Names(tally.Broken)}
	}
	return check
}

// bench is a lab on which old tests are put onto new code.
type bench struct {
	lab
	wanted []string
	broken error
	stood  func()                               // before the checks run on what was put there
	check  func(proof.Place) journal.CheckEnded // what the check "test" says there; nil: what the lab has it say
}

// testsAndChanges is what a shelf is.
type testsAndChanges interface {
	proof.Tests
	proof.Changes
}

func (b *bench) inspect(t *testing.T, run journal.Run, tests testsAndChanges) journal.ChangeInspected {
	t.Helper()
	p := b.prover()
	p.Tests, p.Changes = tests, tests
	if b.check != nil {
		p.Check = func(_ context.Context, _ journal.Run, at proof.Place, emit func(journal.Event)) error {
			ended := b.check(at)
			ended.Where = at.Where
			emit(ended)
			return nil
		}
	}
	p.Stand = func(_ context.Context, _ journal.Run, commit string, s proof.Standing) (string, error) {
		put := s.From + ": " + strings.Join(s.Paths, " ")
		for path, text := range s.Texts {
			put += fmt.Sprintf("%s with %q", path, text)
		}
		b.wanted = append(b.wanted, put)
		if b.stood != nil {
			b.stood()
		}
		return commit + "+", b.broken
	}
	if err := p.Inspect(t.Context(), run, verdict.Inspect{Commit: "c1", Tree: "t1"}, b.emit); err != nil {
		t.Fatal(err)
	}
	inspected, is := b.last().(journal.ChangeInspected)
	if !is || len(b.events) != 1 {
		t.Fatalf("on record are %v", b.events)
	}
	return inspected
}

// places returns what was found or shown, a line each.
func places(all []journal.Loosened) []string {
	var lines []string
	for _, place := range all {
		lines = append(lines, fmt.Sprint(place.Kind, " ", place))
	}
	return lines
}

// The base's tests judge the new code. What each of three runs says of a test
// decides: at the base, in the proof, and the old tests on the new code.
func TestExistingTestsJudge(t *testing.T) {
	const (
		both    = "passed p.TestA\npassed p.TestB"
		changed = "tests_changed a_test.go: existing tests changed; their old versions pass on the new code, or all of them still run"
		broken  = "tests_broken a_test.go: existing tests fail on the new code: "
		gone    = "tests_gone a_test.go: existing tests no longer run: "
		bent    = "tests_broken a_test.go: tests that failed before do not fail any more only because they were changed: "
	)
	touched := []proof.Differing{{Path: "a.go", Was: true}, {Path: "a_test.go", Tests: true, Was: true}}
	inline := []proof.Differing{{Path: "a_test.go", Was: true, Tests: true, Doubtful: true, Inline: []string{"p.TestA"}, Text: []byte("x")}}
	for name, c := range map[string]struct {
		base, here, old string
		differing       []proof.Differing
		found, shown    []string
		runs            int
	}{
		"nothing of the tests was touched": {both, both, "", touched[:1], nil, nil, 0},
		"a new test came":                  {both, both + "\npassed p.TestC", both, []proof.Differing{{Path: "c_test.go", Tests: true}}, nil, nil, 1},
		"a new test mends the product":     {both, both + "\npassed p.TestC", "failed p.TestA\npassed p.TestB", []proof.Differing{{Path: "c_test.go", Tests: true}}, []string{"tests_broken c_test.go: existing tests fail on the new code: p.TestA"}, nil, 1},
		"the old tests pass":               {both, both, both, touched, nil, []string{changed}, 1},
		"an old test fails":                {both, both, "failed p.TestA\npassed p.TestB", touched, []string{broken + "p.TestA"}, nil, 1},
		"a case of one fails":              {"passed p.TestA\npassed p.TestA/x", "passed p.TestA", "failed p.TestA/x", touched, []string{broken + "p.TestA"}, nil, 1},
		"it was red before":                {"failed p.TestA\npassed p.TestB", "failed p.TestA\npassed p.TestB", "failed p.TestA\npassed p.TestB", touched, nil, []string{changed}, 1},
		"one is removed, and passes":       {both, "passed p.TestB", both, touched, nil, []string{changed}, 1},
		"one is removed, and fails":        {both, "passed p.TestB", "failed p.TestA\npassed p.TestB", touched, []string{broken + "p.TestA"}, nil, 1},
		"one is skipped, and passes":       {both, "skipped p.TestA\npassed p.TestB", both, touched, nil, []string{changed}, 1},
		"one is skipped, and fails":        {both, "skipped p.TestA\npassed p.TestB", "failed p.TestA\npassed p.TestB", touched, []string{broken + "p.TestA"}, nil, 1},
		"they do not build":                {both, both, "broken p", touched, nil, []string{changed}, 1},
		"they do not build, and one went":  {both, "passed p.TestB", "broken p", touched, []string{gone + "p.TestA"}, nil, 1},
		"it has moved to another package":  {both, "passed q.TestA\npassed p.TestB", "broken p", touched, nil, []string{changed}, 1},
		"another has its name":             {both, "passed q.TestA\npassed p.TestB", "broken p", []proof.Differing{{Path: "b_test.go", Tests: true, Was: true}}, []string{"tests_gone b_test.go: existing tests no longer run: p.TestA"}, nil, 1},
		"another, and it is not found":     {both, "passed q.TestA\npassed p.TestB", "passed p.TestB", touched, []string{gone + "p.TestA"}, nil, 1},
		"one vanishes, untouched":          {both, "passed p.TestB", "", touched[:1], []string{"tests_gone test: existing tests no longer run: p.TestA"}, nil, 0},
		"none is named any more":           {both, "", "", touched[:1], []string{"tests_gone test: existing tests no longer run: p.TestA, p.TestB"}, nil, 0},
		"an old test ends the process":     {both, both, "passed p.TestB", touched, []string{broken + "p.TestA"}, nil, 1},
		"an old test crashes":              {both, both, "broken p\nbroken p did not end", touched, []string{broken + "check test"}, nil, 1},
		"it crashed before":                {"passed p.TestB\nbroken p did not end", both, "passed p.TestB\nbroken p did not end", touched, nil, []string{changed}, 1},
		"rows come and go":                 {"passed p.TestA\npassed p.TestA/1", "passed p.TestA\npassed p.TestA/2", "", touched[:1], nil, nil, 0},
		"what steers the others came":      {both, both, both, []proof.Differing{{Path: "tests/conftest.py", Tests: true, Steers: true}}, []string{"tests_steered tests/conftest.py: it changes how other tests run"}, nil, 1},
		"settings change nothing":          {both, both, both, []proof.Differing{{Path: "x.json", Settings: true}}, nil, nil, 1},
		"new settings find new tests":      {both, both + "\npassed p.TestC", both, []proof.Differing{{Path: "x.json", Settings: true}}, nil, nil, 1},
		"it passes by new settings":        {both, both + "\npassed p.TestC", both + "\nfailed p.TestC", []proof.Differing{{Path: "x.json", Settings: true}}, []string{"tests_steered x.json: with x.json as the base has it, this no longer passes: p.TestC"}, nil, 1},
		"names differ each time":           {"failed p.TestA", "failed p.TestA\npassed p.TestB/port_41", "failed p.TestA\npassed p.TestB/port_42", []proof.Differing{{Path: "x.json", Settings: true}}, nil, nil, 1},
		"red tests vanish by them":         {both, both, "failed p.TestA\npassed p.TestB", []proof.Differing{{Path: "x.json", Settings: true}}, []string{"tests_steered x.json: with x.json as the base has it, this no longer passes: p.TestA"}, nil, 1},
		"the product asks":                 {both, both, "", []proof.Differing{{Path: "a.go", Was: true, Asks: true}}, []string{"asks_for_tests a.go: the code asks whether it is being tested, or replaces what tests assert with"}, nil, 0},
		"an inline one passes":             {both, both, both, inline, nil, []string{changed}, 1},
		"an inline one cannot run":         {both, both, "passed p.TestB", inline, []string{"tests_broken a_test.go: existing inline tests cannot run on the new code: p.TestA"}, nil, 1},
		"a red one is bent":                {"failed p.TestA\npassed p.TestB", both, "failed p.TestA\npassed p.TestB", touched, []string{bent + "p.TestA"}, nil, 1},
		"a red one goes":                   {"failed p.TestA\npassed p.TestB", "passed p.TestB", "failed p.TestA\npassed p.TestB", touched, []string{gone + "p.TestA"}, nil, 1},
		"a red one is skipped":             {"failed p.TestA\npassed p.TestB", "skipped p.TestA\npassed p.TestB", "failed p.TestA\npassed p.TestB", touched, []string{gone + "p.TestA"}, nil, 1},
		"a red case goes":                  {"failed p.TestA/1\npassed p.TestA/2", "passed p.TestA\npassed p.TestA/2", "failed p.TestA/1\npassed p.TestA/2", touched, []string{gone + "p.TestA/1"}, nil, 1},
		"a red case is skipped":            {"failed p.TestA/1\npassed p.TestA/2", "skipped p.TestA/1\npassed p.TestA/2", "failed p.TestA/1\npassed p.TestA/2", touched, []string{gone + "p.TestA/1"}, nil, 1},
		"a red one moves, with a build":    {"failed p.TestA\npassed p.TestB", "passed q.TestA\npassed p.TestB", "broken p", touched, nil, []string{changed}, 1},
		"a red one goes, untouched":        {"failed p.TestA\npassed p.TestB", "passed p.TestB", "", touched[:1], []string{"tests_gone test: existing tests no longer run: p.TestA"}, nil, 0},
		"a red file loads, untouched":      {"failed b.test.js\npassed p.TestB", "passed b works\npassed p.TestB", "", touched[:1], nil, nil, 0},
		"what did not build goes":          {"broken q\nfailed p.TestA\npassed p.TestB", "failed p.TestA\npassed p.TestB", "broken q\nfailed p.TestA\npassed p.TestB", touched, []string{gone + "q"}, nil, 1},
		"a red one goes, with a build":     {"failed p.TestA\npassed p.TestB", "passed p.TestB", "broken p", touched, []string{gone + "p.TestA"}, nil, 1},
		"a red one is mended, with one":    {"failed p.TestA\npassed p.TestB", both, "broken p", touched, nil, []string{changed}, 1},
		"a red one goes by settings":       {"failed p.TestA\npassed p.TestB", "passed p.TestB", "failed p.TestA\npassed p.TestB", []proof.Differing{{Path: "x.json", Settings: true}}, []string{"tests_gone test: existing tests no longer run: p.TestA", "tests_steered x.json: with x.json as the base has it, this no longer passes: p.TestA"}, nil, 1},
		"a red one is skipped by settings": {"failed p.TestA\npassed p.TestB", "skipped p.TestA\npassed p.TestB", "failed p.TestA\npassed p.TestB", []proof.Differing{{Path: "x.json", Settings: true}}, []string{"tests_gone test: existing tests no longer run: p.TestA", "tests_steered x.json: with x.json as the base has it, this no longer passes: p.TestA"}, nil, 1},
		"a red one stays, by settings":     {"failed p.TestA\npassed p.TestB", "failed p.TestA\npassed p.TestB", "failed p.TestA\npassed p.TestB", []proof.Differing{{Path: "x.json", Settings: true}}, nil, nil, 1},
		"what did not load is bent":        {"failed b.test.js\npassed p.TestB", "passed b works\npassed p.TestB", "failed b works\npassed p.TestB", touched, []string{bent + "b works"}, nil, 1},
		"what did not load goes":           {"failed b.test.js\npassed p.TestB", "passed p.TestB", "failed b works\npassed p.TestB", touched, []string{bent + "b works"}, nil, 1},
		"what did not load is mended":      {"failed b.test.js\npassed p.TestB", "passed b works\npassed p.TestB", "passed b works\npassed p.TestB", touched, nil, []string{changed}, 1},
		"red ones are named anew":          {"failed p.TestA/41\npassed p.TestB", "failed p.TestA/43\npassed p.TestB", "failed p.TestA/42\npassed p.TestB", touched, nil, []string{changed}, 1},
		"a red one is mended":              {"failed p.TestA\npassed p.TestB", both, both, touched, nil, []string{changed}, 1},
	} {
		b := &bench{lab: lab{says: []journal.CheckEnded{judged("c1", c.old)}}}
		run := proved(asked(judged("b0", c.base)), judged("c1", c.here))
		run.Baseline.Usable = true
		texts := map[string]string{"b0:a_test.go": "func TestA(t *testing.T) {}\nfunc TestB(t *testing.T) {}\n", "b0:a.go": "func A() {}\n"}
		tests := byCommit{shelf{texts: texts, differing: map[string][]proof.Differing{"b0..c1": c.differing}}, map[string]string{"b0": c.base, "c1": c.here, "old": c.old}}
		got := b.inspect(t, run, tests)
		if diff := cmp.Diff(c.found, places(got.Found)); diff != "" {
			t.Errorf("%s: found (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(c.shown, places(got.Shown)); diff != "" {
			t.Errorf("%s: shown (-want +got):\n%s", name, diff)
		}
		if len(b.wanted) != c.runs {
			t.Errorf("%s: old tests were run %d times, want %d: %q", name, len(b.wanted), c.runs, b.wanted)
		}
		if put := `b0: a_test.go with "x"`; slices.Equal(b.wanted, []string{put}) != (c.differing[0].Text != nil) {
			t.Errorf("%s: the old tests ran with %q", name, b.wanted)
		}
	}
}

// A runner that did not end although its check passed had its process ended by the product.
func TestRunnersMustEnd(t *testing.T) {
	ended := judged("c1", "passed p.TestA")
	early := ended
	early.Tests = &journal.Tests{Runner: "go", Passed: 1, Broken: []string{"p did not end"}}
	few := judged("c1", "passed p.TestA")
	few.Command = "go test ./p"
	for name, c := range map[string]struct {
		base, here, old journal.CheckEnded
		told            string // of the old tests
		touched, held   bool
	}{
		"all end":                   {ended, ended, ended, "passed p.TestA", true, false},
		"not in the proof":          {ended, early, ended, "passed p.TestA", true, true},
		"only the product changed":  {ended, early, ended, "", false, true},
		"not with the old tests":    {ended, ended, early, "passed p.TestA", true, true},
		"as at the base":            {early, early, early, "passed p.TestA", true, false},
		"at the base, and not here": {early, ended, ended, "passed p.TestA", true, false},
		"other packages are chosen": {ended, ended, few, "passed q.TestA", true, false},
		"it ends before its tests":  {ended, ended, few, "passed p\npassed q.TestA", true, true},
	} {
		b := &bench{lab: lab{says: []journal.CheckEnded{c.old}}}
		c.base.Commit = "b0"
		run := proved(asked(c.base), c.here)
		run.Baseline.Usable = true
		lists := map[string]string{"b0": "passed p.TestA", "c1": "passed p.TestA", "old": c.told}
		differing := []proof.Differing{{Path: "a.go", Was: true}, {Path: "a_test.go", Tests: true, Was: true}}
		if !c.touched {
			differing = differing[:1]
		}
		got := b.inspect(t, run, byCommit{shelf{differing: map[string][]proof.Differing{"b0..c1": differing}}, lists})
		if held := len(got.Found) > 0; held != c.held {
			t.Errorf("%s: %v", name, places(got.Found))
		}
	}
}

// A check may run a runner that names what passes and one that only counts it.
func TestOldTestsFailInARunnerThatCounts(t *testing.T) {
	base, here, old := judged("b0", "passed p.TestA"), judged("c1", "passed p.TestA"), judged("c1", "passed p.TestA\nfailed a.test.js > adds")
	base.Tests.Passed, here.Tests.Passed, old.Tests.Passed = 3, 3, 2
	b := &bench{lab: lab{says: []journal.CheckEnded{old}}}
	run := proved(asked(base), here)
	run.Baseline.Usable = true
	lists := map[string]string{"b0": "passed p.TestA", "c1": "passed p.TestA", "old": "passed p.TestA\nfailed a.test.js > adds"}
	differing := []proof.Differing{{Path: "a.js", Was: true}, {Path: "a.test.js", Tests: true, Was: true}}
	if got := b.inspect(t, run, byCommit{shelf{differing: map[string][]proof.Differing{"b0..c1": differing}}, lists}); len(got.Found) == 0 {
		t.Error("the old test fails on the new code, and nothing is found")
	}
}

// The product can end the process with 0 after the runner printed its failures.
func TestFailuresCountThoughACheckPasses(t *testing.T) {
	const both = "passed p.TestA\npassed p.TestB"
	for list, held := range map[string]bool{
		"passed p.TestB\nfailed p.TestA":                 true,
		"passed p.TestA\npassed p.TestB\nfailed p.TestA": false, // it ran again
		"passed p.TestA\npassed p.TestB\nfailed p.TestC": false, // it is new
	} {
		here := judged("c1", list)
		here.Passed, here.Exit = true, 0
		run := proved(asked(judged("b0", both)), here)
		run.Baseline.Usable = true
		b := &bench{}
		differing := map[string][]proof.Differing{"b0..c1": {{Path: "a.go", Was: true}}}
		got := b.inspect(t, run, byCommit{shelf{differing: differing}, map[string]string{"b0": both, "c1": list}})
		if len(got.Found) > 0 != held {
			t.Errorf("%q: %v", list, places(got.Found))
		}
	}
}

// Where nothing but tests was changed, the old tests on the new code are those of the
// base, which have run, and the new ones cannot fail on the base code.
func TestNothingRunsForTestsAlone(t *testing.T) {
	const red = "failed p.TestA\npassed p.TestB"
	tests := shelf{
		testsAlone: true, files: []string{"a_test.go"}, stand: "b0+tests",
		differing: map[string][]proof.Differing{"b0..c1": {{Path: "a_test.go", Tests: true, Was: true}}},
	}
	b := &bench{}
	run := proved(asked(judged("b0", red)), judged("c1", "passed p.TestA\npassed p.TestB"))
	got := b.inspect(t, run, byCommit{tests, map[string]string{"b0": red, "c1": "passed p.TestA\npassed p.TestB"}})
	want := []string{"tests_broken a_test.go: tests that failed before do not fail any more only because they were changed: p.TestA"}
	if diff := cmp.Diff(want, places(got.Found)); diff != "" || len(b.wanted) != 0 {
		t.Errorf("ran %q, found (-want +got):\n%s", b.wanted, diff)
	}
	read := tests
	read.differing = map[string][]proof.Differing{"b0..c1": {{Path: "CHANGES.md", Tests: true, Was: true, Doubtful: true}}} // as a test names it
	if b = (&bench{}); b.inspect(t, run, byCommit{read, map[string]string{"b0": red, "c1": red}}).Why != "" || len(b.wanted) != 0 {
		t.Errorf("for a file that tests read, %q ran", b.wanted)
	}
	l := &lab{}
	p := l.prover()
	p.Tests, p.Changes = tests, tests
	if err := p.Grade(t.Context(), run, verdict.Grade{Story: "US-001", Commit: "c1", Tree: "t1"}, l.emit); err != nil {
		t.Fatal(err)
	}
	if graded, is := l.last().(journal.StoryGraded); !is || graded.Grade != journal.TestsOnly || len(l.lent) != 0 {
		t.Errorf("graded %+v in the checkouts %q, want %s in none", l.last(), l.lent, journal.TestsOnly)
	}
	tests.differing["b0..c1"] = append(tests.differing["b0..c1"], proof.Differing{Path: "prices.py", Tests: true, Was: true}) // as a check names it
	if err := p.Grade(t.Context(), run, verdict.Grade{Story: "US-001", Commit: "c1", Tree: "t1"}, l.emit); err != nil || len(l.lent) == 0 {
		t.Errorf("with a product file that the check names: %v in the checkouts %q, want some", err, l.lent)
	}
}

// A test that the proof saw fail and then pass does not hold back a change that
// touches no test file.
func TestChanceDoesNotBlame(t *testing.T) {
	const both = "passed p.TestA\npassed p.TestB"
	flaky := judged("c1", both)
	flaky.Flaky, flaky.First = true, &journal.Try{Exit: 1, Tests: &journal.Tests{Red: []string{"p.TestA/row"}}}
	for name, c := range map[string]struct {
		here journal.CheckEnded
		file proof.Differing
		old  string
		want []string
	}{
		"flaky in the proof":        {flaky, proof.Differing{Path: "x.md", Tests: true, Was: true}, "failed p.TestA/row", nil},
		"another test":              {flaky, proof.Differing{Path: "x.md", Tests: true, Was: true}, "failed p.TestB", []string{"p.TestB"}},
		"passed in the proof":       {judged("c1", both), proof.Differing{Path: "x.md", Tests: true, Was: true}, "failed p.TestA", []string{"p.TestA"}},
		"flaky, and a test changed": {flaky, proof.Differing{Path: "a_test.go", Tests: true, Was: true}, "failed p.TestA/row", []string{"p.TestA"}},
	} {
		b := &bench{lab: lab{says: []journal.CheckEnded{judged("c1", c.old)}}}
		run := proved(asked(judged("b0", both)), c.here)
		run.Baseline.Usable = true
		tests := byCommit{shelf{differing: map[string][]proof.Differing{"b0..c1": {c.file}}}, map[string]string{"b0": both, "c1": both, "old": c.old}}
		var got []string
		for _, place := range b.inspect(t, run, tests).Found {
			got = append(got, place.Tests...)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Where a runner tells of no tests, or only how many passed, the check as a whole
// and the count decide.
func TestExistingTestsWithoutNames(t *testing.T) {
	counts := func(passed int) journal.CheckEnded {
		return journal.CheckEnded{Name: "test", Passed: true, Tests: &journal.Tests{Runner: "mocha", Passed: passed}}
	}
	const broken = "tests_broken a.test.js: existing tests fail on the new code: check test"
	fewer := "tests_gone a.test.js: fewer tests run: 3 passed before, 2 pass now"
	unloaded := failing(nil, "./a.test.js")
	selected := counts(2)
	selected.Command = "jest --runTestsByPath a.test.js"
	silent := green("test")
	silent.Command = selected.Command
	skips := counts(4)
	skips.Tests.Skipped = 1
	late := red("test", 143)
	late.TimedOut = true
	for name, c := range map[string]struct {
		base, here, old journal.CheckEnded
		want            []string
	}{
		"green":                 {green("test"), green("test"), green("test"), nil},
		"red":                   {green("test"), green("test"), red("test", 1), []string{broken}},
		"out of time":           {green("test"), green("test"), late, []string{"tests_broken a.test.js: the existing tests could not be run to their end on the new code: test ran out of time"}},
		"killed":                {green("test"), green("test"), red("test", 139), []string{"tests_broken a.test.js: the existing tests could not be run to their end on the new code: test ended with exit code 139"}},
		"as many":               {counts(3), counts(3), counts(3), nil},
		"fewer, and green":      {counts(3), counts(2), counts(3), nil},
		"fewer, and not run":    {counts(3), counts(2), failing(nil, "a.test.js"), []string{fewer}},
		"as many, and not run":  {counts(3), counts(3), unloaded, []string{"tests_gone a.test.js: existing tests cannot run on the new code, and no test there has their names: adds"}},
		"the old were not run":  {counts(3), counts(3), counts(2), []string{"tests_gone a.test.js: fewer tests run: 3 passed before, 2 pass on the new code"}},
		"the old were selected": {counts(3), counts(3), selected, nil},
		"one more is skipped":   {counts(3), skips, selected, []string{"tests_gone a.test.js: more tests are skipped: 0 before, 1 now"}},
		"it was skipped before": {skips, skips, selected, nil},
		"selected, and silent":  {counts(3), counts(3), silent, []string{"tests_gone a.test.js: the old versions of tests print no count of tests on the new code"}},
		"one fails by name":     {counts(3), counts(3), failing([]string{"adds"}), []string{"tests_broken a.test.js: existing tests fail on the new code: adds"}},
	} {
		b := &bench{lab: lab{says: []journal.CheckEnded{c.old}}}
		run := proved(asked(c.base), c.here)
		run.Baseline.Usable = true
		lists := map[journal.Where]string{}
		if c.old.Tests != nil && len(c.old.Tests.Broken) > 0 {
			lists[journal.AtDoubt] = "broken " + c.old.Tests.Broken[0]
		}
		got := b.inspect(t, run, shelf{texts: map[string]string{"b0:a.test.js": "it('adds', f); it('ends', f)", "c1:b.test.js": "it('ends', f)"}, lists: lists, differing: map[string][]proof.Differing{"b0..c1": {{Path: "a.test.js", Tests: true, Was: true}, {Path: "b.test.js", Tests: true}}}})
		if diff := cmp.Diff(c.want, places(got.Found)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Where nothing is proven no test is run; where the old tests cannot be, that is
// a reason to hold the work back.
func TestExistingTestsThatCannotBeRun(t *testing.T) {
	touched := shelf{differing: map[string][]proof.Differing{"b0..c1": {{Path: "a_test.go", Tests: true, Was: true}}}}
	run := proved(asked(green("test")), green("test"))
	run.Policy.Setup = run.Policy.Checks
	run.Proofs[0].Rules.Setup = run.Policy.Setup
	b := &bench{lab: lab{sets: []journal.SetupEnded{{Name: "npm ci", Exit: 1}}}}
	want := []string{"tests_broken a_test.go: the existing tests could not be run on the new code: setup failed: npm ci (exit 1)"}
	if diff := cmp.Diff(want, places(b.inspect(t, run, touched).Found)); diff != "" {
		t.Errorf("where setup fails (-want +got):\n%s", diff)
	}
	run.Policy.Setup, run.Proofs[0].Rules.Setup = nil, nil
	b = &bench{broken: errors.New("no space left")}
	if got := b.inspect(t, run, touched); got.Why != "put the tests of b0 onto c1: no space left" {
		t.Errorf("Why = %q", got.Why)
	}
	run.Baseline = nil
	b = &bench{}
	if got := b.inspect(t, run, touched); got.Why != "" || got.Found != nil || b.wanted != nil {
		t.Errorf("without a baseline %+v, wanted %q", got, b.wanted)
	}
}

// second returns a run in which a second story was just proven, after a first one that
// was shown by TestTen.
func second() journal.Run {
	const here = "passed p.TestOne\npassed p.TestTen"
	run := proved(asked(judged("b0", "passed p.TestOne")), judged("c1", here))
	run.Baseline.Usable = true
	run.Proofs = append([]journal.Proof{{Commit: "c0", Tree: "t0", Passed: true, Checks: []journal.CheckEnded{judged("c0", here)}}}, run.Proofs...)
	run.Grades = []journal.StoryGraded{{Story: "US-001", Commit: "c0", Grade: journal.RedToGreen, Files: []string{"ten_test.go"}, Tests: []string{"p.TestTen"}}}
	run.Inspections = []journal.ChangeInspected{{Commit: "c0", Tree: "t0"}}
	return run
}

// So are those of the work that a run builds on.
func TestTestsOfTheWorkBeforeJudge(t *testing.T) {
	const one, both = "passed p.TestOne", "passed p.TestOne\npassed p.TestTen"
	lists := map[string]string{"b0": one, "s0": both, "c1": both, "old": one + "\nfailed p.TestTen"}
	tests := byCommit{shelf{differing: map[string][]proof.Differing{
		"b0..c1": {{Path: "ten_test.go", Tests: true}}, "s0..c1": {{Path: "ten_test.go", Tests: true, Was: true}},
	}}, lists}
	for _, onto := range []string{"", "ts", "red"} {
		run := proved(asked(judged("b0", one)), judged("c1", both))
		run.Onto = journal.Onto{Commit: "s0", Tree: onto}
		run.BuiltOn = []journal.Onto{run.Onto}
		start := journal.Proof{Commit: "s0", Tree: onto, Passed: onto == "ts", Why: map[string]string{"red": "test failed", "ts": "a remark"}[onto], Rules: run.Proofs[0].Rules, Checks: []journal.CheckEnded{judged("s0", both)}}
		if onto != "" {
			run.Proofs = append([]journal.Proof{start}, run.Proofs...)
		}
		b := &bench{lab: lab{says: []journal.CheckEnded{judged("c1", lists["old"])}}}
		var want []string
		switch onto {
		case "red":
			want = append(want, "tests_gone ten_test.go: which tests passed is not known, as the checks failed before this run's work: test failed")
			fallthrough
		case "ts":
			want = append(want, "tests_broken ten_test.go: existing tests fail on the new code, as they were before this run's work: p.TestTen")
		}
		if diff := cmp.Diff(want, places(b.inspect(t, run, tests).Found)); diff != "" {
			t.Errorf("onto %q (-want +got):\n%s", onto, diff)
		}
	}
}

// What people pushed later may change the tests of a story that was proven before. A story that has no test any more is
// told. What they did not change judges on.
func TestNewerWorkOfOthersReplacesTheTests(t *testing.T) {
	const one, both = "passed p.TestOne", "passed p.TestOne\npassed p.TestTen"
	const lost = "tests_gone ten_test.go: the tests that proved US-001 are gone: p.TestTen"
	const gone = "tests_gone test: existing tests no longer run, as they were when US-001 passed: p.TestTen"
	const broken = "tests_broken ten_test.go: existing tests fail on the new code, as they were when US-001 passed: p.TestTen"
	const unknown = "tests_gone ten_test.go: which tests passed is not known, as the checks failed before this run's work: build"
	theirs := []proof.Differing{{Path: "ten_test.go", Tests: true, Was: true}}
	for name, c := range map[string]struct {
		passes, red   bool
		renamed       bool              // by the agent, before they pushed
		alone         bool              // the old tests run without their change
		added         bool              // the agent changed no file of tests, but added one
		theirs        []proof.Differing // what people changed
		onto, c1, old string
		joined        string   // their tests without the agent's later work; as onto where empty
		text          string   // of the story's test at the end
		named         []string // its tests
		files         []string // where they are, if elsewhere
		want          []string
	}{
		"an open story":            {theirs: theirs, onto: one, c1: one},
		"a proven one":             {passes: true, theirs: theirs, onto: one, c1: one, named: []string{"p.TestTen"}, want: []string{lost}},
		"a test of no file":        {passes: true, theirs: theirs, onto: one, c1: one, files: []string{}, named: []string{"p.TestTen"}, want: []string{"tests_gone p.TestTen: the tests that proved US-001 are gone: p.TestTen"}},
		"a test is left":           {passes: true, theirs: theirs, onto: both, c1: both, named: []string{"p.TestTen", "p.TestOther"}},
		"a test has moved":         {passes: true, theirs: theirs, onto: one, c1: "passed p.TestOne\npassed q.TestTen", named: []string{"p.TestTen"}},
		"a file is left":           {passes: true, theirs: theirs, onto: one, c1: one, text: "x"},
		"no file is left":          {passes: true, theirs: theirs, onto: one, c1: one, want: []string{"tests_gone ten_test.go: the tests that proved US-001 are gone: ten_test.go"}},
		"not their file":           {onto: both, c1: both, old: "passed p.TestOne\nfailed p.TestTen", want: []string{broken}},
		"renamed before":           {renamed: true, onto: "passed p.TestOne\npassed p.TestNew", c1: "passed p.TestOne\npassed p.TestNew", old: "passed p.TestOne\nfailed p.TestTen", want: []string{broken}},
		"their file":               {theirs: theirs, onto: both, c1: both},
		"they renamed it":          {theirs: theirs, onto: one + "\npassed p.TestNew", c1: one + "\npassed p.TestNew", old: one + "\nfailed p.TestNew", want: []string{strings.ReplaceAll(broken, "p.TestTen", "p.TestNew")}},
		"theirs end the run early": {onto: both, c1: "passed p.TestOne\npassed p.TestTen", joined: "failed p.TestTheirs", old: one + "\nfailed p.TestTen", want: []string{broken}},
		"theirs do not build":      {onto: both, c1: both, joined: "broken p", old: one + "\nfailed p.TestTen", alone: true, want: []string{broken}},
		"their runner is silent":   {theirs: theirs, onto: "", c1: both, old: "passed p.TestOne\nfailed p.TestTen", want: []string{broken}},
		"silent, and one went":     {theirs: theirs, c1: one, old: one, want: []string{strings.Replace(gone, " test:", " ten_test.go:", 1)}},
		"not all could run":        {red: true, onto: "passed p.TestOne\nfailed p.TestX", c1: one, old: one + "\nfailed p.TestTen", want: []string{broken, "tests_broken ten_test.go: tests that failed before do not fail any more only because they were changed: p.TestTen"}},
		"a new test stands in":     {red: true, added: true, c1: both, old: "passed p.TestOne\nfailed p.TestTen", want: []string{strings.ReplaceAll(broken, "ten_test.go", "new_test.go")}},
		"their line, and another":  {theirs: theirs, onto: both, c1: both, old: "passed p.TestOne\nfailed p.TestTen", want: []string{broken}},
		"their red test is named":  {red: true, theirs: theirs, onto: both + "\nfailed p.TestX", c1: both, old: both},
		"the checks failed":        {red: true, theirs: theirs, c1: both, want: []string{unknown}},
		"they failed, not by them": {red: true, c1: both, old: "passed p.TestOne\nfailed p.TestTen", want: []string{broken}},
		"they failed, and it went": {red: true, theirs: theirs, c1: one, want: []string{unknown, gone}},
	} {
		run := second()
		first := run.Proofs[0]
		run.Plan.UserStories = []plan.Story{{ID: "US-001", Passes: c.passes}}
		if run.Grades[0].Tests = c.named; c.files != nil {
			run.Grades[0].Files = c.files
		}
		run.Iterations = []journal.Iteration{{Story: "US-001", Proof: &first}, {Story: "US-002"}}
		run.Onto = journal.Onto{Commit: "o1", Tree: "to", Iterations: 1, Proofs: 2}
		run.BuiltOn = []journal.Onto{run.Onto}
		run.Grounds = []journal.Joined{{Sound: "w0", With: "p0", Onto: &run.Onto}} // the agent changed the test before they pushed
		onto := journal.Proof{Commit: "o1", Tree: "to", Passed: !c.red, Why: "build", Rules: run.Proofs[1].Rules, Checks: []journal.CheckEnded{judged("o1", c.onto)}}
		if c.red {
			onto.Checks = []journal.CheckEnded{{Name: "test", Exit: 1}}
			if c.onto != "" {
				onto.Checks[0] = judged("o1", c.onto)
			}
		}
		here := run.Proofs[1]
		here.Checks = []journal.CheckEnded{judged("c1", c.c1)}
		before := both // what passed before they pushed
		if c.renamed {
			before = c.onto
		}
		run.Proofs = []journal.Proof{first, {Commit: "w0", Checks: []journal.CheckEnded{judged("w0", before)}}, onto, here}
		touched := []proof.Differing{{Path: "a.go", Was: true}, {Path: "ten_test.go", Tests: true, Was: true}}
		if c.added {
			touched[1] = proof.Differing{Path: "new_test.go", Tests: true}
		}
		tests := byCommit{shelf{differing: map[string][]proof.Differing{"w0..o1": c.theirs, "c0 with p0..o1": touched, "c0 with p0..c1": touched}, texts: map[string]string{"c1:ten_test.go": c.text}}, map[string]string{
			"b0": one, "o1": c.onto, "c0": both, "w0": before, "c1": c.c1, "old": c.old,
		}}
		if c.red {
			tests.differing["o1..c1"] = touched
		}
		if c.alone {
			tests.differing["c0..c1"], tests.differing["c0..o1"] = touched, touched
		}
		if c.theirs != nil && c.old == "" { // it is as they left it
			tests.differing["c0 with p0..c1"] = touched[:1]
		}
		tests.lists["b0 with p0"], tests.lists["c0 with p0"] = one, both
		switch {
		case c.joined != "":
			tests.lists["c0 with p0"] = c.joined
		case c.theirs != nil && c.onto != "":
			tests.lists["c0 with p0"] = c.onto
		}
		b := &bench{}
		b.check = func(at proof.Place) journal.CheckEnded {
			switch {
			case strings.Contains(at.Commit, " with "):
				return judged(at.Commit, tests.lists[at.Commit])
			case c.alone && strings.HasPrefix(b.wanted[len(b.wanted)-1], "c0 with p0"):
				return judged("c1", "broken p")
			}
			return judged("c1", c.old)
		}
		got := places(b.inspect(t, run, tests).Found)
		slices.Sort(got)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// People may remove tests of a runner that only counts them, and change the product: then the base with old tests is not
// the base that was checked.
func TestOlderTestsWithPeoplesChange(t *testing.T) {
	counted := func(commit string, passed int) journal.CheckEnded {
		return journal.CheckEnded{Name: "test", Commit: commit, Passed: true, Tests: &journal.Tests{Runner: "jest", Passed: passed}}
	}
	for onto, want := range map[int]int{4: 0, 5: 2} { // by what they pushed, and by the base
		run := second()
		run.Grades, run.BaseChecks = nil, []journal.CheckEnded{counted("b0", 5)}
		run.Onto = journal.Onto{Commit: "o1", Tree: "to", Iterations: 1}
		run.BuiltOn = []journal.Onto{run.Onto}
		run.Grounds = []journal.Joined{{Sound: "b0", With: "p0", Onto: &run.Onto}}
		here := run.Proofs[1]
		here.Checks = []journal.CheckEnded{counted("c1", 4)}
		theirs := journal.Proof{Commit: "o1", Tree: "to", Passed: true, Rules: here.Rules, Checks: []journal.CheckEnded{counted("o1", onto)}}
		run.Proofs = []journal.Proof{theirs, theirs, here} // which is said once
		touched := []proof.Differing{{Path: "a.test.js", Tests: true, Was: true}}
		tests := byCommit{shelf{testsAlone: true, differing: map[string][]proof.Differing{"b0 with p0..c1": touched, "b0 with p0..o1": touched}}, nil}
		b := &bench{check: func(at proof.Place) journal.CheckEnded {
			if at.Commit == "b0 with p0" {
				return counted(at.Commit, onto)
			}
			return counted("c1", 4)
		}}
		found := places(b.inspect(t, run, tests).Found)
		if len(found) != want || !slices.Contains(b.wanted, "b0 with p0: a.test.js") {
			t.Errorf("%d tests run after people pushed: found %q, put there %q", onto, found, b.wanted)
		}
	}
}

// What people let one story change takes no proof from another.
func TestAllowedChangesLeaveOtherStories(t *testing.T) {
	for text, want := range map[string]bool{"": true, "x": false} {
		run := second()
		run.Plan.UserStories = []plan.Story{{ID: "US-001", Passes: true}, {ID: "US-002", MayChangeTests: true}}
		run.Iterations = []journal.Iteration{{Story: "US-001", Ended: &journal.IterationEnded{}, Proof: &run.Proofs[0]}, {Story: "US-002"}}
		run.Grades[0].Tests = nil
		tests := byCommit{shelf{texts: map[string]string{"c1:ten_test.go": text}}, map[string]string{"b0": "passed p.TestOne", "c0": "passed p.TestOne", "c1": "passed p.TestOne"}}
		found := places((&bench{}).inspect(t, run, tests).Found)
		if lost := slices.Contains(found, "tests_gone ten_test.go: the tests that proved US-001 are gone: ten_test.go"); lost != want {
			t.Errorf("with the text %q found %q", text, found)
		}
	}
}

// Tests by which an earlier story is proven are existing tests for later ones.
func TestEarlierStoriesTestsJudge(t *testing.T) {
	lists := map[string]string{"b0": "passed p.TestOne", "c0": "passed p.TestOne\npassed p.TestTen", "c1": "passed p.TestOne\npassed p.TestTen", "old": "passed p.TestOne\nfailed p.TestTen"}
	tests := byCommit{shelf{differing: map[string][]proof.Differing{
		"b0..c1": {{Path: "ten_test.go", Tests: true}}, "c0..c1": {{Path: "ten_test.go", Tests: true, Was: true}},
	}}, lists}
	b := &bench{lab: lab{says: []journal.CheckEnded{judged("c1", lists["old"])}}}
	got := b.inspect(t, second(), tests)
	want := []string{"tests_broken ten_test.go: existing tests fail on the new code, as they were when US-001 passed: p.TestTen"}
	if diff := cmp.Diff(want, places(got.Found)); diff != "" || !slices.Equal(b.wanted, []string{"c0: ten_test.go"}) {
		t.Errorf("put there %q, found (-want +got):\n%s", b.wanted, diff)
	}
	later := second() // what people let an earlier run change holds for the base alone
	later.Allowed = []string{"p.TestTen"}
	b = &bench{lab: lab{says: []journal.CheckEnded{judged("c1", lists["old"])}}}
	if diff := cmp.Diff(want, places(b.inspect(t, later, tests).Found)); diff != "" {
		t.Errorf("with a permission of an earlier run (-want +got):\n%s", diff)
	}
	held := second() // what the first story did to tests waits for a person: its tests do not count yet
	held.Policy.Tamper = policy.TamperReport
	held.Inspections = []journal.ChangeInspected{{Commit: "c0", Tree: "t0", Found: []journal.Loosened{{File: "one_test.go"}}}}
	b = &bench{}
	if got := b.inspect(t, held, tests); got.Found != nil || !slices.Equal(b.wanted, []string{"b0: ten_test.go"}) {
		t.Errorf("found %v by %q, want the base's tests alone", got.Found, b.wanted)
	}
	failed := second()
	failed.Proofs[0].Passed = false
	b = &bench{}
	if got := b.inspect(t, failed, tests); got.Found != nil || !slices.Equal(b.wanted, []string{"b0: ten_test.go"}) {
		t.Errorf("found %v by %q, also by a commit that failed", got.Found, b.wanted)
	}
	// The first story changed a test of the base, or took it away, and its old version
	// passed then; the second breaks what it asked for.
	run := second()
	const three = "passed p.TestOne\npassed p.TestThree"
	run.BaseChecks = []journal.CheckEnded{judged("b0", three)}
	for name, c0 := range map[string]string{"taken away": lists["c0"], "changed": lists["c0"] + "\npassed p.TestThree"} {
		tests.lists = map[string]string{"b0": three, "c0": c0, "c1": c0, "old": "passed p.TestOne\nfailed p.TestThree"}
		differs := []proof.Differing{{Path: "three_test.go", Was: true, Tests: true}}
		tests.differing = map[string][]proof.Differing{"b0..c1": differs, "b0..c0": differs}
		b = &bench{lab: lab{says: []journal.CheckEnded{judged("c1", tests.lists["old"])}}}
		got = b.inspect(t, run, tests)
		if diff := cmp.Diff([]string{"tests_broken three_test.go: existing tests fail on the new code: p.TestThree"}, places(got.Found)); diff != "" {
			t.Errorf("%s: found (-want +got):\n%s", name, diff)
		}
	}
	all := lists["c0"] + "\npassed p.TestThree"
	tests.lists = map[string]string{"b0": three, "c0": all, "c1": all}
	delete(tests.differing, "b0..c0") // the first story's reference has it as the base does
	b = &bench{}
	if got := b.inspect(t, run, tests); got.Found != nil || b.wanted != nil {
		t.Errorf("found %v by %q, though a newer reference has every test", places(got.Found), b.wanted)
	}
}

// What the author allows is shown and holds nothing back, for this story
// and in what is looked at after it; nothing else is allowed by it.
func TestAllowedChangesOfTests(t *testing.T) {
	lists := map[string]string{"b0": "passed p.TestA\npassed p.TestB", "c1": "passed p.TestA\npassed p.TestB", "old": "failed p.TestA\npassed p.TestB"}
	tests := byCommit{shelf{differing: map[string][]proof.Differing{"b0..c1": {{Path: "a_test.go", Tests: true, Was: true}}}}, lists}
	const broken = "tests_broken a_test.go: existing tests fail on the new code: p.TestA"
	for name, c := range map[string]struct {
		may, ended   bool
		earlier      []string
		of           string // the commit of the earlier one, proven before or after the reference
		found, shown []string
	}{
		"not allowed":               {found: []string{broken}},
		"allowed":                   {may: true, shown: []string{broken}},
		"another story was":         {may: true, ended: true, found: []string{broken}},
		"allowed to an earlier one": {may: true, ended: true, earlier: []string{"p.TestA"}, shown: []string{broken}},
		"allowed before the tests":  {may: true, ended: true, earlier: []string{"p.TestA"}, of: "b0", found: []string{broken}},
		"less was":                  {may: true, ended: true, earlier: []string{"p.TestB"}, found: []string{broken}},
	} {
		run := proved(asked(judged("b0", lists["b0"])), judged("c1", lists["c1"]))
		run.Baseline.Usable = true
		run.Plan.UserStories = []plan.Story{{ID: "US-001", MayChangeTests: c.may}}
		it := journal.Iteration{Number: 1, Story: "US-001"}
		if c.ended {
			it.Ended = &journal.IterationEnded{}
		}
		run.Iterations = []journal.Iteration{it}
		if c.earlier != nil {
			run.Inspections = []journal.ChangeInspected{{Commit: c.of, Tree: "t0", Shown: []journal.Loosened{{File: "a_test.go", Kind: "tests_broken", Tests: c.earlier}}}}
		}
		b := &bench{lab: lab{says: []journal.CheckEnded{judged("c1", lists["old"])}}}
		got := b.inspect(t, run, tests)
		if diff := cmp.Diff(c.found, places(got.Found)); diff != "" {
			t.Errorf("%s: found (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(c.shown, places(got.Shown)); diff != "" {
			t.Errorf("%s: shown (-want +got):\n%s", name, diff)
		}
	}
}
