package journal_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// Of a check that was red at the base, what holds a story back is what cannot
// be explained by that.
func TestWhatIsExplainedByTheBase(t *testing.T) {
	red := func(change func(*journal.CheckEnded)) journal.CheckEnded {
		check := journal.CheckEnded{Name: "test", Exit: 1, Tests: &journal.Tests{Red: []string{"a"}}}
		change(&check)
		return check
	}
	exit := func(code int) func(*journal.CheckEnded) {
		return func(c *journal.CheckEnded) { c.Exit = code }
	}
	cut := func(digest string) func(*journal.CheckEnded) {
		return func(c *journal.CheckEnded) { c.Tests.Cut, c.Tests.Digest = true, digest }
	}
	whole := func(digest string) func(*journal.CheckEnded) {
		return func(c *journal.CheckEnded) { c.Tests.Digest = digest }
	}
	same := func(*journal.CheckEnded) {}
	for name, c := range map[string]struct {
		base, now func(*journal.CheckEnded)
		holds     bool
	}{
		"the same":                       {same, same, false},
		"another exit code":              {same, exit(127), false},
		"ended by a signal":              {same, exit(128), true},
		"by the same signal":             {exit(137), exit(137), false},
		"by another":                     {exit(137), exit(139), true},
		"out of time":                    {same, func(c *journal.CheckEnded) { c.TimedOut = true }, true},
		"not there any more":             {same, func(c *journal.CheckEnded) { c.CannotRun = true }, true},
		"no names now":                   {same, func(c *journal.CheckEnded) { c.Tests.Red = nil }, true},
		"no tests now":                   {same, func(c *journal.CheckEnded) { c.Tests = nil }, true},
		"cut, and the same":              {cut("d"), cut("d"), false},
		"cut, and another":               {cut("d"), cut("e"), true},
		"cut, and unknown":               {cut(""), cut(""), true},
		"cut at the base, and the same":  {cut("d"), whole("d"), false},
		"cut at the base, and another":   {cut("d"), whole("e"), true},
		"cut now, and another":           {whole("d"), cut("e"), true},
		"green at the base":              {func(c *journal.CheckEnded) { c.Passed = true }, same, true},
		"out of time at the base":        {func(c *journal.CheckEnded) { c.TimedOut = true }, same, false},
		"could not run at the base":      {func(c *journal.CheckEnded) { c.CannotRun = true }, same, false},
		"broken, and no test, at a base": {func(c *journal.CheckEnded) { c.Tests = &journal.Tests{Broken: []string{"a"}} }, same, false},
	} {
		run := journal.Run{Policy: policy.Policy{Baseline: policy.BaselineNew}, BaseChecks: []journal.CheckEnded{red(c.base)}}
		if got := verdict.BlocksStory(run, red(c.now)); got != c.holds {
			t.Errorf("%s: Holds = %v, want %v", name, got, c.holds)
		}
	}
	strict := journal.Run{Policy: policy.Policy{Baseline: policy.BaselineStrict}, BaseChecks: []journal.CheckEnded{red(same)}}
	if !verdict.BlocksStory(strict, red(same)) || verdict.BlocksStory(strict, journal.CheckEnded{Name: "test", Passed: true}) {
		t.Error("a strict baseline holds what is red, and that alone")
	}
}

