package view_test

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/show/view"
)

// The first comment, before an agent starts, says that no check can verify the work.
func TestNoCheckIsSaidBeforeAnything(t *testing.T) {
	run := journal.Run{ID: "r1", Planning: journal.Planning{Vague: true}, Policy: policy.Policy{Baseline: policy.BaselineNew, Publish: true}}
	const want = "**Nothing can be verified:** no checks are configured. The pull request will stay a draft. To change that: " +
		"name commands that verify the work: the input `checks`, or `guardrails` in `.ralph/settings.json` of the base."
	if got := view.Comment(run); !strings.Contains(got, "\n"+want+"\n") {
		t.Errorf("the comment does not say %q:\n%s", want, got)
	}
	run.Policy.Checks = []policy.Check{{Name: "test"}}
	if got := view.Comment(run); strings.Contains(got, "Nothing can be verified") {
		t.Errorf("with a check it says\n%s", got)
	}
}

// A note that a resumed run repeats is shown once.
func TestARepeatedNoteIsShownOnce(t *testing.T) {
	note := journal.Noted{What: "the limit does not hold"}
	run := journal.Run{Policy: policy.Policy{Checks: []policy.Check{{Name: "test"}}}, Notes: []journal.Noted{note, {What: "other"}, note}}
	got := view.Comment(run)
	if want := "\n> the limit does not hold\n\n> other\n"; !strings.Contains(got, want) || strings.Count(got, "limit") != 1 {
		t.Errorf("not %q in\n%s", want, got)
	}
}
