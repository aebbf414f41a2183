package journal

import (
	"fmt"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/policy"
)

// ChangeInspected tells what the tests that were there before say of a commit.
type ChangeInspected struct {
	Commit string     `json:"commit"`
	Tree   string     `json:"tree"`
	Found  []Loosened `json:"found,omitempty"` // holds the work back, at most 50
	More   int        `json:"more,omitempty"`  // how many besides
	Shown  []Loosened `json:"shown,omitempty"` // holds nothing back, at most 50
	Why    string     `json:"why,omitempty"`   // why they could not be asked
}

// Loosened is a file of tests that the change touches, or whose tests no longer
// pass.
type Loosened struct {
	File  string   `json:"file"`
	Kind  string   `json:"kind"` // as docs/PROOF.md has it
	Why   string   `json:"why"`
	Lines []string `json:"lines,omitempty"` // of the diff
	Tests []string `json:"tests,omitempty"` // by name, at most 200; "check NAME" where a runner names none
}

// Type is the event's name in the journal.
func (ChangeInspected) Type() string { return "change_inspected" }

func (e ChangeInspected) fold(r *Run, _ time.Time) {
	r.Inspections = append(r.Inspections, e)
}

// String is where and what it is.
func (l Loosened) String() string { return fmt.Sprintf("%s: %s", l.File, l.Why) }

// InspectionOf is what was found in a tree.
func (r Run) InspectionOf(tree string) (ChangeInspected, bool) {
	for _, inspected := range slices.Backward(r.Inspections) {
		if tree != "" && inspected.Tree == tree {
			return inspected, true
		}
	}
	return ChangeInspected{}, false
}

// Uninspected tells whether somebody has yet to look at a tree.
func (r Run) Uninspected(tree string) bool {
	_, found := r.InspectionOf(tree)
	return !found && tree != "" && r.Policy.Tamper != ""
}

// Tampered is why a tree may not count where existing tests have to pass; empty
// where it may count. A tree whose existing tests could not be run may not.
func (r Run) Tampered(tree string) string {
	inspected, found := r.InspectionOf(tree)
	if !found || r.Policy.Tamper != policy.TamperBlock {
		return ""
	}
	return inspected.less()
}

// Unsettled is why a person has to look at the work before any story of it is
// called proven: existing tests fail or no longer run, or could not be run. Empty
// where they pass, or where that is allowed. A tree that was not inspected yet is
// as the one before it was.
func (r Run) Unsettled() string {
	inspected, found := r.InspectionOf(r.Tree)
	if !found && len(r.Inspections) > 0 {
		inspected = r.Inspections[len(r.Inspections)-1]
	}
	if r.Policy.Tamper == "" || r.Policy.Tamper == policy.TamperAllow {
		return ""
	}
	return inspected.less()
}

// less is what was found, or why nobody could look; empty: nothing.
func (e ChangeInspected) less() string {
	switch {
	case e.Why != "":
		return "the existing tests could not be run on the new code: " + e.Why
	case len(e.Found) == 0:
		return ""
	}
	var places []string
	for _, place := range e.Found {
		places = append(places, place.String())
	}
	return "existing tests fail or no longer run: " + Few(places)
}
