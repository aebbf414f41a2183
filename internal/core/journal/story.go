package journal

import (
	"cmp"
	"slices"
)

// Reopened is a story that people asked for again, after a number of iterations.
type Reopened struct {
	Story      string
	Iterations int
}

// reopenedAt returns how many iterations there were when people asked for a story the last time.
func (r Run) reopenedAt(story string) int {
	last, _ := newest(r.Reopened, func(reopened Reopened) bool { return reopened.Story == story })
	return min(last.Iterations, len(r.Iterations))
}

// Before returns the commit before the work on a story, with which its proof compares the work.
func (r Run) Before(story string) string {
	if story == r.Merging.MergeStory { // its work is a merge of the base
		return r.Base
	}
	if r.isBaseMergedSince(story) { // an older commit would show the work of others as the story's
		return r.Base
	}
	first := r.firstTaken(story)
	// Work that an earlier job pushed, and whose record was lost, is the story's.
	lost, found := newest(r.Merging.Joins, func(j Joined) bool { return j.Own && j.To == first })
	if found && first != "" {
		first = lost.From
	}
	return cmp.Or(first, r.Base)
}

// isBaseMergedSince reports whether the base was merged after work on a story, since people asked for it.
func (r Run) isBaseMergedSince(story string) bool {
	return slices.ContainsFunc(r.Iterations[r.reopenedAt(story):], func(it Iteration) bool {
		return it.Story == story && it.Taken != nil && r.Merging.MergedAt >= it.Number
	})
}

// firstTaken returns the head before the first work on a story, since people asked for it and since another story
// passed: older work is part of that one. Empty: there is none.
func (r Run) firstTaken(story string) string {
	first := ""
	for _, it := range slices.Backward(r.Iterations[r.reopenedAt(story):]) {
		if it.Story == story && it.Taken != nil {
			first = cmp.Or(it.Taken.From, first)
		}
		if it.Story != story && it.Ended != nil && len(it.Ended.Passed) > 0 {
			break
		}
	}
	return first
}
