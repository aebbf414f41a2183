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
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/proof"
	"github.com/ralph-loop/ralph/internal/suite"
	"github.com/ralph-loop/ralph/internal/tally"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// shelf is a story's files, and the lists beside the logs.
type shelf struct {
	idle    bool // nothing was done
	files   []string
	stand   string // the base with them; the base itself where empty
	lists   map[journal.Where]string
	of, put error
	mixed   bool              // test files share a process
	texts   map[string]string // of files, by commit and path
	// testsAlone tells that no product file was changed beside those of differing.
	testsAlone bool

	differing map[string][]proof.Differing // files, by the two commits
}

func (s shelf) Touched(context.Context, journal.Run, string, string) ([]string, error) {
	if s.idle {
		return nil, nil
	}
	if s.testsAlone {
		return s.files, nil
	}
	return slices.Concat(s.files, []string{"cart.go"}), nil
}

func (s shelf) Of(context.Context, journal.Run, string, string) ([]string, error) {
	tests := slices.DeleteFunc(slices.Clone(s.files), func(name string) bool { return suite.Of(name) == suite.None })
	return tests, s.of
}

func (s shelf) Onto(_ context.Context, run journal.Run, _ string, _ []string) (string, error) {
	if s.stand == "" {
		return run.Base, s.put
	}
	return s.stand, s.put
}

func (s shelf) Without(_ context.Context, commit string, work []journal.CommitsTaken) (string, error) {
	return fmt.Sprintf("%s without %s", commit, work[0].To), s.put
}

func (s shelf) With(_ context.Context, commit string, others journal.Joined) (string, error) {
	return commit + " with " + others.With, s.put
}

func (s shelf) Differing(_ context.Context, _ journal.Run, from, to string) ([]proof.Differing, error) {
	files := s.differing[from+".."+to]
	if !s.testsAlone {
		files = append(slices.Clone(files), proof.Differing{Path: "cart.go", Was: true})
	}
	return files, s.of
}

func (s shelf) Patch(_ context.Context, _, _, path string) ([]string, error) {
	return []string{"-" + path}, nil
}

func (s shelf) Reads(_ context.Context, _ journal.Run, command, variable string) (bool, error) {
	return strings.Contains(command, variable), nil
}

func (s shelf) Mixed(context.Context, journal.Run, string, string) (bool, error) { return s.mixed, nil }

func (s shelf) Text(_ context.Context, commit, path string) (string, error) {
	return s.texts[commit+":"+path], nil
}

func (s shelf) Told(check journal.CheckEnded) (tally.Tally, error) {
	return tally.Parse(s.lists[check.Where]), nil
}

// told returns a check of which a runner tells that so many tests pass.
func told(runner string, passed int) journal.CheckEnded {
	return journal.CheckEnded{Name: "test", Passed: true, Tests: &journal.Tests{Runner: runner, Passed: passed}}
}

// failing returns a check that is red with these tests, and these that are none.
func failing(red []string, broken ...string) journal.CheckEnded {
	return journal.CheckEnded{Name: "test", Exit: 1, Tests: &journal.Tests{Runner: "go", Passed: 1, Failed: len(red), Red: red, Broken: broken}}
}

func asking(check journal.CheckEnded, asked map[string]tally.Outcome) journal.CheckEnded {
	tests := *check.Tests
	tests.Asked = asked
	check.Tests = &tests
	return check
}

