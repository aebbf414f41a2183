package journal

import (
	"slices"

	"github.com/ralph-loop/ralph/internal/plan"
)

// Untouched tells whether the work stands where the base does: whatever is
// claimed of it was so before, or is not so.
func (r Run) Untouched() bool { return r.Base != "" && r.Head == r.Base && !r.Dirty }

// Known tells whether it is known what the tests are worth that are named for a
// story of an untouched run.
func (r Run) Known(story plan.Story, commit string) bool {
	graded, found := r.GradeOf(story.ID)
	return found && graded.Commit == commit && slices.Equal(graded.Sought, story.TestedBy)
}

// HeldBefore tells whether tests have shown that what a story asks for was so
// before anything was done.
func (r Run) HeldBefore(story string) bool {
	graded, found := r.GradeOf(story)
	return found && len(graded.Held) > 0 && graded.Commit == r.Base
}

// WorkBefore is the tree that an iteration found, as far as it is known.
func (r Run) WorkBefore(it Iteration) string {
	if before := r.Before(it.Number); before != nil && before.Taken != nil {
		return before.Taken.Work
	}
	return r.Work
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
