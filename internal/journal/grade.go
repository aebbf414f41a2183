package journal

import (
	"slices"
	"time"
)

// Grade is how much it is worth that a story passes.
type Grade string

// A test of the story fails on the base code and passes with its change; or
// nothing that passed before is broken, with a product changed or without; or no
// check could tell.
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
	Files  []string `json:"files,omitempty"` // the tests it brought or changed, at most 100
	Tests  []string `json:"tests,omitempty"` // by name, what was red there and is green here, at most 200
	// Idle tells that nothing was changed for it but the loop's own files. Sought
	// are then the tests that are named for its criteria; Held are those of them
	// that are green, by criterion, where each has one: then what the story asks
	// for holds already.
	Idle   bool     `json:"idle,omitempty"`
	Sought []string `json:"sought,omitempty"`
	Held   []string `json:"held,omitempty"`
	Why    string   `json:"why,omitempty"`
	CheckRuns
}

func (e StoryGraded) fold(r *Run, _ time.Time) {
	r.Grades = append(r.Grades, Graded{e.Story, e.Commit, e.Grade, e.Files, e.Tests, e.Idle, e.Sought, e.Held, e.Why, r.Trial})
	r.Trial = Trial{}
	for i := range r.Iterations {
		if r.Iterations[i].Story == e.Story {
			r.Iterations[i].Idle = e.Idle
		}
	}
}

// Trial is what checks said of the base with a story's tests in it.
type Trial struct {
	Checks []CheckEnded
	Setup  []SetupEnded
}

// Graded is a grade, and what it rests on.
type Graded struct {
	Story  string
	Commit string
	Grade  Grade
	Files  []string
	Tests  []string
	Idle   bool
	Sought []string
	Held   []string
	Why    string
	Trial  Trial
}

// GradeOf is the newest grade of a story.
func (r Run) GradeOf(story string) (Graded, bool) {
	for _, graded := range slices.Backward(r.Grades) {
		if graded.Story == story {
			return graded, true
		}
	}
	return Graded{}, false
}

// ProofsBefore are the proofs of iterations on other stories, up to the first on
// this one: how things stood when it was begun.
func (r Run) ProofsBefore(story string) []Proof {
	var proofs []Proof
	for _, it := range r.Iterations {
		if it.Story == story {
			return proofs
		}
		if it.Proof != nil {
			proofs = append(proofs, *it.Proof)
		}
	}
	return nil
}

// Witnesses are the tests that a story went from red to green by: by name, or as
// files where a check is known as a whole only; none where it did not.
func (g Graded) Witnesses() []string {
	switch {
	case g.Grade != RedToGreen:
		return nil
	case len(g.Tests) > 0:
		return g.Tests
	}
	return g.Files
}
