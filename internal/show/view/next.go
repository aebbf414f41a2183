package view

import (
	"cmp"
	"fmt"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/verdict"
	"github.com/ralph-loop/ralph/internal/lib/shell"
	"github.com/ralph-loop/ralph/internal/show/view/ending"
)

// Next returns what a person has to do now. It is empty while the run continues by itself.
func Next(run journal.Run) string {
	step := continuation(run)
	if isSessionLoop(run) || run.Policy.Done == policy.ByFile {
		return step
	}
	e := ending.Of(run)
	if e.Fix != "" {
		if step == "" {
			return e.Fix
		}
		step = e.Fix + "; then " + step
	}
	step = appendNonEmpty(step, "; ", e.After)
	return appendNonEmpty(step, "; or ", manualStep(run))
}

// Gist returns the state of a run and what to do now. An abandoned run could not write its end.
func Gist(run journal.Run, abandoned bool) (headline, next string) {
	headline = Headline(run)
	if !abandoned {
		return headline, Next(run)
	}
	headline = "ended without a result (it was killed, or could not write); last state: " + headline
	if run.Policy.Done == policy.ByFile {
		return headline, "start `ralph supervise` again"
	}
	return headline, continueWith(run)
}

// inspect returns how to review the work of a complete run on a laptop.
func inspect(run journal.Run) string {
	byStories := run.Policy.Done == policy.ByStories
	switch {
	case opensPull(run):
		return ""
	case run.Base == "":
		return "review the changes"
	case run.Worktree != "" && !byStories: // not all of the work may be committed
		at := "git -C " + run.Worktree
		return "review the work with " + Code(at+" status", 300) + " and " + Code(at+" diff "+shortSHA(run.Base), 300) +
			", commit it there, then " + Code("git merge "+shell.Quote(run.Branch), 300)
	case byStories && run.Head != run.Start && run.Branch != run.BaseRef:
		return "review the work with " + Code("git diff "+shell.Quote(run.BaseRef+"..."+run.Branch), 300)
	}
	return "review the changes with `git status` and `git diff " + shortSHA(run.Base) + "`"
}

func opensPull(run journal.Run) bool { return run.Policy.Publish && !run.Policy.NoPull }

// continuation returns how to continue a run that has ended, or what to do with its result.
func continuation(run journal.Run) string {
	switch {
	case isSessionLoop(run):
		return sessionContinuation(run)
	case run.Stop == nil:
		return ""
	}
	reason := run.Stop.Reason
	passed := reason == policy.AllStoriesPassed
	conflict := run.Merging.Parted
	switch {
	case passed && conflict != nil && conflict.Of == journal.OfBase:
		return fmt.Sprintf("merge %s into %s, resolve the conflicts, push, and comment `/ralph resume`",
			Code(run.BaseRef, 200), Code(run.Branch, 200))
	case passed && run.Published.Pull != nil:
		return reviewStep(run)
	case verdict.NeedsApproval(run):
		return "comment `/ralph approve` to start the work, or change the issue and ask for a new plan"
	case passed && reviewReason(run) != "":
		return "review the changes; if they are right, set `tamper: allow`"
	case reason == policy.NothingToDo:
		return "check that this is true; if not, describe what is missing and ask again"
	case reason.Status() == policy.StatusCompleted:
		return inspect(run)
	case run.Policy.Done == policy.ByFile:
		return supervisedNext(run)
	}
	return resumption(run)
}

// resumption returns how to continue an incomplete run: by a comment, a job, or on a person's own machine.
func resumption(run journal.Run) string {
	reply := ending.Of(run).Reply
	hasComments := run.Task.Kind == plan.KindIssue || run.Task.Kind == plan.KindPull
	switch {
	case hasComments && reply.Comment != "":
		return "comment `/ralph " + reply.Comment + "`"
	case hasComments && run.Policy.SaveRun && run.Stop.Reason != policy.VerificationFailed: // which would stop it again
		return "comment `/ralph resume` to go on"
	case hasComments:
		return "comment `/ralph` to go on"
	case opensPull(run):
		return cmp.Or(reply.Prompt, "start the same job again to go on")
	case verdict.BaseObstacle(run) != "": // a resumed run would have the same base and settings
		return "start again with `ralph run`"
	case reply.Answer != "":
		return continueWith(run, "--answer", `"`+reply.Answer+`"`)
	}
	return continueWith(run)
}

func continueWith(run journal.Run, words ...string) string {
	return "continue with " + Code(run.Resume.Command(words...), 300)
}

// readMarked refers to the first lines of a pull request's body.
const readMarked = "read the lines marked ❗ in the draft pull request, and the code that they name"

// reviewStep returns what to do about the pull request of a run in which all stories passed.
func reviewStep(run journal.Run) string {
	switch {
	case !run.Published.Pull.Draft:
		return "" // the headline says it
	case !verdict.IsVerified(run):
		return "comment `/ralph`, or read the diff of the draft pull request and mark it as ready if it is right"
	case reviewReason(run) != "":
		return readMarked + "; if the change is right, mark it as ready, or set `tamper: allow`"
	case !verdict.IsWorkProven(run):
		return readMarked + "; if the change is right, mark it as ready, else comment `/ralph -- what is missing`"
	}
	return cmp.Or(fixFor(run, "ready"), "review the draft pull request and mark it as ready")
}
