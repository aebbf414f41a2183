// Package verdict judges a run: the value of its checks, proofs and grades, and the next step. It is a function of the
// journal: the same journal gives the same verdict.
package verdict

import (
	"slices"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
)

const maxTries = 3 // limits how often in a row the run tries something on GitHub

// Next returns the next step of a run.
func Next(run journal.Run) Step {
	switch {
	case run.ID == "":
		return stop(policy.FatalError, "the journal does not begin with run_began")
	case run.Stop != nil:
		return NoStep{}
	case run.Policy.Done == policy.ByFile:
		return supervisedStep(run)
	case run.Policy.Done == policy.ByPromise:
		return sessionStep(run)
	case run.Cancel != nil:
		return stopSafely(run, policy.Cancelled, run.Cancel.Why)
	case run.Planning.Asked != "":
		return stopSafely(run, policy.NeedsInput, run.Planning.Asked)
	case NeedsPlan(run):
		return draftStep(run)
	case NeedsApproval(run):
		return stop(policy.NeedsInput, "the plan waits for approval")
	}
	if step, due := mergeStep(run); due {
		return step
	}
	if run.Baseline == nil && run.Policy.Baseline != "" {
		return Baseline{}
	}
	if it, open := run.OpenIteration(); open {
		return stepInIteration(run, it)
	}
	return stepBetweenIterations(run)
}

// stepInIteration orders an iteration: agent, plan, checks, hand-over, proof, verdict.
func stepInIteration(run journal.Run, it journal.Iteration) Step {
	switch {
	case it.Agent == nil:
		return Iterate{it.Number, it.Story}
	case it.Agent.CannotRun:
		return Judge{judgeIteration(run, it)}
	case it.Agent.Busy:
		return modelRetryStep(run, it)
	case it.Read == nil && isByStories(run):
		return ReadPlan{}
	case it.Taken == nil && checksCleanCheckout(run, it):
		return TakeCommits{}
	case len(it.Checks) < len(run.Policy.Checks) && !checksCleanCheckout(run, it):
		return Check{}
	case it.Taken == nil:
		return TakeCommits{Leftovers: IsGreen(run, it.Checks)}
	case it.Proof == nil && len(believedClaims(run, it)) > 0:
		return Prove{Story: it.Story, Commit: run.Head, Tree: run.Tree}
	case isAboutToPass(run, it) && !isAnswerOnly(run, it) && NeedsReview(run, it.Story, it.Proof.Commit):
		if reason, why := resourceLimitReached(run); reason == policy.BudgetExhausted {
			return stopSafely(run, reason, why)
		}
		return Review{Story: it.Story, Commit: it.Proof.Commit}
	case needsSCMTask(run, it):
		return RunSCMTask{Task: run.Policy.SCM.Tasks[len(it.SCM)]}
	}
	return Judge{judgeIteration(run, it)}
}

// checksCleanCheckout reports whether the checks run on a clean checkout instead of the agent's tree: a story is
// claimed, and all is committed. A claim that is rejected anyway is checked in the tree: the agent reads the results
// in its next prompt.
func checksCleanCheckout(run journal.Run, it journal.Iteration) bool {
	if !isByStories(run) || it.Agent.Failed {
		return false
	}
	if it.Read == nil || !it.Read.Committed {
		return false
	}
	if it.Proof != nil {
		return true
	}
	if !slices.Contains(claimedStories(it), it.Story) || slices.Contains(it.Read.Bent, it.Story) {
		return false
	}
	return it.Taken == nil || whyDoubted(run, it, it.Story) == ""
}

// stepBetweenIterations publishes, finishes, gives up, or begins the next iteration.
func stepBetweenIterations(run journal.Run) Step {
	if step, due := publishStep(run); due {
		return step
	}
	if needsSaving(run) {
		return SaveRun{}
	}
	if needsDelivery(run) {
		return Deliver{}
	}
	if why := branchConflict(run); why != "" {
		return stopSafely(run, policy.NeedsInput, why)
	}
	if it, found := run.LastJudged(); found && it.Ended.Done {
		reason := policy.ResponseMatched
		if run.Policy.Done == policy.ByTag {
			reason = policy.AllChecksPassed
		}
		return stop(reason, overspending(run))
	}
	if run.Plan.Done() {
		return finishStep(run)
	}
	if question := openQuestion(run); question != "" {
		return stopSafely(run, policy.NeedsInput, question)
	}
	if reason, why := limitReached(run); reason != "" {
		return stopSafely(run, reason, why)
	}
	story, found := run.Plan.Next()
	if !found && isByStories(run) {
		return stopSafely(run, policy.FatalError, "no open story can be worked on: each waits for another")
	}
	// People asked for more than what the pull request shows.
	if len(run.Reopened) > 0 && run.Policy.Publish && canBecomeDraft(run) {
		return OpenPull{}
	}
	return Iterate{len(run.Iterations) + 1, story.ID}
}

// canBecomeDraft reports whether the pull request is ready for review, and can be converted to a draft.
func canBecomeDraft(run journal.Run) bool {
	return run.Published.Pull != nil && !run.Published.Pull.Draft && !hasFailed(run, "open")
}

func draftStep(run journal.Run) Step {
	if reason, why := resourceLimitReached(run); reason != "" {
		return stopSafely(run, reason, why)
	}
	if run.Planning.Unable != nil {
		return stop(policy.FatalError, run.Planning.Unable.Why)
	}
	return DraftPlan{}
}