func TestGrade(t *testing.T) {
	const (
		cart   = "p.TestCart"
		unseen = "its tests fail on the base code, and did not pass with its change"
	)
	brought := []string{"cart.go", "cart_test.go"}
	flaky := failing([]string{cart})
	flaky.Flaky = true
	killed := red("test", 137)
	unloaded := failing([]string{"hours.test.js"})
	unloaded.Tests.Runner = "tap"
	const hours = "passed minutes\npassed tells hours"
	for name, test := range map[string]struct {
		base, here, there journal.CheckEnded
		files             []string
		same              bool
		lists             map[journal.Where]string
		want              journal.Grade
		tests             []string
		why               string
	}{
		"red as a whole": {base: green("test"), here: green("test"), there: red("test", 1), files: brought, want: journal.RedToGreen},
		"green as a whole": {
			base: green("test"), here: green("test"), there: green("test"), files: brought,
			want: journal.Unbroken, why: "its tests pass without its change, too",
		},
		"by name": {
			base: counted(1), here: counted(2), there: failing([]string{cart}), files: brought,
			lists: map[journal.Where]string{journal.AtProof: "passed " + cart}, want: journal.RedToGreen, tests: []string{cart},
		},
		"of a runner that names no passes": {
			base: counted(1), here: told("jest", 2), there: failing([]string{cart}), files: brought,
			lists: map[journal.Where]string{journal.AtProof: "passed p"}, want: journal.RedToGreen, tests: []string{cart},
		},
		"skipped here": {
			base: counted(1), here: counted(2), there: failing([]string{cart}), files: brought,
			lists: map[journal.Where]string{journal.AtProof: "skipped " + cart + "\npassed p.TestA"}, want: journal.Unbroken, why: unseen,
		},
		"not run here": {
			base: counted(1), here: counted(2), there: failing([]string{cart}), files: brought,
			lists: map[journal.Where]string{journal.AtProof: "passed q.TestA"}, want: journal.Unbroken, why: unseen,
		},
		"it does not build there": {
			base: counted(1), here: counted(2), there: failing(nil, "p"), files: brought,
			lists: map[journal.Where]string{journal.AtBase: "passed p.TestOld", journal.AtProof: "passed p.TestOld\npassed " + cart},
			want:  journal.RedToGreen, tests: []string{cart},
		},
		"a file that node does not load there": {
			base: told("tap", 1), here: told("tap", 2), there: unloaded, files: brought,
			lists: map[journal.Where]string{journal.AtBase: "passed minutes", journal.AtTests: "passed minutes\nfailed hours.test.js", journal.AtProof: hours},
			want:  journal.RedToGreen, tests: []string{"tells hours"},
		},
		"a file that node does not load there, and no test is new": {
			base: told("tap", 1), here: told("tap", 2), there: unloaded, files: brought,
			lists: map[journal.Where]string{journal.AtBase: "passed minutes", journal.AtTests: hours + "\nfailed hours.test.js", journal.AtProof: hours},
			want:  journal.Unbroken, why: unseen,
		},
		"a file that is a test itself, and one with a name": {
			base: told("tap", 1), here: told("tap", 3), there: unloaded, files: brought,
			lists: map[journal.Where]string{journal.AtBase: "passed minutes", journal.AtTests: "passed minutes\nfailed hours.test.js", journal.AtProof: hours + "\npassed hours.test.js"},
			want:  journal.RedToGreen, tests: []string{"hours.test.js"},
		},
		"only what was red before": {
			base: failing([]string{"p.TestOld"}), here: failing([]string{"p.TestOld"}), there: failing([]string{"p.TestOld"}), files: brought,
			want: journal.Unbroken, why: "none of its tests fails anew on the base code",
		},
		"red before by name, and more": {
			base: failing([]string{"p.TestOld"}), here: failing([]string{"p.TestOld"}), there: failing([]string{"p.TestOld", cart}), files: brought,
			lists: map[journal.Where]string{journal.AtProof: "failed p.TestOld\npassed " + cart}, want: journal.RedToGreen, tests: []string{cart},
		},
		"chance": {base: counted(1), here: counted(2), there: flaky, files: brought, want: journal.Unbroken, why: "test is flaky on the base code with its tests"},
		"killed": {
			base: green("test"), here: green("test"), there: killed, files: brought,
			want: journal.Unbroken, why: "its tests could not be tried on the base code: test was killed (exit 137)",
		},
		"red as a whole, and then no test ran": {
			base: counted(1), here: counted(0), there: red("test", 1), files: brought, want: journal.Unbroken, why: unseen,
		},
		"red as a whole, and then no test is told": {
			base: counted(1), here: green("test"), there: red("test", 1), files: brought, want: journal.Unbroken, why: unseen,
		},
		"no tool there": {
			base: green("test"), here: green("test"), there: missing("test"), files: brought,
			want: journal.Unbroken, why: "its tests could not be tried on the base code: test cannot run (exit 127)",
		},
		"for ever there": {
			base: green("test"), here: green("test"), there: late("test"), files: brought,
			want: journal.Unbroken, why: "its tests could not be tried on the base code: test ran out of time",
		},
		"no test":       {base: green("test"), here: green("test"), files: []string{"cart.go"}, want: journal.Unbroken, why: "it added no test"},
		"only fixtures": {base: green("test"), here: green("test"), files: []string{"testdata/a.json"}, want: journal.Unbroken, why: "it added no test"},
		"the base's own": {
			base: green("test"), here: green("test"), files: brought, same: true, want: journal.Unbroken, why: "its tests are already in the base",
		},
	} {
		t.Run(name, func(t *testing.T) {
			run := proved(asked(test.base), test.here)
			l := &lab{says: []journal.CheckEnded{test.there}}
			p, kept := l.prover(), shelf{files: slices.Clone(test.files), stand: "b0+tests", lists: test.lists}
			if test.same {
				kept.stand = ""
			}
			p.Tests = kept
			if err := p.Grade(t.Context(), run, verdict.Grade{Story: "US-001", Commit: "c1", Tree: "t1"}, l.emit); err != nil {
				t.Fatal(err)
			}
			want := journal.StoryGraded{Story: "US-001", Commit: "c1", Grade: test.want, Tests: test.tests, Why: test.why}
			if test.there.Name != "" || test.same {
				want.Files = []string{"cart_test.go"}
			}
			if diff := cmp.Diff(journal.Event(want), l.last()); diff != "" {
				t.Errorf("Grade (-want +got):\n%s", diff)
			}
			lent := "b0+tests"
			if test.there.Name == "" {
				lent = ""
			}
			l.want(t, lent)
		})
	}
}

