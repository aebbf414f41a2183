// Package verdict judges a run: the value of its checks, proofs and grades,
// and the next step. It is a function of the journal: the same journal gives
// the same verdict.
package verdict

import (
	"slices"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
)

// tries is how often in a row something is tried on GitHub before the run goes
// on without it.
const tries = 3

// Next is the step that run asks for. It always has an answer.
func Next(run journal.Run) Step {
	switch {
	case run.ID == "":
		return stop(policy.FatalError, "the journal does not begin with run_began")
	case run.Stop != nil:
		return Rest{}
	case run.Policy.Done == policy.ByFile:
		return supervise(run)
	case run.Policy.Done == policy.ByPromise:
		return session(run)
	case run.Cancel != nil:
		return leave(run, policy.Cancelled, run.Cancel.Why)
	case run.Asked != "":
		return leave(run, policy.NeedsInput, run.Asked)
	case Unplanned(run):
		return draft(run)
	case Unapproved(run):
		return stop(policy.NeedsInput, "the plan waits for approval")
	}
	if step, due := unmerged(run); due {
		return step
	}
	if run.Baseline == nil && run.Policy.Baseline != "" {
		return Baseline{}
	}
	if it, open := run.Open(); open {
		return within(run, it)
	}
	return between(run)
}

// within is the next step of the iteration under way: agent, plan, checks,
// hand-over, proof, verdict.
func within(run journal.Run, it journal.Iteration) Step {
	switch {
	case it.Agent == nil:
		return Iterate{it.Number, it.Story}
	case it.Agent.CannotRun:
		return Judge{judge(run, it)}
	case it.Agent.Busy:
		return turnedAway(run, it)
	case it.Read == nil && stories(run):
		return Read{}
	case it.Taken == nil && direct(run, it):
		return Take{}
	case len(it.Checks) < len(run.Policy.Checks) && !direct(run, it):
		return Check{}
	case it.Taken == nil:
		return Take{Leftovers: Green(run, it.Checks)}
	case it.Proof == nil && len(believable(run, it)) > 0:
		return Prove{Commit: run.Head, Tree: run.Tree}
	case uninspected(run, it):
		return Inspect{Commit: it.Proof.Commit, Tree: it.Proof.Tree}
	case ungraded(run, it):
		return Grade{Story: it.Story, Commit: it.Proof.Commit, Tree: it.Proof.Tree}
	case unreviewed(run, it):
		return Review{Story: it.Story, Commit: it.Proof.Commit}
	case len(it.SCM) < len(run.Policy.SCM.Tasks) && Green(run, it.Checks) && !stuck(it) && !untaken(it):
		return Commit{Task: run.Policy.SCM.Tasks[len(it.SCM)]}
	}
	return Judge{judge(run, it)}
}

// direct tells whether the checks run on a clean checkout and not in the agent's
// tree: a story is claimed, and all of it is committed, so that both hold the
// same. A claim that is not believed anyway is checked in the tree, for what the
// agent is told next.
func direct(run journal.Run, it journal.Iteration) bool {
	if !stories(run) || it.Read == nil || !it.Read.Committed || it.Agent.Failed {
		return false
	}
	return it.Proof != nil || slices.ContainsFunc(claims(it), func(id string) bool {
		return id == it.Story && !slices.Contains(it.Read.Bent, id) && (it.Taken == nil || doubt(run, it, id) == "")
	})
}

// between is the next step when no iteration is open: publish, finish, give up,
// or begin the next.
func between(run journal.Run) Step {
	if step, due := publish(run); due {
		return step
	}
	if unshelved(run) {
		return Shelve{}
	}
	if why := parted(run); why != "" {
		return leave(run, policy.NeedsInput, why)
	}
	if it, found := run.Last(); found && it.Ended.Done {
		return stop(completed(run.Policy.Done), overspent(run))
	}
	if run.Plan.Done() {
		return finish(run)
	}
	if question := asks(run); question != "" {
		return leave(run, policy.NeedsInput, question)
	}
	if reason, why := spent(run); reason != "" {
		return leave(run, reason, why)
	}
	story, found := run.Plan.Next()
	if !found && stories(run) {
		return leave(run, policy.FatalError, "no open story can be worked on: each waits for another")
	}
	return Iterate{len(run.Iterations) + 1, story.ID}
}

// draft has a plan made, as far as the run's limits go.
func draft(run journal.Run) Step {
	if reason, why := used(run); reason != "" {
		return leave(run, reason, why)
	}
	if run.Unable != nil {
		return stop(policy.FatalError, run.Unable.Why)
	}
	return Draft{}
}

// completed is why a run that is not done by stories is complete.
func completed(done policy.Done) policy.Reason {
	if done == policy.ByTag {
		return policy.AllChecksPassed
	}
	return policy.ResponseMatched
}

