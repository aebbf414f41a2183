package verdict

import (
	"fmt"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
)

// readyStep returns what is left before the pull request is ready. Remote changes are merged first: they and this
// work were never proven together.
func readyStep(run journal.Run) (Step, bool) {
	if !mayBeReady(run) {
		return nil, false
	}
	if run.Merging.Met != run.Head {
		if hasFailed(run, "join") {
			return nil, false
		}
		return MergeRemote{}, true
	}
	if run.Merging.Parted != nil || hasFailed(run, "ready") {
		return nil, false
	}
	return MarkPullReady{}, true
}

// mayBeReady reports whether the pull request is a draft only until the work is proven, which it is.
func mayBeReady(run journal.Run) bool {
	if run.Published.Pull == nil || !run.Published.Pull.Draft {
		return false
	}
	if run.Policy.Draft || run.Published.FoundDraft { // a person marks it ready
		return false
	}
	return IsWorkProven(run)
}

// branchConflict returns the conflict that a person has to resolve on the branch, or nothing.
func branchConflict(run journal.Run) string {
	p := run.Merging.Parted
	if p == nil || p.Of != journal.OfBranch {
		return ""
	}
	why := fmt.Sprintf("%s was pushed to %s meanwhile (%.7s), and conflicts with ralph's work (%.7s) in: %s",
		workOf(p.By), run.Branch, p.With, p.From, journal.ShortList(p.Conflicts))
	if p.Aside == "" {
		return why
	}
	return fmt.Sprintf("%s. Ralph's work is on %s: merge it into %s, push, and let ralph continue",
		why, p.Aside, run.Branch)
}

func workOf(names []string) string {
	if len(names) == 0 {
		return "work of others"
	}
	return "work of " + journal.ShortList(names)
}

// mergeStep returns the step of a merge with the base that the task asks for, or a story waits for.
func mergeStep(run journal.Run) (Step, bool) {
	if run.IsMerging() || !needsMerge(run) {
		return nil, false
	}
	if branchConflict(run) != "" { // another merge would have the same conflict
		return stepBetweenIterations(run), true
	}
	isUntouched := run.Head == run.Start && len(run.Iterations) == 0
	end := stopSafely
	if isUntouched { // nothing to save or publish
		end = func(_ journal.Run, reason policy.Reason, why string) Step { return stop(reason, why) }
	}
	if p := run.Merging.Parted; p != nil && p.Of == journal.OfBase {
		why := fmt.Sprintf("%s (%.7s) conflicts with %s in %s, and ralph cannot merge it: "+
			"merge it by hand, push, and let ralph continue",
			run.BaseRef, p.With, run.Branch, journal.ShortList(p.Conflicts))
		return end(run, policy.NeedsInput, why), true
	}
	if run.Merging.Met == "" {
		if hasFailed(run, "join") {
			why := "the base branch could not be merged: " + run.Published.Failures[len(run.Published.Failures)-1].Why
			return end(run, policy.FatalError, why), true
		}
		return MergeRemote{}, true
	}
	if isUntouched {
		why := fmt.Sprintf("%s holds the newest commit of %s", run.Branch, run.BaseRef)
		return stop(policy.NothingToDo, why), true
	}
	return nil, false
}

// needsMerge reports whether the task asks for a merge with the base, or a story waits for it.
func needsMerge(run journal.Run) bool {
	if run.Task.Update {
		return true
	}
	story, found := run.Plan.Find(run.Merging.MergeStory)
	return found && run.Merging.MergeStory != "" && !story.Passes
}
