package verdict_test

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// inspectedRun returns a run with two inspections of t1 and a failed one of t2.
func inspectedRun(rule policy.Tamper) journal.Run {
	return fold(
		journal.RunBegan{Policy: policy.Policy{Tamper: rule}},
		journal.ChangeInspected{Tree: "t1"},
		journal.ChangeInspected{Tree: "t1", Found: []journal.Loosened{{File: "a_test.go", Why: "it is skipped"}, {File: "b_test.go", Why: "it is gone"}}},
		journal.ChangeInspected{Tree: "t2", Why: "git broke"},
		journal.ChangeInspected{Tree: "t3"},
		journal.ChangeInspected{Why: "of no tree"},
	)
}

func TestInspectionOf(t *testing.T) {
	run := inspectedRun(policy.TamperReport)
	if got, found := run.InspectionOf("t1"); !found || len(got.Found) != 2 {
		t.Errorf("InspectionOf(t1) = %+v, %v, want the newest", got, found)
	}
	for _, tree := range []string{"t4", ""} {
		if got, found := run.InspectionOf(tree); found || got.Tree != "" || got.Why != "" {
			t.Errorf("InspectionOf(%q) = %+v, %v, want none", tree, got, found)
		}
	}
}

func TestNeedsInspection(t *testing.T) {
	for _, rule := range []policy.Tamper{"", policy.TamperReport, policy.TamperBlock} {
		run := inspectedRun(rule)
		for tree, want := range map[string]bool{"t1": false, "t4": rule != "", "": false} {
			if got := verdict.NeedsInspection(run, tree); got != want {
				t.Errorf("%q: NeedsInspection(%q) = %v, want %v", rule, tree, got, want)
			}
		}
	}
}

// Weakened tests and a failed inspection block only under the rule "block".
func TestWhyTampered(t *testing.T) {
	for _, rule := range []policy.Tamper{"", policy.TamperReport} {
		for _, tree := range []string{"t1", "t2", "t3", "t4"} {
			if why := verdict.WhyTampered(inspectedRun(rule), tree); why != "" {
				t.Errorf("%q: WhyTampered(%s) = %q", rule, tree, why)
			}
		}
	}
	for tree, want := range map[string]string{
		"t1": "existing tests fail or no longer run: a_test.go: it is skipped, b_test.go: it is gone",
		"t2": "the existing tests could not be run on the new code: git broke",
		"t3": "",
		"t4": "",
	} {
		if why := verdict.WhyTampered(inspectedRun(policy.TamperBlock), tree); why != want {
			t.Errorf("WhyTampered(%s) = %q, want %q", tree, why, want)
		}
	}
}

// Each kind of finding has its own text.
func TestFindingKinds(t *testing.T) {
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
			t.Errorf("FindingKinds(%q) = %q, want %q", kinds, got, want)
		}
	}
}

// InspectionConcern returns the findings of the newest tree, or of the tree before
// it until the newest is inspected, unless they are allowed.
func TestInspectionConcern(t *testing.T) {
	const (
		clean = ""
		found = "existing tests fail or no longer run: a_test.go: it is skipped, b_test.go: it is gone"
		blind = "the existing tests could not be run on the new code: git broke"
	)
	for _, test := range []struct{ tree, want string }{{"t1", found}, {"t2", blind}, {"t3", clean}} {
		for rule, want := range map[policy.Tamper]string{"": "", policy.TamperAllow: "", policy.TamperReport: test.want, policy.TamperBlock: test.want} {
			run := inspectedRun(rule)
			run.Tree = test.tree
			if got := verdict.InspectionConcern(run); got != want {
				t.Errorf("%q, %s: InspectionConcern = %q, want %q", rule, test.tree, got, want)
			}
		}
	}
	run := inspectedRun(policy.TamperReport)
	run.Tree, run.Inspections = "t4", run.Inspections[:2]
	if got := verdict.InspectionConcern(run); got != found {
		t.Errorf("InspectionConcern = %q, want the latest findings", got)
	}
	if run.Inspections = nil; verdict.InspectionConcern(run) != "" {
		t.Errorf("InspectionConcern = %q before any inspection", verdict.InspectionConcern(run))
	}
}
