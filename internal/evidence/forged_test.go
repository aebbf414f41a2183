package evidence_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/evidence"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// again returns a repeated run with the same results.
func again() []journal.Event {
	tests := &journal.Tests{Runner: "tap", Passed: 2}
	return []journal.Event{
		journal.CheckEnded{Where: journal.AtBase, Name: "test", Command: "make test", Passed: true},
		journal.BaselineEnded{Usable: true},
		journal.CheckEnded{Where: journal.AtProof, Name: "test", Command: "make test", Passed: true, Tests: tests},
		journal.ProofEnded{Commit: "c1", Tree: "t1", Passed: true},
		journal.StoryGraded{Story: "US-001", Grade: journal.RedToGreen, Tests: []string{"a"}},
	}
}

// forgeries are false claims of a file.
func forgeries() map[string]forgery {
	return map[string]forgery{
		"nothing": {func(*evidence.Evidence) {}, ""},
		"the newest tree is another": {
			func(e *evidence.Evidence) { e.Code.Tree = "t2" }, "the proven tree: t1; the file says: t2",
		},
		"another command": {
			func(e *evidence.Evidence) { e.Proof.Checks[0].Command = "make everything" }, "check test: `make test`; the file says: `make everything`",
		},
		"another command at the base": {
			func(e *evidence.Evidence) { e.Baseline.Checks[0].Command = "true" }, "at the base check test: `make test`; the file says: `true`",
		},
		"a check left out": {
			func(e *evidence.Evidence) { e.Proof.Checks = nil }, "check test was run; the file does not name it",
		},
		"a check left out at the base": {
			func(e *evidence.Evidence) { e.Baseline.Checks = nil }, "at the base check test was run; the file does not name it",
		},
		"more tests": {
			func(e *evidence.Evidence) { e.Proof.Checks[0].Tests.Passed = 500 }, "check test: passes (passed tests: 2, failed: none); the file says: passes (passed tests: 500, failed: none)",
		},
		"fewer tests": {func(e *evidence.Evidence) { e.Proof.Checks[0].Tests.Passed = 1 }, ""},
		"a check that is skipped": {
			func(e *evidence.Evidence) { e.Proof.Checks[0].Skipped = "web/**" },
			"check test: `make test`; the file says: `make test`, skipped if nothing in web/** is changed",
		},
		"nothing proven": {
			func(e *evidence.Evidence) { e.Proof.Empty = true }, "the checks can prove something here: true; the file says: false",
		},
		"unbroken is not proven": {
			func(e *evidence.Evidence) { e.Stories[0].Grade = journal.Unbroken }, "US-001 is proven, by its grade (unbroken): false; the file says: true",
		},
		"no grade is not proven": {
			func(e *evidence.Evidence) { e.Stories[0].Grade = "" }, "US-001 is proven, by its grade (unverified): false; the file says: true",
		},
		"open is not proven": {
			func(e *evidence.Evidence) { e.Stories[0].Passes = false }, "US-001 is proven, by its grade (red to green): false; the file says: true",
		},
		"another end": {
			func(e *evidence.Evidence) { e.Status = policy.StatusCompleted },
			"the run, by its stop reason: running; the file says: completed",
		},
		"another reason": {
			func(e *evidence.Evidence) { e.StopReason = policy.MaxIterations },
			"the run, by its stop reason: stopped; the file says: running",
		},
		"a good end": {
			func(e *evidence.Evidence) { e.Status, e.StopReason = policy.StatusCompleted, policy.AllStoriesPassed },
			"US-002 passed in a completed run: false; the file says: true",
		},
		"another test": {
			func(e *evidence.Evidence) { e.Stories[0].Tests = []string{"a", "of security"} }, "US-001: these tests do not go from red to green: of security",
		},
		"another test for a criterion": {
			func(e *evidence.Evidence) { e.Stories[0].Shown = []string{"", "of security"} }, "US-001: these tests do not go from red to green: of security",
		},
	}
}