// A test that was red at the base and passes in the proof shows a story only where
// another run of the base code has it red, too: else it is flaky.
func TestMendedTestsAreNotFlaky(t *testing.T) {
	const cart, flaky = "p.TestCart", "the failure at the base is flaky: it passes there when run again"
	mended := asking(counted(2), map[string]tally.Outcome{cart: tally.Passed})
	for name, test := range map[string]struct {
		again journal.CheckEnded
		files []string
		lists map[journal.Where]string
		want  journal.StoryGraded
		lent  string
	}{
		"red each time":            {again: failing([]string{cart}), want: journal.StoryGraded{Grade: journal.RedToGreen, Tests: []string{cart}}, lent: "b0"},
		"green at the second time": {again: counted(2), want: journal.StoryGraded{Grade: journal.Unbroken, Why: flaky}, lent: "b0"},
		"another case is red":      {again: failing([]string{cart, cart + "/a"}), lists: map[journal.Where]string{journal.AtBase: "passed " + cart + "/a"}, want: journal.StoryGraded{Grade: journal.Unbroken, Why: flaky}, lent: "b0"},
		"another one is red":       {again: failing([]string{"p.TestOther"}), want: journal.StoryGraded{Grade: journal.Unbroken, Why: flaky}, lent: "b0"},
		"red with the story's tests": {
			again: failing([]string{cart}), files: []string{"cart_test.go"},
			want: journal.StoryGraded{Grade: journal.RedToGreen, Files: []string{"cart_test.go"}, Tests: []string{cart}}, lent: "b0+tests",
		},
		"green with the story's tests": {
			again: counted(2), files: []string{"cart_test.go"}, lists: map[journal.Where]string{journal.AtTests: "passed " + cart},
			want: journal.StoryGraded{Grade: journal.Unbroken, Files: []string{"cart_test.go"}, Why: "its tests pass without its change, too"}, lent: "b0+tests",
		},
	} {
		test.again.Where = journal.AtTests
		l := &lab{says: []journal.CheckEnded{test.again}}
		p := l.prover()
		p.Tests = shelf{files: append([]string{"cart.go"}, test.files...), stand: "b0+tests", lists: test.lists}
		if err := p.Grade(t.Context(), proved(asked(failing([]string{cart})), mended), verdict.Grade{Story: "US-001", Commit: "c1", Tree: "t1"}, l.emit); err != nil {
			t.Fatal(err)
		}
		test.want.Story, test.want.Commit = "US-001", "c1"
		if diff := cmp.Diff(journal.Event(test.want), l.last()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		l.want(t, test.lent)
	}
}

// What fails on the base code in one of two runs only is chance, no matter what else fails
// in the other.
func TestOneFailureOfTwoIsChance(t *testing.T) {
	const cart, old, other = "p.TestCart", "p.TestOld", "p.TestOther"
	list := map[journal.Where]string{journal.AtBase: "passed " + old + "\npassed " + other + "\npassed t.py::t[a]\npassed t.py::t[b]", journal.AtProof: "passed " + old + "\npassed " + other + "\npassed " + cart + "\npassed t.py::t[a]\npassed t.py::t[b]"}
	for name, test := range map[string]struct {
		first, second []string
		want          []string
	}{
		"one each time":       {[]string{cart, old}, []string{cart, old}, []string{cart, old}},
		"another each time":   {[]string{old}, []string{other}, nil},
		"another case":        {[]string{"t.py::t[a]", "t.py::t[b]"}, []string{"t.py::t[a]"}, nil},
		"one of them by luck": {[]string{cart, old}, []string{cart, other}, []string{cart}},
	} {
		l, turns := &lab{}, [][]string{test.first, test.second}
		p := l.prover()
		p.Tests = shelf{files: []string{"cart.go", "cart_test.go"}, stand: "b0+tests", lists: list}
		p.Check = func(_ context.Context, _ journal.Run, at proof.Place, emit func(journal.Event)) error {
			check := failing(turns[0])
			check.Where, turns = at.Where, turns[1:]
			emit(check)
			return nil
		}
		base := counted(2)
		base.Where = journal.AtBase
		if err := p.Grade(t.Context(), proved(asked(base), counted(3)), verdict.Grade{Story: "US-001", Commit: "c1", Tree: "t1"}, l.emit); err != nil {
			t.Fatal(err)
		}
		if graded, is := l.last().(journal.StoryGraded); !is || !slices.Equal(graded.Tests, test.want) || (graded.Grade == journal.RedToGreen) != (test.want != nil) {
			t.Errorf("%s: graded as %+v, want it shown by %v", name, l.last(), test.want)
		}
	}
}

// proved is run with a proof of c1 that passed.
func proved(run journal.Run, here journal.CheckEnded) journal.Run {
	here.Where = journal.AtProof
	run.Baseline.Usable = true
	run.Proofs = []journal.Proof{{
		Commit: "c1", Tree: "t1", Passed: true, Checks: []journal.CheckEnded{here}, Rules: journal.Rules{Checks: run.Policy.Checks},
	}}
	return run
}

// Where no check could tell anything, nothing is tried.
func TestGradeUnverified(t *testing.T) {
	for name, run := range map[string]journal.Run{
		"empty": func() journal.Run {
			run := proved(asked(green("test")), green("test"))
			run.Proofs[0].Empty = true
			return run
		}(),
		"no proof": asked(green("test")),
	} {
		l := &lab{}
		p := l.prover()
		p.Tests = shelf{files: []string{"a_test.go"}, stand: "b0+tests"}
		if err := p.Grade(t.Context(), run, verdict.Grade{Story: "US-001", Commit: "c1", Tree: "t1"}, l.emit); err != nil {
			t.Fatal(err)
		}
		want := journal.StoryGraded{Story: "US-001", Commit: "c1", Grade: journal.Unverified, Why: "no check could tell"}
		if diff := cmp.Diff(journal.Event(want), l.last()); diff != "" || len(l.lent) > 0 {
			t.Errorf("%s: lent %v (-want +got):\n%s", name, l.lent, diff)
		}
	}
}

// A story for which nothing was changed is worth nothing, no matter what the checks
// say.
func TestGradeWithoutAChange(t *testing.T) {
	for idle, want := range map[bool]journal.Grade{true: journal.Unverified, false: journal.Unbroken} {
		l := &lab{}
		p := l.prover()
		p.Tests = shelf{idle: idle}
		if err := p.Grade(t.Context(), proved(asked(green("test")), green("test")), verdict.Grade{Story: "US-001", Commit: "c1", Tree: "t1"}, l.emit); err != nil {
			t.Fatal(err)
		}
		if graded, is := l.last().(journal.StoryGraded); !is || graded.Grade != want || graded.Idle != idle || idle != (graded.Why == "nothing was changed for it") {
			t.Errorf("nothing done %v: graded as %+v, want %s", idle, l.last(), want)
		}
		unproven := asked(green("test"))
		if err := p.Grade(t.Context(), unproven, verdict.Grade{Story: "US-001", Commit: "c1", Tree: "t1"}, l.emit); err != nil {
			t.Fatal(err)
		}
		if graded, is := l.last().(journal.StoryGraded); !is || graded.Grade != journal.Unverified || graded.Idle != idle {
			t.Errorf("nothing done %v, and no check could tell: graded as %+v", idle, l.last())
		}
	}
}

// A test belongs to the story that was graded by it first.
func TestATestCountsForOneStory(t *testing.T) {
	const old = "p.TestOld"
	run := proved(asked(failing([]string{old})), asking(counted(2), map[string]tally.Outcome{old: tally.Passed}))
	run.Grades = []journal.StoryGraded{{Story: "US-000", Grade: journal.RedToGreen, Tests: []string{old}}}
	l := &lab{}
	p := l.prover()
	p.Tests = shelf{}
	if err := p.Grade(t.Context(), run, verdict.Grade{Story: "US-001", Commit: "c1", Tree: "t1"}, l.emit); err != nil {
		t.Fatal(err)
	}
	if graded, is := l.last().(journal.StoryGraded); !is || graded.Grade != journal.Unbroken {
		t.Errorf("graded as %+v, want unbroken", l.last())
	}
}

// standing is a shelf whose commits name their files.
type standing struct{ shelf }

func (standing) Onto(_ context.Context, run journal.Run, _ string, files []string) (string, error) {
	return run.Base + "+" + strings.Join(files, "+"), nil
}

// Where setup fails with the story's tests, these are put there after it. It may have had to make something of them, so
// only what fails then counts.
func TestGradeAfterSetup(t *testing.T) {
	const unready = "its tests could not be tried on the base code: setup failed: npm ci (exit 1)"
	link := errors.New("a link")
	for name, test := range map[string]struct {
		setup bool  // it passes without the tests
		put   error // of the tests, after setup
		there journal.CheckEnded
		tests []string
		why   string
	}{
		"fails in any case":    {there: failing([]string{"p.TestCart"}), why: unready},
		"refuses the tests":    {setup: true, there: failing([]string{"p.TestCart"}), tests: []string{"p.TestCart"}},
		"and they pass":        {setup: true, there: counted(2), why: unready},
		"and cannot be put":    {setup: true, put: link, there: failing([]string{"p.TestCart"}), why: unready},
		"and the check cannot": {setup: true, there: missing("test"), why: unready},
	} {
		for _, command := range []string{"sh check.sh", "go test ./..."} {
			l := &lab{says: []journal.CheckEnded{test.there}}
			run := proved(asked(counted(1)), counted(2))
			run.Policy.Setup = policy.NewSetup([]string{"npm ci"}, 0)
			run.Proofs[0].Rules.Setup = run.Policy.Setup
			run.BaseChecks[0].Command, run.Proofs[0].Checks[0].Command = command, command
			p := l.prover()
			p.Tests = standing{shelf{files: []string{"p/cart_test.go", "tests/go.sum", "tests/data"}, lists: map[journal.Where]string{journal.AtProof: "passed p.TestCart"}}}
			p.Setup = func(_ context.Context, _ journal.Run, at proof.Place, emit func(journal.Event)) error {
				bare := at.Dir == "clean-b0+tests/go.sum" && slices.Equal(at.Late, []string{"p/cart_test.go", "tests/data"})
				passed := bare && test.setup
				emit(journal.SetupEnded{Name: "npm ci", Passed: passed, Exit: map[bool]int{false: 1}[passed]})
				if passed {
					return test.put
				}
				return nil
			}
			if err := p.Grade(t.Context(), run, verdict.Grade{Story: "US-001", Commit: "c1", Tree: "t1"}, l.emit); err != nil {
				t.Fatal(err)
			}
			graded, _ := l.last().(journal.StoryGraded)
			if diff := cmp.Diff(test.tests, graded.Tests); diff != "" || graded.Why != test.why || (graded.Grade == journal.RedToGreen) != (test.tests != nil) {
				t.Errorf("%s, %s: graded as %+v, want %v, %q", name, command, graded, test.tests, test.why)
			}
			if tried := slices.Compact(slices.Clone(l.lent)); len(tried) != 2 {
				t.Errorf("%s, %s: checked out %v, want two commits", name, command, l.lent)
			}
		}
	}
}

func TestWhatBreaksIsNoGrade(t *testing.T) {
	broken := errors.New("no space left")
	for name, kept := range map[string]shelf{
		"no files":  {of: broken},
		"no commit": {files: []string{"a_test.go"}, put: broken},
		"no run":    {files: []string{"a_test.go"}, stand: "b0+tests"},
	} {
		l := &lab{}
		if name == "no run" {
			l.noCheckout = broken
		}
		p := l.prover()
		p.Tests = kept
		err := p.Grade(t.Context(), proved(asked(green("test")), green("test")), verdict.Grade{Story: "US-001", Commit: "c1", Tree: "t1"}, l.emit)
		if !errors.Is(err, broken) || l.last() != nil {
			t.Errorf("%s: Grade = %v, last event %v; want %v and no grade", name, err, l.last(), broken)
		}
	}
}

// A failure on the base code is tried again where it may be chance.
func TestWhatIsTriedAgain(t *testing.T) {
	run := proved(asked(counted(1)), counted(2))
	var again func(journal.CheckEnded) bool
	p := (&lab{}).prover()
	p.Tests = shelf{files: []string{"a_test.go"}, stand: "b0+tests", lists: map[journal.Where]string{journal.AtBase: "passed p.TestOld"}}
	p.Check = func(_ context.Context, _ journal.Run, at proof.Place, _ func(journal.Event)) error {
		again = at.Again
		return nil
	}
	if err := p.Grade(t.Context(), run, verdict.Grade{Story: "US-001", Commit: "c1", Tree: "t1"}, func(journal.Event) {}); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		check journal.CheckEnded
		want  bool
	}{
		"green":            {counted(2), false},
		"a new test":       {failing([]string{"p.TestNew"}), false},
		"one that passed":  {failing([]string{"p.TestOld"}), true},
		"none by name":     {red("test", 1), true},
		"it did not build": {failing(nil, "p"), false},
	} {
		if got := again(test.check); got != test.want {
			t.Errorf("%s: again %v, want %v", name, got, test.want)
		}
	}
}
