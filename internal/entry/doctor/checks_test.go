package doctor_test

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/entry/doctor"
)

// Suggested checks are written into the settings first, unless a run of stories uses them.
func TestNextOfSuggestedChecks(t *testing.T) {
	run := journal.Run{
		Policy: policy.Policy{Checks: []policy.Check{
			{Name: "go vet ./...", Command: "go vet ./...", Detected: true},
			{Name: "go test ./...", Command: "go test ./...", Detected: true},
		}},
		Baseline: &journal.BaselineEnded{Usable: true},
		BaseChecks: []journal.CheckEnded{
			{Where: journal.AtBase, Name: "go vet ./...", Exit: 1},
			{Where: journal.AtBase, Name: "go test ./...", Passed: true},
		},
	}
	const want = "ralph init"
	seen := doctor.LookAtChecks(run)
	if got := seen.Next(); got != want {
		t.Errorf("Next = %s, want %s", got, want)
	}
	seen.Planned = true
	if got := seen.Next(); got != "ralph run" {
		t.Errorf("Next = %s with a PRD, want ralph run, which uses the suggested checks", got)
	}
}