type forgery struct {
	forge func(*evidence.Evidence)
	want  string
}

// Each forgery alone is reported.
func TestWhatIsForged(t *testing.T) {
	for name, c := range forgeries() {
		e := evidence.Of(evident(t), nil)
		c.forge(&e)
		if diff := cmp.Diff(c.want, strings.Join(e.Differences(anew(t, e, again()...)), "\n")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A missing inspection is reported for a completed run, which must have one.
func TestAnInspectionLeftOut(t *testing.T) {
	found := journal.ChangeInspected{Tree: "t1", Found: []journal.Loosened{{File: "a_test.go", Kind: "test_skipped"}}}
	for _, c := range []struct {
		status policy.Status
		tamper policy.Tamper
		want   bool
	}{
		{policy.StatusCompleted, policy.TamperReport, true},
		{policy.StatusCompleted, policy.TamperBlock, true},
		{policy.StatusCompleted, "", false},
		{policy.StatusStopped, policy.TamperReport, false},
	} {
		e := evidence.Of(evident(t), nil)
		e.Status, e.Rules.Tamper, e.Code.Head = c.status, c.tamper, "c1"
		if e.StopReason = policy.MaxIterations; c.status == policy.StatusCompleted {
			e.StopReason, e.Stories, e.NotVerified = policy.AllStoriesPassed, e.Stories[:1], nil
		}
		got := e.Differences(anew(t, e, append(again(), found)...))
		if e.IsInspectionRequired() != c.want || len(got) > 0 != c.want {
			t.Errorf("%+v: looked %v, differences %q", c, e.IsInspectionRequired(), got)
		}
		e.Code.Head = e.Code.Base
		if e.IsInspectionRequired() {
			t.Errorf("%+v: looked where nothing was changed", c)
		}
	}
}

// Whether a failed proof was empty does not count.
func TestAProofThatFailsProvesNothing(t *testing.T) {
	e := evidence.Of(evident(t), nil)
	e.Proof.Empty = true
	events := again()
	events[3] = journal.ProofEnded{Commit: "c1", Tree: "t1", Why: "so"}
	if diff := cmp.Diff([]string{"the proof: fails; the file says: passes", "the proof: so"}, e.Differences(anew(t, e, events...))); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
}

// The grade unbroken is a proof for a story that needs no test, or if the rules need no
// more.
func TestUnbrokenMayBeProven(t *testing.T) {
	for _, change := range []func(*evidence.Evidence){
		func(e *evidence.Evidence) { e.Stories[0].NeedsNoTest = true },
		func(e *evidence.Evidence) { e.Rules.Proof = policy.Unbroken },
	} {
		e := evidence.Of(evident(t), nil)
		e.Stories[0].Grade, e.Stories[0].Tests = journal.Unbroken, nil
		change(&e)
		if got := e.Differences(anew(t, e, again()...)); got != nil {
			t.Errorf("differences = %q, want none", got)
		}
	}
}

// Each story is graded by its own tests, in any order.
func TestStoriesKeepTheirTests(t *testing.T) {
	e := evidence.Of(evident(t), nil)
	run, err := e.NewRun()
	if err != nil || !verdict.IsCreditedElsewhere(run, "a", "US-002") || verdict.IsCreditedElsewhere(run, "a", "US-001") {
		t.Errorf("a is credited to US-001: %v, %v", run.Grades, err)
	}
}

// Commands run only in the checkout.
func TestAFolderOutsideIsNone(t *testing.T) {
	for within, want := range map[string]bool{"": true, "app": true, "app/web": true, "..": false, "../../home": false, "/etc": false, "app/../../x": false} {
		e := evidence.Of(evident(t), nil)
		e.Rules.Within = within
		if _, err := e.NewRun(); (err == nil) != want {
			t.Errorf("within %q: %v", within, err)
		}
	}
}
