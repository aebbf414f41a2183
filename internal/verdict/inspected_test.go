package verdict_test

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// inspected is a run in which t1 was looked at twice and t2 could not be.
func inspected(rule policy.Tamper) journal.Run {
	return after(
		journal.RunBegan{Policy: policy.Policy{Tamper: rule}},
		journal.ChangeInspected{Tree: "t1"},
		journal.ChangeInspected{Tree: "t1", Found: []journal.Loosened{{File: "a_test.go", Why: "it is skipped"}, {File: "b_test.go", Why: "it is gone"}}},
		journal.ChangeInspected{Tree: "t2", Why: "git broke"},
		journal.ChangeInspected{Tree: "t3"},
		journal.ChangeInspected{Why: "of no tree"},
	)
}

func TestInspectionOf(t *testing.T) {
	run := inspected(policy.TamperReport)
	if got, found := run.InspectionOf("t1"); !found || len(got.Found) != 2 {
		t.Errorf("InspectionOf(t1) = %+v, %v, want the newest", got, found)
	}
	for _, tree := range []string{"t4", ""} {
		if got, found := run.InspectionOf(tree); found || got.Tree != "" || got.Why != "" {
			t.Errorf("InspectionOf(%q) = %+v, %v, want none", tree, got, found)
		}
	}
}

func TestUninspected(t *testing.T) {
	for _, rule := range []policy.Tamper{"", policy.TamperReport, policy.TamperBlock} {
		run := inspected(rule)
		for tree, want := range map[string]bool{"t1": false, "t4": rule != "", "": false} {
			if got := verdict.NeedsInspection(run, tree); got != want {
				t.Errorf("%q: NeedsInspection(%q) = %v, want %v", rule, tree, got, want)
			}
		}
	}
}

// A change that weakens checks blocks only if that is refused; then a failed
// inspection blocks too.
func TestTampered(t *testing.T) {
	for _, rule := range []policy.Tamper{"", policy.TamperReport} {
		for _, tree := range []string{"t1", "t2", "t3", "t4"} {
			if why := verdict.WhyTampered(inspected(rule), tree); why != "" {
				t.Errorf("%q: Tampered(%s) = %q", rule, tree, why)
			}
		}
	}
	for tree, want := range map[string]string{
		"t1": "existing tests fail or no longer run: a_test.go: it is skipped, b_test.go: it is gone",
		"t2": "the existing tests could not be run on the new code: git broke",
		"t3": "",
		"t4": "",
	} {
		if why := verdict.WhyTampered(inspected(policy.TamperBlock), tree); why != want {
			t.Errorf("Tampered(%s) = %q, want %q", tree, why, want)
		}
	}
}

// Broken tests, settings and code that knows of tests each get their own words.
func TestDoubts(t *testing.T) {
	const broken, steered = "existing tests fail or no longer run", "the change affects how tests or checks run"
	for want, kinds := range map[string][]string{
		"":                                   nil,
		broken:                               {"tests_broken", "tests_gone"},
		steered:                              {journal.TestsSteered},
		broken + ", and " + steered:          {"tests_broken", journal.TestsSteered, journal.TestsSteered},
		"the code may treat tests specially": {journal.AsksForTests},
	} {
		var e journal.ChangeInspected
		for _, kind := range kinds {
			e.Found = append(e.Found, journal.Loosened{Kind: kind})
		}
		if got := verdict.FindingKinds(e); got != want {
			t.Errorf("Doubts(%q) = %q, want %q", kinds, got, want)
		}
	}
}

// A person has to look at what the newest tree was found to do, or, until it is
// inspected, at what the one before did; unless it is allowed.
func TestUnsettled(t *testing.T) {
	const (
		clean = ""
		found = "existing tests fail or no longer run: a_test.go: it is skipped, b_test.go: it is gone"
		blind = "the existing tests could not be run on the new code: git broke"
	)
	for _, test := range []struct{ tree, want string }{{"t1", found}, {"t2", blind}, {"t3", clean}} {
		for rule, want := range map[policy.Tamper]string{"": "", policy.TamperAllow: "", policy.TamperReport: test.want, policy.TamperBlock: test.want} {
			run := inspected(rule)
			run.Tree = test.tree
			if got := verdict.InspectionConcern(run); got != want {
				t.Errorf("%q, %s: Unsettled = %q, want %q", rule, test.tree, got, want)
			}
		}
	}
	run := inspected(policy.TamperReport)
	run.Tree, run.Inspections = "t4", run.Inspections[:2]
	if got := verdict.InspectionConcern(run); got != found {
		t.Errorf("Unsettled = %q, want what was found last", got)
	}
	if run.Inspections = nil; verdict.InspectionConcern(run) != "" {
		t.Errorf("Unsettled = %q before anybody has looked", verdict.InspectionConcern(run))
	}
}
