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

// PassedInRun tells whether this run is why the story passes: one that people had
// ticked off before is theirs to vouch for.
func PassedInRun(run journal.Run, story string) bool {
	return slices.ContainsFunc(run.Iterations, func(it journal.Iteration) bool {
		return it.Ended != nil && slices.Contains(it.Ended.Passed, story)
	})
}

// IsStoryProven tells whether a story is proven: it went from red to green, or
// nothing is broken and that is enough for it.
func IsStoryProven(run journal.Run, story plan.Story) bool {
	graded, found := run.GradeOf(story.ID)
	return found && story.Passes && IsGradeSufficient(run, story, graded.Grade)
}

// IsGradeSufficient tells whether a grade is enough for a story. None is while a person
// has to look at what became of the tests: it rests on them.
func IsGradeSufficient(run journal.Run, story plan.Story, grade journal.Grade) bool {
	return InspectionConcern(run) == "" && MeetsBar(run, story, grade)
}

// MeetsBar tells whether a grade is what is asked of a story.
func MeetsBar(run journal.Run, story plan.Story, grade journal.Grade) bool {
	return grade == journal.RedToGreen || grade != journal.Unverified && grade != "" && (story.Untested() || run.Policy.Proof == policy.Unbroken)
}

// NothingToProve tells whether a story changed no program, and was not to: its own
// words ask for documents, or for tests.
func NothingToProve(story plan.Story, grade journal.Grade) bool {
	return grade == journal.DocumentsOnly && story.AsksForDocuments() || grade == journal.TestsOnly && story.AsksForTests()
}

// UnprovenStories are the stories that pass by this run's work, are not proven, and have
// something to prove.
func UnprovenStories(run journal.Run) []plan.Story {
	var all []plan.Story
	for _, story := range run.Plan.UserStories {
		graded, _ := run.GradeOf(story.ID)
		nothing := NothingToProve(story, graded.Grade) && InspectionConcern(run) == "" || ReviewAnswer(run, story.ID) != ""
		if story.Passes && PassedInRun(run, story.ID) && !IsStoryProven(run, story) && !nothing {
			all = append(all, story)
		}
	}
	return all
}

// IsWorkProven tells whether the work as a whole is proven: the newest tree, with
// nothing protected changed, no existing test that fails, and every
// story.
func IsWorkProven(run journal.Run) bool {
	proof, proven := LatestProof(run)
	kept := len(proof.Restored) == 0 && !HasDroppedFiles(run) || run.Policy.Lenient
	return proven && kept && len(UnprovenStories(run)) == 0 && InspectionConcern(run) == ""
}

// HasDroppedFiles tells whether a change of a protected file was left out of the work,
// so that the work may lack it.
func HasDroppedFiles(run journal.Run) bool {
	return slices.ContainsFunc(run.Iterations, func(it journal.Iteration) bool { return it.Taken != nil && len(it.Taken.Dropped) > 0 })
}

// FixedTests are the tests that were red at the base, by name, and pass in proof,
// but for those that other stories are graded by already.
func FixedTests(run journal.Run, story string, proof journal.Proof) []string {
	var names []string
	for _, check := range proof.Checks {
		if !CanProve(run, check) || BlocksStory(run, check) {
			continue
		}
		for _, name := range FailedAtBase(run, check.Name) {
			if check.Outcome(name) == tally.Passed && !IsCreditedElsewhere(run, name, story) {
				names = append(names, name)
			}
		}
	}
	return names
}

// IsCreditedElsewhere tells whether a test is what another story is graded by.
func IsCreditedElsewhere(run journal.Run, test, story string) bool {
	return slices.ContainsFunc(run.Grades, func(g journal.StoryGraded) bool { return g.Story != story && slices.Contains(g.Tests, test) })
}

// LatestProof is the proof of the tree that was handed over last, if it passed and
// means something.
func LatestProof(run journal.Run) (journal.Proof, bool) {
	proof, found := run.ProofOf(run.Tree)
	return proof, found && proof.Passed && !proof.Empty
}

// CriterionTests is, for each criterion of a story, the test that the agent names for it
// as far as that went from red to green; empty where nothing bears its word out.
func CriterionTests(run journal.Run, story plan.Story) []string {
	shown := make([]string, len(story.AcceptanceCriteria))
	graded, _ := run.GradeOf(story.ID)
	for i, named := range story.TestedBy[:min(len(story.TestedBy), len(shown))] {
		shown[i] = FindTest(graded.Tests, named)
	}
	return shown
}

// isTestName tells whether a name is a test's: all of it, or its end, as runners put
// files, packages and classes before it.
func isTestName(test, name string) bool {
	before, is := strings.CutSuffix(test, strings.TrimSpace(name))
	if !is || len(before) == len(test) {
		return false
	}
	runes := []rune(before)
	return len(runes) == 0 || !unicode.IsLetter(runes[len(runes)-1]) && !unicode.IsDigit(runes[len(runes)-1]) && runes[len(runes)-1] != '_'
}

// FindTest is which of the tests is meant by a name; empty where none is.
func FindTest(tests []string, name string) string {
	for _, test := range tests {
		if isTestName(test, name) {
			return test
		}
	}
	return ""
}

// IsUnchanged tells whether the commits that were handed over change nothing but
// the loop's own files.
func IsUnchanged(run journal.Run) bool {
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

// IsUntouched tells whether the work stands where the base does: what is claimed
// of it was so before, or is not so.
func IsUntouched(run journal.Run) bool { return run.Base != "" && IsUnchanged(run) && !run.Dirty }

// IsGradeCurrent tells whether it is known what the tests are worth that are named for a
// story of which nothing was changed.
func IsGradeCurrent(run journal.Run, story plan.Story, commit string) bool {
	graded, found := run.GradeOf(story.ID)
	return found && graded.Commit == commit && slices.Equal(graded.Sought, story.TestedBy)
}
