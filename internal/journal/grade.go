package journal

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/policy"
)

// Grade says how well a story is proven.
type Grade string

// RedToGreen: a test of the story fails on the base code and passes with its change.
// Unbroken: nothing that passed before fails; DocumentsOnly and TestsOnly also say
// that no program changed. Unverified: no check could tell.
const (
	RedToGreen    Grade = "red to green"
	Unbroken      Grade = "unbroken"
	DocumentsOnly Grade = "documents only"
	TestsOnly     Grade = "tests only"
	Unverified    Grade = "unverified"
)

// StoryGraded is the grade of a story whose proof has passed.
type StoryGraded struct {
	Story  string   `json:"story"`
	Commit string   `json:"commit"`
	Grade  Grade    `json:"grade"`
	Files  []string `json:"files,omitempty"` // the tests it added or changed, at most 100
	Tests  []string `json:"tests,omitempty"` // the tests from red to green, by name, at most 200
	// Idle says that nothing changed for it except the loop's own files. Sought are
	// then the tests that the agent names for its criteria. Held are the green ones,
	// by criterion, if each criterion has one: then the story is already met.
	Idle   bool     `json:"idle,omitempty"`
	Sought []string `json:"sought,omitempty"`
	Held   []string `json:"held,omitempty"`
	Why    string   `json:"why,omitempty"`
	CheckRuns

	Trial Trial `json:"-"` // its proof; set by the fold
}

func (e StoryGraded) fold(r *Run, _ time.Time) {
	e.Trial = r.Trial
	r.Grades = append(r.Grades, e)
	r.Trial = Trial{}
	for i := range r.Iterations {
		if r.Iterations[i].Story == e.Story {
			r.Iterations[i].Idle = e.Idle
		}
	}
}

// Trial holds the checks of the base code with a story's tests.
type Trial struct {
	Checks []CheckEnded
	Setup  []SetupEnded
}

// GradeOf returns the newest grade of a story.
func (r Run) GradeOf(story string) (StoryGraded, bool) {
	return newest(r.Grades, func(graded StoryGraded) bool { return graded.Story == story })
}

// Request returns what people ask for in a story.
func (r Run) Request(story plan.Story) string {
	asked := []string{story.Title, story.Description}
	for _, criterion := range story.AcceptanceCriteria {
		if !slices.Contains(r.Added, criterion) {
			asked = append(asked, criterion)
		}
	}
	return strings.Join(asked, "\n")
}

// ProvedBefore returns the tests that proved the same story in the run before. If a comment asks for more, they do
// not show what was done for it.
func (r Run) ProvedBefore(story string) []string {
	if r.Task.Added != "" && len(r.Worked(story)) > 0 {
		return nil
	}
	now, _ := r.Plan.Find(story)
	for _, earlier := range r.Earlier {
		if earlier.Request == r.Request(now) {
			return earlier.Tests
		}
	}
	return nil
}

// Onto is a commit on which a run builds: an earlier run's, or what was proven with what people pushed meanwhile.
type Onto struct {
	Commit     string `json:"commit"` // empty: the base
	Tree       string `json:"tree"`
	Iterations int    `json:"-"` // before it
	Proofs     int    `json:"-"`
}

// Reopened is a proven story for which people asked more, after a number of iterations.
type Reopened struct {
	Story      string
	Iterations int
}

// Worked returns the commits of a story's iterations, since people asked for it last.
func (r Run) Worked(story string) (all []CommitsTaken) {
	for i, it := range r.Iterations {
		if r.isOf(i, story) && !it.Idle && it.Taken != nil && it.Taken.To != "" && it.Taken.To != it.Taken.From {
			all = append(all, *it.Taken)
		}
	}
	return all
}

// isOf reports whether an iteration is on a story, as people asked for it last.
func (r Run) isOf(i int, story string) bool {
	last, _ := newest(r.Reopened, func(one Reopened) bool { return one.Story == story })
	return i >= last.Iterations && r.Iterations[i].Story == story
}

// OntoProof returns the results of the checks there.
func (r Run) OntoProof() (Proof, bool) { return r.ProofOf(r.Onto.Tree) }

// EarlierProofs returns the proofs of iterations before the first on this story, and of what the run builds on.
func (r Run) EarlierProofs(story string) (proofs []Proof) {
	_, isOpen := r.openWork(story)
	if proof, known := r.OntoProof(); known {
		proofs = append(proofs, proof)
	}
	if proof, known := r.ProofOf(r.Open.Tree); known && (!isOpen || r.Task.Added != "") {
		proofs = append(proofs, proof)
	}
	for i, it := range r.Iterations {
		if r.isOf(i, story) || r.IsShownByOpenWork(story) { // whose tests passed all the time
			break
		}
		if it.Proof != nil {
			proofs = append(proofs, *it.Proof)
		}
	}
	return proofs
}