// passing tells whether the story of an iteration is about to pass by a proof.
func passing(run journal.Run, it journal.Iteration) bool {
	return it.Proof != nil && len(believable(run, it)) > 0
}

// ungraded tells whether a story is about to pass without a grade.
func ungraded(run journal.Run, it journal.Iteration) bool {
	if !passing(run, it) || answered(run, it) {
		return false
	}
	graded, found := run.GradeOf(it.Story)
	story, _ := run.Plan.Find(it.Story)
	return !found || graded.Commit != it.Proof.Commit || graded.Idle && !GradeKnown(run, story, graded.Commit)
}

// uninspected tells whether a story is about to pass before the change's effect
// on the tests was inspected.
func uninspected(run journal.Run, it journal.Iteration) bool {
	return passing(run, it) && NeedsInspection(run, it.Proof.Tree)
}

// unreviewed tells whether a story is about to pass, and the second opinion that
// is wanted is not there.
func unreviewed(run journal.Run, it journal.Iteration) bool {
	return passing(run, it) && !answered(run, it) && NeedsReview(run, it.Story, it.Proof.Commit)
}

// stuck tells that a task of version control failed: those after it would
// build on what is not there.
func stuck(it journal.Iteration) bool {
	n := len(it.SCM)
	return n > 0 && it.SCM[n-1].Failed
}

// finish is for a run whose stories have all passed, or were said to before it
// began: the newest commit is proven unless its very tree was, then the pull
// request turns ready if that proof means something.
func finish(run journal.Run) Step {
	proof, found := run.ProofOf(run.Tree)
	switch {
	case !found && run.Tree != "":
		return Prove{Commit: run.Head, Tree: run.Tree}
	case found && !proof.Passed:
		return leave(run, policy.VerificationFailed, proof.Why)
	}
	if found && run.Head != run.Base && NeedsInspection(run, run.Tree) {
		return Inspect{Commit: run.Head, Tree: run.Tree}
	}
	if why := Tampered(run, run.Tree); why != "" {
		return leave(run, policy.VerificationFailed, why)
	}
	if Unchanged(run) && !run.Dirty {
		return stop(policy.NothingToDo, nothing(run))
	}
	if why := unshown(run); why != "" {
		return leave(run, policy.FatalError, why)
	}
	if step, due := ready(run); due {
		return step
	}
	return stop(policy.AllStoriesPassed, overspent(run))
}

// publish is what GitHub has not been shown yet.
func publish(run journal.Run) (Step, bool) {
	switch {
	case !run.Policy.Publish || Unchanged(run):
		return nil, false
	case parted(run) != "" || run.Merging():
		return nil, false
	case run.Pushed != run.Head && run.Pull != nil && !run.Pull.Draft && !failed(run, "open"): // what comes is not proven yet
		return OpenPull{}, true
	case run.Pushed != run.Head && !failed(run, "push"):
		return Push{run.Head}, true
	case run.Pushed == run.Head && !run.Policy.NoPull && run.Pull == nil && run.Passed() > 0 && !failed(run, "open"):
		return OpenPull{}, true
	}
	return nil, false
}

// unshelved tells whether another machine would not know of the newest verdict.
func unshelved(run journal.Run) bool {
	kept := 0
	if run.Shelved != nil {
		kept = run.Shelved.Ended
	}
	return run.Policy.Shelve && run.Judged() > kept && !failed(run, "shelve")
}

// unshown is why finished work is not where it was to be published; empty when
// it is there, or nowhere was asked for.
func unshown(run journal.Run) string {
	shown := run.Pushed == run.Head && (run.Pull != nil || run.Policy.NoPull)
	if !run.Policy.Publish || Unchanged(run) || shown {
		return ""
	}
	why := "the work is done, but could not be published"
	if n := len(run.Failures); n > 0 {
		why += ": " + run.Failures[n-1].Why
	}
	return why
}

// failed tells that act was tried often enough for the newest commit: once,
// where it is known what people have to do first.
func failed(run journal.Run, act string) bool {
	count := 0
	for _, failure := range run.Failures {
		if failure.Act != act || failure.Head != run.Head {
			continue
		}
		if count++; failure.Fix != "" {
			return true
		}
	}
	return count >= tries
}

// leave stops a run that did not complete, but not before what an agent claims
// that was done is known, and the work in its tree is safe and shown.
func leave(run journal.Run, reason policy.Reason, why string) Step {
	it, open := run.Open()
	switch untaken := open && it.Agent != nil && it.Taken == nil; {
	case untaken && !it.Agent.Failed && it.Read == nil && stories(run):
		return Read{}
	case untaken || run.Dirty:
		return Take{Leftovers: true}
	}
	if step, due := publish(run); due {
		return step
	}
	return stop(reason, why)
}

func stop(reason policy.Reason, why string) Stop {
	return Stop{journal.RunStopped{Reason: reason, Why: why}}
}
