package verdict

import (
	"slices"

	"github.com/ralph-loop/ralph/internal/journal"
)

// isAnswerOnly reports whether an iteration only answers a review: its story never changed the code, has nothing to
// prove and gets no grade.
func isAnswerOnly(run journal.Run, it journal.Iteration) bool {
	story, found := run.Plan.Find(it.Story)
	return found && run.Task.CanBeAnswered(story) && it.Agent != nil && it.Agent.Response != "" &&
		it.Taken != nil && !it.Taken.Dirty && len(it.Taken.Refused) == 0 &&
		!slices.ContainsFunc(run.Iterations, func(o journal.Iteration) bool {
			return o.Story == it.Story && o.Number <= it.Number && o.Taken != nil && o.Taken.To != o.Taken.From
		})
}

// ReviewAnswer returns the agent's answer to a review by which the story passed, or nothing.
func ReviewAnswer(run journal.Run, story string) string {
	for _, it := range slices.Backward(run.Iterations) {
		if it.Ended == nil || !slices.Contains(it.Ended.Passed, story) {
			continue
		}
		if isAnswerOnly(run, it) {
			return it.Agent.Response
		}
		return ""
	}
	return ""
}
