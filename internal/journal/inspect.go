package journal

import (
	"fmt"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/policy"
)

// ChangeInspected tells where the whole change, from the base to a commit, makes
// the project's own tests and checks say less.
type ChangeInspected struct {
	Commit string     `json:"commit"`
	Tree   string     `json:"tree"`
	Found  []Loosened `json:"found,omitempty"` // at most 50
	More   int        `json:"more,omitempty"`  // how many besides
	Why    string     `json:"why,omitempty"`   // why nobody could look
}

// Loosened is a place where they say less.
type Loosened struct {
	File  string   `json:"file"`
	Kind  string   `json:"kind"` // as docs/TAMPER.md has it
	Why   string   `json:"why"`
	Lines []string `json:"lines,omitempty"` // of the diff: sign, number, text
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

// Tampered is why a tree may not count, where what makes checks say less is
// refused; empty where it may. What nobody could look at is refused, too.
func (r Run) Tampered(tree string) string {
	inspected, found := r.InspectionOf(tree)
	if !found || r.Policy.Tamper != policy.TamperBlock {
		return ""
	}
	return inspected.less()
}

// Unsettled is why a person has to look at the work before any story of it is
// called proven: it makes tests and checks say less, or nobody could tell.
// Empty where it does not, or where that is allowed. A tree that nobody has
// looked at yet is as the one before it was.
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
		return "nobody could tell whether tests and checks say less than they did: " + e.Why
	case len(e.Found) == 0:
		return ""
	}
	var places []string
	for _, place := range e.Found {
		places = append(places, place.String())
	}
	return "tests and checks say less than they did: " + Few(places)
}
