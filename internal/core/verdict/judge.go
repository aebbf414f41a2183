package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
)

// judgeIteration returns the verdict on an iteration. The agent claims work; the program judges it.
func judgeIteration(run journal.Run, it journal.Iteration) journal.IterationEnded {
	verdict := journal.IterationEnded{
		Number: it.Number,
		Story:  it.Story,
		Green:  IsGreen(run, it.Checks),
		Worked: hasWorked(run, it),
	}
	if isByStories(run) {
		judgeStories(run, it, &verdict)
	} else {
		judgeCompletion(run, it, &verdict)
	}
	return verdict
}

func isByStories(run journal.Run) bool {
	return run.Policy.Done == policy.ByStories || run.Policy.Done == ""
}

func judgeStories(run journal.Run, it journal.Iteration, verdict *journal.IterationEnded) {
	for _, id := range claimedStories(it) {
		if why := whyDoubted(run, it, id); why != "" {
			reject(verdict, id, why)
			continue
		}
		verdict.Passed = append(verdict.Passed, id)
	}
	if why := brokenPromise(run, it, verdict.Passed); why != "" {
		reject(verdict, run.Policy.PromiseTag(), why)
	}
}

func judgeCompletion(run journal.Run, it journal.Iteration, verdict *journal.IterationEnded) {
	if !HasCompletionWord(run.Policy, *it.Agent) {
		return
	}
	switch {
	case it.Agent.Failed:
		reject(verdict, run.Policy.Word, agentFailure(it))
	case !verdict.Green:
		reject(verdict, run.Policy.Word, failedChecks(run, it))
	case !verdict.Worked:
		reject(verdict, run.Policy.Word, whyIdle(it))
	case areCommitsRefused(it):
		reject(verdict, run.Policy.Word, "its commits were refused: "+it.Taken.Refused[0].Why)
	default:
		verdict.Done = true
	}
}

func areCommitsRefused(it journal.Iteration) bool {
	return it.Taken != nil && len(it.Taken.Refused) > 0
}

func reject(verdict *journal.IterationEnded, claim, why string) {
	verdict.Rejected = append(verdict.Rejected, journal.Rejection{Claim: claim, Why: why})
}

// whyIdle returns why an iteration did no work. Its claims do not matter.
func whyIdle(it journal.Iteration) string {
	switch {
	case it.Agent.Blind:
		return "no work was done: nothing changed"
	case it.Agent.Tools > it.Agent.Chores:
		return "no work was done: every tool call failed and nothing changed"
	}
	return "no work was done: no tool was called and nothing changed"
}

func agentFailure(it journal.Iteration) string { return "the agent itself failed: " + it.Agent.Why }

func failedChecks(run journal.Run, it journal.Iteration) string {
	return "checks failed: " + strings.Join(blockingChecks(run, it.Checks), ", ")
}

// HasCompletionWord reports whether the agent answered the word, in any case, or tagged it exactly.
func HasCompletionWord(p policy.Policy, agent journal.AgentEnded) bool {
	if p.Done == policy.ByResponse {
		return strings.EqualFold(agent.Response, p.Word)
	}
	return slices.Contains(agent.Promises, p.Word)
}

func claimedStories(it journal.Iteration) []string {
	if it.Read == nil {
		return nil
	}
	return it.Read.Claimed
}

func believedClaims(run journal.Run, it journal.Iteration) []string {
	return slices.DeleteFunc(slices.Clone(claimedStories(it)), func(id string) bool {
		return whyDoubted(run, it, id) != ""
	})
}

// whyDoubted returns why a claimed story is rejected, or nothing.
func whyDoubted(run journal.Run, it journal.Iteration, id string) string {
	switch {
	case id != it.Story:
		return fmt.Sprintf("this iteration was for %s: one story at a time", it.Story)
	case it.Agent.Failed:
		return agentFailure(it)
	case slices.Contains(it.Read.Bent, id):
		return "the agent weakened the story, and ralph restored it"
	case !hasWorked(run, it) && !it.Agent.Blind: // a blind agent shows no tool calls: its change or its tests count
		return whyIdle(it)
	case areCommitsRefused(it):
		return "its commits were refused: " + it.Taken.Refused[0].Why
	case it.Taken != nil && run.IsMerging(): // it resolved nothing
		return "conflict markers remain in " + journal.ShortList(run.Merging.Parted.Conflicts)
	case it.Proof == nil:
		return whyRed(run, it)
	}
	if why := whyRejected(run, *it.Proof); why != "" {
		return why
	}
	if isAnswerOnly(run, it) {
		return ""
	}
	return cmp.Or(Objections(run, it.Story, it.Proof.Commit), whyIdleRejected(it))
}