// isAboutToPass reports whether the story of an iteration is about to pass by a proof.
func isAboutToPass(run journal.Run, it journal.Iteration) bool {
	return it.Proof != nil && len(believedClaims(run, it)) > 0
}

// needsSCMTask reports whether another version control task runs. None does after one that failed: they build on each
// other.
func needsSCMTask(run journal.Run, it journal.Iteration) bool {
	n := len(it.SCM)
	if n >= len(run.Policy.SCM.Tasks) || areCommitsRefused(it) {
		return false
	}
	if n > 0 && it.SCM[n-1].Failed {
		return false
	}
	return IsGreen(run, it.Checks)
}

// isAllEarlier reports that all commits since the base are of an earlier run in the user's own tree.
func isAllEarlier(run journal.Run) bool {
	return !run.Policy.Publish && run.Base != run.Start && run.Head == run.Start
}

// finishStep returns the next step once all stories passed: a proof of the whole change, then the pull request.
func finishStep(run journal.Run) Step {
	whole, found := run.WholeProof()
	switch {
	case !found && run.Tree != "":
		return Prove{Commit: run.Head, Tree: run.Tree}
	case found && whole.Result == journal.Failed:
		return stopSafely(run, policy.VerificationFailed, whole.Why)
	case found && whole.Result == journal.NeedsReview && run.Policy.Tamper == policy.TamperBlock:
		return stopSafely(run, policy.VerificationFailed, whole.Why)
	}
	if (IsUnchanged(run) || isAllEarlier(run)) && !run.Dirty {
		return stop(policy.NothingToDo, whyNothingToDo(run))
	}
	if why := whyUnpublished(run); why != "" {
		return stopSafely(run, policy.FatalError, why)
	}
	if step, due := readyStep(run); due {
		return step
	}
	return stop(policy.AllStoriesPassed, overspending(run))
}

// publishStep returns the next push or pull request, if one is due.
func publishStep(run journal.Run) (Step, bool) {
	if !run.Policy.Publish || IsUnchanged(run) {
		return nil, false
	}
	if branchConflict(run) != "" || run.IsMerging() {
		return nil, false
	}
	if run.Published.Pushed != run.Head {
		return pushStep(run)
	}
	if run.Policy.NoPull || run.Published.Pull != nil {
		return nil, false
	}
	if run.PassedStories() == 0 || hasFailed(run, "open") {
		return nil, false
	}
	return OpenPull{}, true
}

// pushStep returns the next step to push the head. A ready pull request becomes a draft first: the new head is not
// proven yet.
func pushStep(run journal.Run) (Step, bool) {
	if canBecomeDraft(run) {
		return OpenPull{}, true
	}
	if hasFailed(run, "push") {
		return nil, false
	}
	return Push{run.Head}, true
}

// needsSaving reports whether the newest verdict is not saved for other machines.
func needsSaving(run journal.Run) bool {
	if !run.Policy.SaveRun || hasFailed(run, "shelve") {
		return false
	}
	saved := 0
	if run.Published.Shelved != nil {
		saved = run.Published.Shelved.Ended
	}
	return run.JudgedIterations() > saved
}

// needsDelivery reports work that the user's folder does not have: of each iteration, or for stories when one passes.
func needsDelivery(run journal.Run) bool {
	if !run.Policy.Boxed {
		return false
	}
	delivered := 0
	if run.Box.Delivered != nil {
		delivered = run.Box.Delivered.Iteration
	}
	for _, it := range run.Iterations {
		if it.Ended == nil || it.Number <= delivered {
			continue
		}
		if !isByStories(run) || len(it.Ended.Passed) > 0 {
			return true
		}
	}
	return false
}

// whyUnpublished returns why finished work is not on GitHub, if the run publishes.
func whyUnpublished(run journal.Run) string {
	shown := run.Published.Pushed == run.Head && (run.Published.Pull != nil || run.Policy.NoPull)
	if !run.Policy.Publish || IsUnchanged(run) || shown {
		return ""
	}
	why := "the work is done, but could not be published"
	if n := len(run.Published.Failures); n > 0 {
		why += ": " + run.Published.Failures[n-1].Why
	}
	return why
}

// hasFailed reports whether act failed too often for the newest commit: once, if a person has to act.
func hasFailed(run journal.Run, act string) bool {
	count := 0
	for _, failure := range run.Published.Failures {
		if failure.Act != act || failure.Head != run.Head {
			continue
		}
		if failure.Fix != "" {
			return true
		}
		count++
	}
	return count >= maxTries
}

// stopSafely stops an incomplete run after its claims are read and its work is published.
func stopSafely(run journal.Run, reason policy.Reason, why string) Step {
	it, open := run.OpenIteration()
	isUntaken := open && it.Agent != nil && it.Taken == nil
	if isUntaken && isByStories(run) && it.Read == nil && !it.Agent.Failed {
		return ReadPlan{}
	}
	if isUntaken || run.Dirty {
		return TakeCommits{Leftovers: true}
	}
	if step, due := publishStep(run); due {
		return step
	}
	return stop(reason, why)
}

func stop(reason policy.Reason, why string) Stop {
	return Stop{journal.RunStopped{Reason: reason, Why: why}}
}
