package verdict

import (
	"slices"
	"strings"
	"unicode"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/tally"
)

// Earned tells whether this run is why the story passes: one that people had
// ticked off before is theirs to vouch for.
func Earned(run journal.Run, story string) bool {
	return slices.ContainsFunc(run.Iterations, func(it journal.Iteration) bool {
		return it.Ended != nil && slices.Contains(it.Ended.Passed, story)
	})
}

// StoryProven tells whether a story is proven: it went from red to green, or
// nothing is broken and that is enough for it.
func StoryProven(run journal.Run, story plan.Story) bool {
	graded, found := run.GradeOf(story.ID)
	return found && story.Passes && Suffices(run, story, graded.Grade)
}

// Suffices tells whether a grade is enough for a story. None is while a person
// has to look at what became of the tests: it rests on them.
func Suffices(run journal.Run, story plan.Story, grade journal.Grade) bool {
	return Unsettled(run) == "" && Reaches(run, story, grade)
}

// Reaches tells whether a grade is what is asked of a story.
func Reaches(run journal.Run, story plan.Story, grade journal.Grade) bool {
	return grade == journal.RedToGreen || grade != journal.Unverified && grade != "" && (story.Untested() || run.Policy.Proof == policy.Unbroken)
}

// NothingToProve tells whether a story changed no program, and was not to: its own
// words ask for documents, or for tests.
func NothingToProve(story plan.Story, grade journal.Grade) bool {
	return grade == journal.DocumentsOnly && story.AsksForDocuments() || grade == journal.TestsOnly && story.AsksForTests()
}

// Unproven are the stories that pass by this run's work, are not proven, and have
// something to prove.
func Unproven(run journal.Run) []plan.Story {
	var all []plan.Story
	for _, story := range run.Plan.UserStories {
		graded, _ := run.GradeOf(story.ID)
		nothing := NothingToProve(story, graded.Grade) && Unsettled(run) == "" || AnswerOf(run, story.ID) != ""
		if story.Passes && Earned(run, story.ID) && !StoryProven(run, story) && !nothing {
			all = append(all, story)
		}
	}
	return all
}

// Sound tells whether the work as a whole is proven: the newest tree, with
// nothing protected changed, no existing test that fails, and every
// story.
func Sound(run journal.Run) bool {
	proof, proven := Proven(run)
	kept := len(proof.Restored) == 0 && !Dropped(run) || run.Policy.Lenient
	return proven && kept && len(Unproven(run)) == 0 && Unsettled(run) == ""
}

// Dropped tells whether a change of a protected file was left out of the work,
// so that the work may lack it.
func Dropped(run journal.Run) bool {
	return slices.ContainsFunc(run.Iterations, func(it journal.Iteration) bool { return it.Taken != nil && len(it.Taken.Dropped) > 0 })
}

// Mended are the tests that were red at the base, by name, and pass in proof,
// but for those that other stories are graded by already.
func Mended(run journal.Run, story string, proof journal.Proof) []string {
	var names []string
	for _, check := range proof.Checks {
		if !Proves(run, check) || Holds(run, check) {
			continue
		}
		for _, name := range RedBefore(run, check.Name) {
			if check.Outcome(name) == tally.Passed && !Credited(run, name, story) {
				names = append(names, name)
			}
		}
	}
	return names
}

// Credited tells whether a test is what another story is graded by.
func Credited(run journal.Run, test, story string) bool {
	return slices.ContainsFunc(run.Grades, func(g journal.StoryGraded) bool { return g.Story != story && slices.Contains(g.Tests, test) })
}

// Proven is the proof of the tree that was handed over last, if it passed and
// means something.
func Proven(run journal.Run) (journal.Proof, bool) {
	proof, found := run.ProofOf(run.Tree)
	return proof, found && proof.Passed && !proof.Empty
}

// Shown is, for each criterion of a story, the test that the agent names for it
// as far as that went from red to green; empty where nothing bears its word out.
func Shown(run journal.Run, story plan.Story) []string {
	shown := make([]string, len(story.AcceptanceCriteria))
	graded, _ := run.GradeOf(story.ID)
	for i, named := range story.TestedBy[:min(len(story.TestedBy), len(shown))] {
		shown[i] = Named(graded.Tests, named)
	}
	return shown
}

// calls tells whether a name is a test's: all of it, or its end, as runners put
// files, packages and classes before it.
func calls(test, name string) bool {
	before, is := strings.CutSuffix(test, strings.TrimSpace(name))
	if !is || len(before) == len(test) {
		return false
	}
	runes := []rune(before)
	return len(runes) == 0 || !unicode.IsLetter(runes[len(runes)-1]) && !unicode.IsDigit(runes[len(runes)-1]) && runes[len(runes)-1] != '_'
}

// Named is which of the tests is meant by a name; empty where none is.
func Named(tests []string, name string) string {
	for _, test := range tests {
		if calls(test, name) {
			return test
		}
	}
	return ""
}

// Unchanged tells whether the commits that were handed over change nothing but
// the loop's own files.
func Unchanged(run journal.Run) bool {
	at := run.Base
	for _, it := range run.Iterations {
		switch {
		case it.Taken == nil || it.Taken.To == it.Taken.From:
		case it.Taken.From != at || !it.Idle:
			return false
		default:
			at = it.Taken.To
		}
	}
	return at == run.Head
}

// Untouched tells whether the work stands where the base does: what is claimed
// of it was so before, or is not so.
func Untouched(run journal.Run) bool { return run.Base != "" && Unchanged(run) && !run.Dirty }

// GradeKnown tells whether it is known what the tests are worth that are named for a
// story of which nothing was changed.
func GradeKnown(run journal.Run, story plan.Story, commit string) bool {
	graded, found := run.GradeOf(story.ID)
	return found && graded.Commit == commit && slices.Equal(graded.Sought, story.TestedBy)
}