// whyRed returns which checks fail in the agent's tree. With a proof, the proof decides which failures count.
func whyRed(run journal.Run, it journal.Iteration) string {
	runLater := it.Read.Committed && len(it.Checks) == 0 // on a clean checkout
	if runLater || IsGreen(run, it.Checks) {
		return ""
	}
	return failedChecks(run, it)
}

// brokenPromise returns why a completion promise is rejected, or nothing.
func brokenPromise(run journal.Run, it journal.Iteration, passed []string) string {
	if run.Policy.Word == "" || !HasCompletionWord(run.Policy, *it.Agent) {
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

// hasWorked reports whether a claim can rest on an iteration: a tool call did more than mark a story as done, or the
// tree changed. An agent that shows neither is believed.
func hasWorked(run journal.Run, it journal.Iteration) bool {
	if it.Agent.Tools > it.Agent.Chores+it.Agent.ToolErrors {
		return true
	}
	if it.Taken == nil {
		return false
	}
	if it.Taken.Work == "" {
		return it.Agent.Blind
	}
	if before := run.WorkBefore(it); before != "" {
		return it.Taken.Work != before
	}
	if it.Taken.To == "" { // without a repository, files are not compared
		return it.Agent.Blind
	}
	return it.Taken.To != it.Taken.From || it.Taken.Dirty
}

// blockingChecks names the checks that block the work, with failures since the base.
func blockingChecks(run journal.Run, checks []journal.CheckEnded) []string {
	var names []string
	for _, check := range checks {
		if !BlocksStory(run, check) {
			continue
		}
		name := check.Name
		if fresh := NewFailures(run, check); len(fresh) > 0 {
			name += " (new: " + journal.ShortList(fresh) + ")"
		}
		names = append(names, name)
	}
	return names
}

// isAnswerOnly reports whether an iteration only answers a review: its story never changed the code, has nothing to
// prove and gets no grade.
func isAnswerOnly(run journal.Run, it journal.Iteration) bool {
	story, found := run.Plan.Find(it.Story)
	if !found || !run.Task.CanBeAnswered(story) {
		return false
	}
	if it.Agent == nil || it.Agent.Response == "" {
		return false
	}
	if it.Taken == nil || it.Taken.Dirty || areCommitsRefused(it) {
		return false
	}
	return !hasStoryChanged(run, it)
}

// hasStoryChanged reports whether the story of an iteration has changed the code, in this iteration or before.
func hasStoryChanged(run journal.Run, last journal.Iteration) bool {
	for _, it := range run.Iterations {
		if it.Story != last.Story || it.Number > last.Number || it.Taken == nil {
			continue
		}
		if it.Taken.To != it.Taken.From {
			return true
		}
	}
	return false
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

// whyIdleRejected returns why a story without a change is rejected, unless tests show that it holds.
func whyIdleRejected(it journal.Iteration) string {
	if !it.Proof.Idle || len(it.Proof.Held) > 0 {
		return ""
	}
	return "nothing was changed for it, and testedBy does not name a green test for each of its criteria"
}

func whyNothingToDo(run journal.Run) string {
	var shown []string
	for _, story := range run.Plan.UserStories {
		proof, _ := run.StoryProof(story.ID)
		if len(proof.Held) == 0 {
			continue
		}
		tests := slices.Compact(slices.Sorted(slices.Values(proof.Held)))
		shown = append(shown, story.ID+" by "+journal.ShortList(tests))
	}
	if len(shown) == 0 {
		return "every story is marked as passed, and no file was changed"
	}
	return "the request is already met: no file was changed, and tests that are green at the base show it: " +
		strings.Join(shown, "; ")
}
