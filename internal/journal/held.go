package journal

import (
	"slices"

	"github.com/ralph-loop/ralph/internal/plan"
)

// Unchanged tells whether the commits that were handed over change nothing but
// the loop's own files.
func (r Run) Unchanged() bool {
	at := r.Base
	for _, it := range r.Iterations {
		switch {
		case it.Taken == nil || it.Taken.To == it.Taken.From:
		case it.Taken.From != at || !it.Idle:
			return false
		default:
			at = it.Taken.To
		}
	}
	return at == r.Head
}

// Untouched tells whether the work stands where the base does: what is claimed
// of it was so before, or is not so.
func (r Run) Untouched() bool { return r.Base != "" && r.Unchanged() && !r.Dirty }

// Known tells whether it is known what the tests are worth that are named for a
// story of which nothing was changed.
func (r Run) Known(story plan.Story, commit string) bool {
	graded, found := r.GradeOf(story.ID)
	return found && graded.Commit == commit && slices.Equal(graded.Sought, story.TestedBy)
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
