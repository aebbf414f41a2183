package journal

import (
	"fmt"
	"time"
)

// Kinds of findings other than broken tests.
const (
	TestsSteered = "tests_steered"  // a test or a tool's settings change how the others run
	AsksForTests = "asks_for_tests" // product code asks whether it is being tested
)

// ChangeInspected is the result of the existing tests on a commit.
type ChangeInspected struct {
	Commit string     `json:"commit"`
	Tree   string     `json:"tree"`
	Found  []Loosened `json:"found,omitempty"` // blocks the work, at most 50
	More   int        `json:"more,omitempty"`  // how many more
	Shown  []Loosened `json:"shown,omitempty"` // blocks nothing, at most 50
	Why    string     `json:"why,omitempty"`   // why the tests could not run
	CheckRuns
}

// Loosened is a test file that the change touches, or whose tests no longer pass.
type Loosened struct {
	File  string   `json:"file"`
	Kind  string   `json:"kind"` // see docs/proof.md
	Why   string   `json:"why"`
	Lines []string `json:"lines,omitempty"` // of the diff
	Tests []string `json:"tests,omitempty"` // by name, at most 200; "check NAME" if a runner names none
}

func (e ChangeInspected) fold(r *Run, _ time.Time) { r.Inspections = append(r.Inspections, e) }

// String returns the file and the reason.
func (l Loosened) String() string { return fmt.Sprintf("%s: %s", l.File, l.Why) }

// InspectionOf returns the newest inspection of a tree.
func (r Run) InspectionOf(tree string) (ChangeInspected, bool) {
	return newest(r.Inspections, func(inspected ChangeInspected) bool { return tree != "" && inspected.Tree == tree })
}
