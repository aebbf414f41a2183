package verdict

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/journal"
)

// judge says which of an iteration's claims are believed, and why others are
// not. Work is claimed by the agent and judged here.
func judge(run journal.Run, it journal.Iteration) journal.IterationEnded {
	verdict := journal.IterationEnded{
		Number: it.Number,
		Story:  it.Story,
		Green:  run.Green(it.Checks),
		Worked: worked(run, it),
	}
	for _, id := range claims(it) {
		if why := doubt(run, it, id); why != "" {
			verdict.Rejected = append(verdict.Rejected, journal.Rejection{Claim: id, Why: why})
			continue
		}
		verdict.Passed = append(verdict.Passed, id)
	}
	if why := broken(run, it, verdict.Passed); why != "" {
		claim := "<promise>" + run.Policy.Promise + "</promise>"
		verdict.Rejected = append(verdict.Rejected, journal.Rejection{Claim: claim, Why: why})
	}
	return verdict
}

// claims are the stories an agent says it finished.
func claims(it journal.Iteration) []string {
	if it.Read == nil {
		return nil
	}
	return it.Read.Claimed
}

// believable are the claims worth a proof.
func believable(run journal.Run, it journal.Iteration) []string {
	return slices.DeleteFunc(slices.Clone(claims(it)), func(id string) bool {
		return doubt(run, it, id) != ""
	})
}

// doubt is why a claimed story is not believed; empty when it is.
func doubt(run journal.Run, it journal.Iteration, id string) string {
	switch {
	case id != it.Story:
		return fmt.Sprintf("this iteration was for %s: one story at a time", it.Story)
	case it.Agent != nil && it.Agent.Failed:
		return "the agent itself failed: " + it.Agent.Why
	case !worked(run, it):
		return "no work was done: no tool was called and nothing changed"
	case it.Taken != nil && len(it.Taken.Refused) > 0:
		return "its commits were refused: " + it.Taken.Refused[0].Why
	case !run.Green(it.Checks):
		return "checks failed: " + strings.Join(red(run, it.Checks), ", ")
	case it.Proof != nil && !it.Proof.Passed:
		return "on a clean checkout: " + it.Proof.Why
	}
	return ""
}

// broken is why a completion promise is not believed; empty when none was
// given or it is true.
func broken(run journal.Run, it journal.Iteration, passed []string) string {
	if it.Agent == nil || run.Policy.Promise == "" || !slices.Contains(it.Agent.Promises, run.Policy.Promise) {
		return ""
	}
	var open []string
	for _, story := range run.Plan.UserStories {
		if !story.Passes && !slices.Contains(passed, story.ID) {
			open = append(open, story.ID)
		}
	}
	if len(open) == 0 {
		return ""
	}
	return "still open: " + strings.Join(open, ", ")
}

// worked tells whether anything happened that a claim could rest on: a tool
// was called for more than to mark a story as done, or the tree is not what
// the iteration before left.
func worked(run journal.Run, it journal.Iteration) bool {
	if it.Agent != nil && it.Agent.Tools > it.Agent.Chores {
		return true
	}
	if it.Taken == nil {
		return false
	}
	if before := run.Before(it.Number); before != nil && before.Taken != nil {
		return before.Taken.Work != it.Taken.Work
	}
	return it.Taken.To != it.Taken.From || it.Taken.Dirty
}

// red names the checks that failed and block.
func red(run journal.Run, checks []journal.CheckEnded) []string {
	var names []string
	for _, check := range checks {
		if !check.Passed && run.Blocks(check.Name) {
			names = append(names, check.Name)
		}
	}
	return names
}