func TestWhatABaseIsGoodFor(t *testing.T) {
	named := journal.CheckEnded{Name: "test", Tests: &journal.Tests{Red: []string{"a"}}}
	cut := journal.CheckEnded{Name: "test", Tests: &journal.Tests{Red: []string{"a"}, Cut: true}}
	green := journal.CheckEnded{Name: "test", Passed: true, Tests: &journal.Tests{Red: []string{"a"}}}
	unnamed := journal.CheckEnded{Name: "test", Tests: &journal.Tests{Passed: 1}}
	late := journal.CheckEnded{Name: "test", TimedOut: true, Tests: named.Tests}
	missing := journal.CheckEnded{Name: "test", CannotRun: true, Tests: named.Tests}
	other := journal.CheckEnded{Name: "lint", Passed: true}
	now := journal.CheckEnded{Name: "test", Tests: &journal.Tests{Passed: 1, Red: []string{"b"}}}
	for name, c := range map[string]struct {
		base   []journal.CheckEnded
		now    journal.CheckEnded
		fresh  []string
		before []string
		proves bool
	}{
		"red by name":       {[]journal.CheckEnded{named}, now, []string{"b"}, []string{"a"}, true},
		"cut":               {[]journal.CheckEnded{cut}, now, nil, []string{"a"}, true},
		"green":             {[]journal.CheckEnded{green}, now, nil, nil, true},
		"without names":     {[]journal.CheckEnded{unnamed}, now, nil, nil, false},
		"out of time":       {[]journal.CheckEnded{late}, now, nil, nil, false},
		"missing":           {[]journal.CheckEnded{missing}, now, nil, nil, false},
		"not run":           {[]journal.CheckEnded{other}, now, nil, nil, false},
		"behind another":    {[]journal.CheckEnded{other, named}, now, []string{"b"}, []string{"a"}, true},
		"green now":         {[]journal.CheckEnded{named}, green, nil, []string{"a"}, false},
		"without tests now": {[]journal.CheckEnded{named}, journal.CheckEnded{Name: "test", Passed: true}, nil, []string{"a"}, false},
	} {
		run := journal.Run{
			Policy:     policy.Policy{Baseline: policy.BaselineNew, Checks: []policy.Check{{Name: "lint", Added: true}, {Name: "test"}}},
			BaseChecks: c.base,
		}
		if diff := cmp.Diff(c.fresh, verdict.NewFailures(run, c.now)); diff != "" {
			t.Errorf("%s: Fresh (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(c.before, verdict.FailedAtBase(run, "test")); diff != "" {
			t.Errorf("%s: RedBefore (-want +got):\n%s", name, diff)
		}
		if got := verdict.CanProve(run, c.now); got != c.proves {
			t.Errorf("%s: Proves = %v, want %v", name, got, c.proves)
		}
	}
}

func TestNamesInWords(t *testing.T) {
	var names []string
	for i := range 7 {
		names = append(names, fmt.Sprintf("t%d", i))
	}
	for want, tests := range map[string]*journal.Tests{
		"":                              nil,
		"t0":                            {Red: names[:1]},
		"t0, t1, t2, t3, t4":            {Red: names[:3], Broken: names[3:5]},
		"t0, t1, t2, t3, t4 and more":   {Red: names[:5], Cut: true},
		"t0, t1, t2, t3, t4 and 1 more": {Red: names[:6]},
		"t0, t1, t2, t3, t4 and 2 more": {Red: names},
	} {
		if tests == nil {
			if tests.Failing() != nil {
				t.Error("no tests have failures")
			}
			continue
		}
		if got := tests.FailureList(); got != want {
			t.Errorf("Told of %d = %q, want %q", len(tests.Failing()), got, want)
		}
	}
}

func TestATryIsWhatTheCheckWas(t *testing.T) {
	tests := &journal.Tests{Passed: 1}
	check := journal.CheckEnded{Name: "test", Exit: 3, TimedOut: true, TookMS: 4, Log: "l", Digest: "d", Tests: tests, Excerpt: "e"}
	want := &journal.Try{Exit: 3, TimedOut: true, TookMS: 4, Log: "l", Digest: "d", Tests: tests}
	if short := (journal.CheckEnded{Exit: 1}).Try(); !cmp.Equal(short, &journal.Try{Exit: 1}) {
		t.Errorf("Try = %+v, want its exit code alone", short)
	}
	if diff := cmp.Diff(want, check.Try()); diff != "" {
		t.Errorf("Try (-want +got):\n%s", diff)
	}
}

func TestWhichProofIsOfATree(t *testing.T) {
	run := minutely(began(), journal.ProofEnded{Why: "of no tree"}, journal.ProofEnded{Tree: "t1", Why: "old"}, journal.ProofEnded{Tree: "t1", Why: "new"}, journal.ProofEnded{Tree: "t2"})
	if proof, found := run.ProofOf("t1"); !found || proof.Why != "new" {
		t.Errorf("ProofOf(t1) = %+v, %v, want the newest", proof, found)
	}
	for _, tree := range []string{"", "t3"} {
		if proof, found := run.ProofOf(tree); found {
			t.Errorf("ProofOf(%q) = %+v, want none", tree, proof)
		}
	}
	for name, c := range map[string]struct {
		tree  string
		proof journal.ProofEnded
		want  bool
	}{
		"passed":          {"t1", journal.ProofEnded{Tree: "t1", Passed: true}, true},
		"failed":          {"t1", journal.ProofEnded{Tree: "t1"}, false},
		"empty":           {"t1", journal.ProofEnded{Tree: "t1", Passed: true, Empty: true}, false},
		"of another tree": {"t2", journal.ProofEnded{Tree: "t1", Passed: true}, false},
	} {
		proof, proven := verdict.LatestProof(minutely(began(), journal.CommitsTaken{To: "c1", Tree: c.tree}, c.proof))
		if proven != c.want || proven && proof.Tree != c.tree {
			t.Errorf("%s: proven %v by %+v, want %v", name, proven, proof, c.want)
		}
	}
}

func TestWhichIterationIsWhich(t *testing.T) {
	pass := func(number int) []journal.Event {
		return []journal.Event{journal.IterationBegan{Number: number}, journal.IterationEnded{}}
	}
	run := minutely(append(append(append([]journal.Event{began()}, pass(4)...), pass(5)...), journal.IterationBegan{Number: 6})...)
	if it, open := run.OpenIteration(); !open || it.Number != 6 {
		t.Errorf("Open = %d, %v, want 6", it.Number, open)
	}
	if it, found := run.LastJudged(); !found || it.Number != 5 {
		t.Errorf("Last = %d, %v, want 5, which has a verdict", it.Number, found)
	}
	fresh := minutely(began())
	if _, open := fresh.OpenIteration(); open {
		t.Error("a run that has just begun has an iteration under way")
	}
	if _, found := fresh.LastJudged(); found {
		t.Error("a run that has just begun has a verdict")
	}
}

func TestGreenIsEveryCheckThatBlocks(t *testing.T) {
	run := journal.Run{
		Policy:     policy.Policy{Baseline: policy.BaselineNew, Checks: []policy.Check{{Name: "test"}, {Name: "lint"}, {Name: "old"}}},
		BaseChecks: []journal.CheckEnded{{Name: "old", CannotRun: true}},
	}
	passed := func(name string) journal.CheckEnded { return journal.CheckEnded{Name: name, Passed: true} }
	for name, c := range map[string]struct {
		checks []journal.CheckEnded
		want   bool
	}{
		"all that block":      {[]journal.CheckEnded{passed("test"), passed("lint")}, true},
		"one is missing":      {[]journal.CheckEnded{passed("test"), passed("old")}, false},
		"one is red":          {[]journal.CheckEnded{passed("test"), {Name: "lint"}}, false},
		"none":                {nil, false},
		"the last say counts": {[]journal.CheckEnded{passed("test"), passed("lint"), {Name: "lint"}}, false},
	} {
		if got := verdict.IsGreen(run, c.checks); got != c.want {
			t.Errorf("%s: Green = %v, want %v", name, got, c.want)
		}
	}
}