// Before returns the code before a story: the newest commit of other work that passed its proof and is not held, and what
// of the story's own work is in it.
func (r Run) Before(story string) (commit string, own []CommitsTaken) {
	commit, own = r.beforeAll(story)
	done, _ := r.openWork(story)
	onto, known := r.OntoProof()
	for i, it := range r.Iterations {
		switch {
		case r.isOf(i, story):
			if it.Taken != nil && it.Taken.To != it.Taken.From {
				done = append(done, *it.Taken)
			}
		case it.Proof != nil && it.Proof.Passed && !r.IsHeld(it.Proof.Commit):
			commit, own = it.Proof.Commit, done
		}
		if known && onto.Passed && i+1 == r.Onto.Iterations {
			commit, own = r.Onto.Commit, nil
		}
	}
	return commit, own
}

// beforeAll is Before without this run's iterations. Where an earlier one left work open, tests of that show nothing of
// another story.
func (r Run) beforeAll(story string) (commit string, own []CommitsTaken) {
	open, isOpen := r.openWork(story)
	switch {
	case len(open) > 0 || len(r.Open.Stories) > 0 && !isOpen:
		return r.Start, open
	case r.Onto.Commit != "" && r.Onto.Iterations == 0:
		return r.Onto.Commit, nil
	}
	return r.Base, nil
}

// ProvingTests returns the tests, or else the test files, that took a story from red to green.
func (e StoryGraded) ProvingTests() []string {
	switch {
	case e.Grade != RedToGreen:
		return nil
	case len(e.Tests) > 0:
		return e.Tests
	}
	return e.Files
}

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

	Since string `json:"-"` // Run.Sound then; set by the fold
}

// Loosened is a file of existing tests that changed or no longer pass. Evidence has it, too.
type Loosened struct {
	File string `json:"file"` // Path of the file.
	// tests_broken, tests_gone, tests_changed, tests_steered or asks_for_tests; see docs/proof.md.
	Kind  string   `json:"kind"`
	Why   string   `json:"why"`             // Explanation.
	Lines []string `json:"lines,omitempty"` // Lines of the diff.
	Tests []string `json:"tests,omitempty"` // Names of the tests; "check NAME" if a runner names none.
}

func (e ChangeInspected) fold(r *Run, _ time.Time) {
	e.Since = r.Sound
	r.Inspections = append(r.Inspections, e)
	if proof, _ := r.ProofOf(e.Tree); proof.Passed && !e.Holds() {
		r.Sound = e.Commit
	}
}

// WasSound reports whether a commit passed and hid nothing, by the tests of its time.
func (r Run) WasSound(proof Proof) bool {
	return proof.Passed && slices.ContainsFunc(r.Inspections, func(e ChangeInspected) bool { return e.Tree == proof.Tree && !e.Holds() })
}

// Holds reports whether a person has to look at the work first.
func (e ChangeInspected) Holds() bool { return e.Why != "" || len(e.Found) > 0 }

// TestsAllowed returns the tests that people let this run, and those before it, change.
func (r Run) TestsAllowed() []string {
	all := slices.Clone(r.Allowed)
	for _, inspected := range r.Inspections {
		for _, place := range inspected.Shown {
			if !inspected.Holds() {
				all = append(all, place.Tests...)
			}
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(all)))
}

// IsHeld reports whether nothing is proven by a commit, as the existing tests speak against its tree.
func (r Run) IsHeld(commit string) bool {
	proof, _ := newest(r.Proofs, func(p Proof) bool { return p.Commit == commit })
	inspected, _ := newest(r.Inspections, func(e ChangeInspected) bool { return e.Commit == commit || e.Tree != "" && e.Tree == proof.Tree })
	return inspected.Holds() && r.Policy.Tamper != "" && r.Policy.Tamper != policy.TamperAllow
}

// String returns the file and the reason.
func (l Loosened) String() string { return fmt.Sprintf("%s: %s", l.File, l.Why) }

// InspectionOf returns the newest inspection of a tree. It does not count once there are newer tests that judge: an agent
// could go back to an older tree.
func (r Run) InspectionOf(tree string) (ChangeInspected, bool) {
	return newest(r.Inspections, func(e ChangeInspected) bool {
		return tree != "" && e.Tree == tree && (e.Since == r.Sound || e.Commit == r.Sound)
	})
}
