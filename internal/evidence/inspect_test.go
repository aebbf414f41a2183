package evidence_test

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/evidence"
	"github.com/ralph-loop/ralph/internal/journal"
)

// Inspections are compared by file and kind of their findings, the number of others and
// the reason of a failure, not by texts and lines.
func TestWhatInspectionsDifferIn(t *testing.T) {
	was := journal.ChangeInspected{Tree: "t1", More: 1, Found: []journal.Loosened{{File: "a_test.go", Kind: "test_skipped", Why: "it is skipped"}}}
	for name, test := range map[string]struct {
		change func(*journal.ChangeInspected)
		differ bool
	}{
		"nothing":     {func(*journal.ChangeInspected) {}, false},
		"its words":   {func(i *journal.ChangeInspected) { i.Found[0].Why = "skipped" }, false},
		"its file":    {func(i *journal.ChangeInspected) { i.Found[0].File = "b_test.go" }, true},
		"its kind":    {func(i *journal.ChangeInspected) { i.Found[0].Kind = "test_deleted" }, true},
		"how many":    {func(i *journal.ChangeInspected) { i.More = 2 }, true},
		"no eyes":     {func(i *journal.ChangeInspected) { i.Why = "git broke" }, true},
		"other trees": {func(i *journal.ChangeInspected) { i.Tree, i.More = "t2", 5 }, false},
	} {
		e := of(t)
		e.Inspection = evidence.Of(journal.Run{Tree: "t1", Inspections: []journal.ChangeInspected{was}}, nil).Inspection
		now := was
		now.Found = append([]journal.Loosened(nil), was.Found...)
		test.change(&now)
		run := anew(t, e,
			journal.CheckEnded{Where: journal.AtBase, Name: "test", Command: "make test", Passed: true}, journal.BaselineEnded{Usable: true},
			journal.CheckEnded{Where: journal.AtProof, Name: "test", Command: "make test", Passed: true}, journal.ProofEnded{Commit: "c1", Tree: "t1", Passed: true},
			journal.StoryGraded{Story: "US-001", Grade: journal.RedToGreen}, now)
		if got := e.Differences(run); len(got) > 0 != test.differ {
			t.Errorf("%s: %q", name, got)
		}
		e.Inspection = nil
		if got := e.Differences(run); len(got) > 0 {
			t.Errorf("%s: %q, though nothing is said of one", name, got)
		}
	}
}
