package verdict

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
)

// PassedInRun reports whether the story passed by this run's work, not before.
func PassedInRun(run journal.Run, story string) bool {
	return slices.ContainsFunc(run.Iterations, func(it journal.Iteration) bool {
		return it.Ended != nil && slices.Contains(it.Ended.Passed, story)
	})
}

// IsStoryProven reports whether a story passes, with a result that is enough for it.
func IsStoryProven(run journal.Run, story plan.Story) bool {
	proof, found := run.StoryProof(story.ID)
	return found && story.Passes && IsEnough(run, story, proof.Result)
}

// IsEnough reports whether a result of a proof is enough for a story.
func IsEnough(run journal.Run, story plan.Story, result journal.Result) bool {
	switch result {
	case journal.Proven, journal.DocumentsOnly, journal.TestsOnly:
		return true
	case journal.NoNewFailingTest:
		return story.Untested() || run.Policy.Proof == policy.Unbroken
	case journal.NeedsReview, journal.Failed, journal.Unknown:
	}
	return false
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

func isSettled(run journal.Run, story plan.Story) bool {
	return IsStoryProven(run, story) || ReviewAnswer(run, story.ID) != ""
}

// IsWorkProven reports whether each story and the whole change are proven, and nothing was left out.
func IsWorkProven(run journal.Run) bool {
	return WhyUnproven(run) == "" && len(UnprovenStories(run)) == 0
}

// WhyUnproven returns why the whole change is not proven; empty: it is.
func WhyUnproven(run journal.Run) string {
	whole, found := run.WholeProof()
	switch {
	case !found:
		return "the newest commit was not checked on a clean checkout"
	case slices.Contains([]journal.Result{"", journal.Failed, journal.Unknown, journal.NeedsReview}, whole.Result):
		return cmp.Or(whole.Why, whole.Result.Text())
	case len(whole.Restored) > 0:
		return "protected files were changed"
	case HasDroppedFiles(run):
		return "changes of protected files were left out"
	case IsCommentIgnored(run):
		return "nothing was changed for what the comment asks"
	case whole.Result == journal.TestsOnly && len(whole.Look) > 0:
		return "only tests are changed, also existing ones"
	}
	return ""
}

// IsVerified reports whether the checks passed with the newest commit, and could show something.
func IsVerified(run journal.Run) bool {
	proof, found := run.ProofOf(run.Tree)
	return found && proof.Passed && proof.Result != journal.Unknown
}

// IsCommentIgnored reports whether a comment asks for more, and this run changed nothing.
func IsCommentIgnored(run journal.Run) bool { return run.Task.Added != "" && run.Head == run.Start }

// HasDroppedFiles reports whether a change of a protected file was left out of the work.
func HasDroppedFiles(run journal.Run) bool {
	return slices.ContainsFunc(run.Iterations, func(it journal.Iteration) bool {
		return it.Taken != nil && len(it.Taken.Dropped) > 0
	})
}

// MayChangeTests reports whether existing tests may fail after the change: people allowed it for the story, or for one
// of the stories of the whole change. Each of the others has a proof of its own.
func MayChangeTests(run journal.Run, story string) bool {
	if run.Policy.Tamper == policy.TamperAllow {
		return true
	}
	return slices.ContainsFunc(run.Plan.UserStories, func(s plan.Story) bool {
		return s.MayChangeTests && (story == "" || s.ID == story)
	})
}

// CriterionTests returns for each criterion the test that the agent names, if it fails without the change.
func CriterionTests(story plan.Story, proof journal.Proof) []string {
	shown := make([]string, len(story.AcceptanceCriteria))
	for i, named := range story.TestedBy[:min(len(story.TestedBy), len(shown))] {
		shown[i] = FindTest(proof.Tests, named)
	}
	return shown
}

// isTestName reports whether name is a test, or its end: runners put files and classes before it.
func isTestName(test, name string) bool {
	before, ok := strings.CutSuffix(test, strings.TrimSpace(name))
	if !ok || len(before) == len(test) {
		return false
	}
	last, _ := utf8.DecodeLastRuneInString(before)
	return !unicode.IsLetter(last) && !unicode.IsDigit(last) && last != '_'
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

// whyRejected returns why the proof of a story rejects it, for the next prompt.
func whyRejected(run journal.Run, proof journal.Proof) string {
	switch {
	case proof.Result == journal.Unknown: // the agent cannot change that
		return ""
	case !proof.Passed && len(proof.Restored) > 0:
		return "on a clean checkout: " + proof.Why + ", with the base's version of " + journal.ShortList(proof.Restored)
	case !proof.Passed:
		return "on a clean checkout: " + proof.Why
	case proof.Result == journal.NeedsReview && run.Policy.Tamper == policy.TamperBlock:
		return proof.Why
	case len(proof.Untested) > 0 && run.Policy.Untested.Do == policy.UntestedBlock:
		return "no test needs these lines: " + journal.ShortLines(proof.Untested) +
			"; add a test that fails without them, or remove them"
	}
	return ""
}

// NeedsReview reports whether a required second opinion of a story's commit is missing. One that the budget ended is:
// else an agent could use the budget up, and pass without an opinion.
func NeedsReview(run journal.Run, story, commit string) bool {
	if run.Policy.Review.Agent == "" {
		return false
	}
	reviewed, found := run.ReviewOf(story)
	return !found || reviewed.Commit != commit || reviewed.Overspent
}

// Objections returns why a second opinion blocks a story's commit, or nothing.
func Objections(run journal.Run, story, commit string) string {
	reviewed, found := run.ReviewOf(story)
	if !found || reviewed.Commit != commit || len(reviewed.Missed) == 0 {
		return ""
	}
	var all []string
	for _, missed := range reviewed.Missed {
		all = append(all, missed.String())
	}
	return "a second opinion, by " + reviewed.By + ": " + journal.ShortList(all)
}
