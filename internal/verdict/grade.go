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

// PassedInRun reports whether the story passed by this run's work, not before.
func PassedInRun(run journal.Run, story string) bool {
	return slices.ContainsFunc(run.Iterations, func(it journal.Iteration) bool {
		return it.Ended != nil && slices.Contains(it.Ended.Passed, story)
	})
}

// IsStoryProven reports whether a story passes with a sufficient grade, of a commit that is not held.
func IsStoryProven(run journal.Run, story plan.Story) bool {
	graded, found := run.GradeOf(story.ID)
	return found && story.Passes && IsGradeSufficient(run, story, graded.Grade) && !run.IsHeld(graded.Commit)
}

// heldGrade returns a story that passed by a commit that is held, where the newest one is not.
func heldGrade(run journal.Run) (story string, found bool) {
	for _, s := range UnprovenStories(run) {
		if graded, _ := run.GradeOf(s.ID); run.IsHeld(graded.Commit) {
			return s.ID, InspectionConcern(run) == ""
		}
	}
	return "", false
}

// IsGradeSufficient reports whether a grade is enough for a story. No grade is while a person has to look at the tests
// behind it.
func IsGradeSufficient(run journal.Run, story plan.Story, grade journal.Grade) bool {
	return InspectionConcern(run) == "" && MeetsBar(run, story, grade)
}

// MeetsBar reports whether a grade is the one that a story requires.
func MeetsBar(run journal.Run, story plan.Story, grade journal.Grade) bool {
	return grade == journal.RedToGreen || grade != journal.Unverified && grade != "" && (story.Untested() || run.Policy.Proof == policy.Unbroken)
}

// UnprovenStories returns the stories that passed by this run's work and still have to be proven.
func UnprovenStories(run journal.Run) []plan.Story {
	var all []plan.Story
	for _, story := range run.Plan.UserStories {
		if story.Passes && PassedInRun(run, story.ID) && !isSettled(run, story) {
			all = append(all, story)
		}
	}
	return all
}

// IsWorkProven reports whether the newest tree is proven, with every story and no protected change.
func IsWorkProven(run journal.Run) bool {
	proof, proven := LatestProof(run)
	kept := len(proof.Restored) == 0 && !HasDroppedFiles(run)
	return proven && kept && len(UnprovenStories(run)) == 0 && InspectionConcern(run) == "" && !IsCommentIgnored(run)
}

// IsCommentIgnored reports whether a comment asks for more, and every story holds only by what an earlier run did.
func IsCommentIgnored(run journal.Run) bool {
	return run.Task.Added != "" && !slices.ContainsFunc(run.Plan.UserStories, func(s plan.Story) bool { return len(run.ProvedBefore(s.ID)) == 0 })
}

// HasDroppedFiles reports whether a change of a protected file was left out of the work.
func HasDroppedFiles(run journal.Run) bool {
	return slices.ContainsFunc(run.Iterations, func(it journal.Iteration) bool { return it.Taken != nil && len(it.Taken.Dropped) > 0 })
}

// FixedTests names the tests that failed at the base and pass in the proof, but for other stories'.
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

// IsCreditedElsewhere reports whether another story is graded by the test.
func IsCreditedElsewhere(run journal.Run, test, story string) bool {
	return slices.ContainsFunc(run.Grades, func(g journal.StoryGraded) bool { return g.Story != story && slices.Contains(g.Tests, test) })
}

// LatestProof returns the proof of the newest tree, if it passed and is not empty.
func LatestProof(run journal.Run) (journal.Proof, bool) {
	proof, found := run.ProofOf(run.Tree)
	return proof, found && proof.Passed && !proof.Empty
}

// CriterionTests returns for each criterion the test that the agent names, if it went from red to green.
func CriterionTests(run journal.Run, story plan.Story) []string {
	shown := make([]string, len(story.AcceptanceCriteria))
	graded, _ := run.GradeOf(story.ID)
	for i, named := range story.TestedBy[:min(len(story.TestedBy), len(shown))] {
		shown[i] = FindTest(graded.Tests, named)
	}
	return shown
}

// isTestName reports whether name is a test, or its end: runners put files and classes before it.
func isTestName(test, name string) bool {
	before, is := strings.CutSuffix(test, strings.TrimSpace(name))
	if !is || len(before) == len(test) {
		return false
	}
	runes := []rune(before)
	return len(runes) == 0 || !unicode.IsLetter(runes[len(runes)-1]) && !unicode.IsDigit(runes[len(runes)-1]) && runes[len(runes)-1] != '_'
}

// FindTest returns the test that name stands for, or nothing.
func FindTest(tests []string, name string) string {
	for _, test := range tests {
		if isTestName(test, name) {
			return test
		}
	}
	return ""
}

// IsUnchanged reports whether the commits change nothing but the loop's own files.
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

// IsUntouched reports whether the work has the same files as the base.
func IsUntouched(run journal.Run) bool { return run.Base != "" && IsUnchanged(run) && !run.Dirty }

// IsGradeCurrent reports whether the story's grade is of this commit and of the tests it names now.
func IsGradeCurrent(run journal.Run, story plan.Story, commit string) bool {
	graded, found := run.GradeOf(story.ID)
	return found && graded.Commit == commit && slices.Equal(graded.Sought, story.TestedBy)
}
