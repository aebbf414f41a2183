package verdict

import (
	"fmt"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
)

// readyStep returns what is left before the pull request is ready. Remote changes are merged first: they and this
// work were never proven together.
func readyStep(run journal.Run) (Step, bool) {
	switch {
	case !IsWorkProven(run) || run.Pull == nil || !run.Pull.Draft || run.Policy.Draft || run.FoundDraft:
		return nil, false
	case run.Met != run.Head && !hasFailed(run, "join"):
		return MergeRemote{}, true
	case run.Met != run.Head || run.Parted != nil || hasFailed(run, "ready"):
		return nil, false
	}
	return MarkPullReady{}, true
}

// branchConflict returns the conflict that a person has to resolve on the branch, or nothing.
func branchConflict(run journal.Run) string {
	p := run.Parted
	if p == nil || p.Of != journal.OfBranch {
		return ""
	}
	why := fmt.Sprintf("%s was pushed to %s meanwhile (%.7s), and conflicts with ralph's work (%.7s) in: %s",
		workOf(p.By), run.Branch, p.With, p.From, journal.ShortList(p.Conflicts))
	if p.Aside == "" {
		return why
	}
	return fmt.Sprintf("%s. Ralph's work is on %s: merge it into %s, push, and let ralph continue", why, p.Aside, run.Branch)
}

func workOf(names []string) string {
	if len(names) == 0 {
		return "work of others"
	}
	return "work of " + journal.ShortList(names)
}

// mergeStep returns the step of a merge with the base that the task asks for, or a story waits for.
func mergeStep(run journal.Run) (Step, bool) {
	story, waits := run.Plan.Find(run.MergeStory)
	waits = waits && run.MergeStory != "" && !story.Passes
	end, idle := stopSafely, run.Head == run.Start && len(run.Iterations) == 0
	if idle { // nothing to save or publish
		end = func(_ journal.Run, reason policy.Reason, why string) Step { return stop(reason, why) }
	}
	switch p := run.Parted; {
	case run.IsMerging() || !waits && !run.Task.Update:
		return nil, false
	case branchConflict(run) != "": // another merge would have the same conflict
		return stepBetweenIterations(run), true
	case p != nil && p.Of == journal.OfBase:
		return end(run, policy.NeedsInput, fmt.Sprintf("%s (%.7s) conflicts with %s in %s, and ralph cannot merge it: merge it by hand, push, and let ralph continue",
			run.BaseRef, p.With, run.Branch, journal.ShortList(p.Conflicts))), true
	case run.Met == "" && hasFailed(run, "join"):
		return end(run, policy.FatalError, "the base branch could not be merged: "+run.Failures[len(run.Failures)-1].Why), true
	case run.Met == "":
		return MergeRemote{}, true
	case idle:
		return stop(policy.NothingToDo, fmt.Sprintf("%s holds the newest commit of %s", run.Branch, run.BaseRef)), true
	}
	return nil, false
}
