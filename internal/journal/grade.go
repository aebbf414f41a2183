package journal

import (
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/tally"
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
}

// Type is the event's name in the journal.
func (StoryGraded) Type() string { return "story_graded" }

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

// Earned tells whether this run is why the story passes: one that people had
// ticked off before is theirs to vouch for.
func (r Run) Earned(story string) bool {
	return slices.ContainsFunc(r.Iterations, func(it Iteration) bool {
		return it.Ended != nil && slices.Contains(it.Ended.Passed, story)
	})
}

// StoryProven tells whether a story is proven: it went from red to green, or
// nothing is broken and that is enough for it.
func (r Run) StoryProven(story plan.Story) bool {
	graded, found := r.GradeOf(story.ID)
	return found && story.Passes && r.Suffices(story, graded.Grade)
}

// Suffices tells whether a grade is enough for a story. None is while a person
// has to look at what became of the tests: it rests on them.
func (r Run) Suffices(story plan.Story, grade Grade) bool {
	return r.Unsettled() == "" && r.Reaches(story, grade)
}

// Reaches tells whether a grade is what is asked of a story.
func (r Run) Reaches(story plan.Story, grade Grade) bool {
	return grade == RedToGreen || grade != Unverified && grade != "" && (story.Untested() || r.Policy.Proof == policy.Unbroken)
}

// NothingToProve tells whether a story changed no program, and was not to: its own
// words ask for documents, or for tests.
func NothingToProve(story plan.Story, grade Grade) bool {
	return grade == DocumentsOnly && story.AsksForDocuments() || grade == TestsOnly && story.AsksForTests()
}

// Unproven are the stories that pass by this run's work, are not proven, and have
// something to prove.
func (r Run) Unproven() []plan.Story {
	var all []plan.Story
	for _, story := range r.Plan.UserStories {
		graded, _ := r.GradeOf(story.ID)
		nothing := NothingToProve(story, graded.Grade) && r.Unsettled() == ""
		if story.Passes && r.Earned(story.ID) && !r.StoryProven(story) && !nothing {
			all = append(all, story)
		}
	}
	return all
}

// Sound tells whether the work as a whole is proven: the newest tree, with
// nothing protected changed, no existing test that fails, and every
// story.
func (r Run) Sound() bool {
	proof, proven := r.Proven()
	kept := len(proof.Restored) == 0 && !r.Dropped() || r.Policy.Lenient
	return proven && kept && len(r.Unproven()) == 0 && r.Unsettled() == ""
}

// Dropped tells whether a change of something protected was left out of the
// work: what it was for, nobody has.
func (r Run) Dropped() bool {
	return slices.ContainsFunc(r.Iterations, func(it Iteration) bool { return it.Taken != nil && len(it.Taken.Dropped) > 0 })
}

// Mended are the tests that were red at the base, by name, and pass in proof,
// but for those that other stories are graded by already.
func (r Run) Mended(story string, proof Proof) []string {
	var names []string
	for _, check := range proof.Checks {
		if !r.Proves(check) || r.Holds(check) {
			continue
		}
		for _, name := range r.RedBefore(check.Name) {
			if check.Outcome(name) == tally.Passed && !r.Credited(name, story) {
				names = append(names, name)
			}
		}
	}
	return names
}

// Credited tells whether a test is what another story is graded by.
func (r Run) Credited(test, story string) bool {
	return slices.ContainsFunc(r.Grades, func(g Graded) bool { return g.Story != story && slices.Contains(g.Tests, test) })
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
