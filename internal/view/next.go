package view

import (
	"cmp"
	"fmt"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/shell"
	"github.com/ralph-loop/ralph/internal/verdict"
	"github.com/ralph-loop/ralph/internal/view/ending"
)

// Next is what to do now; empty while the run continues by itself.
func Next(run journal.Run) string {
	e, way := ending.Of(run), continuation(run)
	switch {
	case isSessionLoop(run) || run.Policy.Done == policy.ByFile || way != "" && way == manualStep(run):
		return way
	case e.Fix != "" && way != "":
		way = e.Fix + "; then " + way
	case e.Fix != "":
		return e.Fix
	}
	return appendNonEmpty(way, "; ", e.After)
}

// Gist is how a run stands and what to do now. An abandoned run could not write its end.
func Gist(run journal.Run, abandoned bool) (headline, next string) {
	switch headline = Headline(run); {
	case !abandoned:
		return headline, Next(run)
	case run.Policy.Done == policy.ByFile:
		next = "start `ralph supervise` again"
	default:
		next = "continue with `ralph resume`"
	}
	return "ended without a result (it was killed, or could not write); last state: " + headline, next
}

// inspect is how to look at the work of a run that is complete, on a laptop.
func inspect(run journal.Run) string {
	switch {
	case run.Policy.Publish && !run.Policy.NoPull:
		return ""
	case run.Base == "":
		return "review the changes"
	case run.Head != run.Start && run.Branch != run.BaseRef && (run.Policy.SeparateTree || run.Policy.Done == policy.ByStories):
		return "review the work with " + Code("git diff "+shell.Quote(run.BaseRef+"..."+run.Branch), 300)
	}
	return "review the changes with `git status` and `git diff " + shortSHA(run.Base) + "`"
}

// continuation is how to continue a run that has ended, or what to do with its result.
func continuation(run journal.Run) string {
	switch {
	case isSessionLoop(run):
		return sessionContinuation(run)
	case run.Stop == nil:
		return ""
	case run.Parted != nil && run.Parted.Of == journal.OfBase && run.Stop.Reason == policy.AllStoriesPassed:
		return fmt.Sprintf("merge %s into %s, resolve the conflicts, push, and comment `/ralph resume`",
			Code(run.BaseRef, 200), Code(run.Branch, 200))
	case run.Parted != nil && run.Stop.Reason == policy.NeedsInput && run.Task.Kind == plan.KindPrompt && run.Policy.NoPull:
		return "once that is done, continue with `ralph resume`"
	case run.Parted != nil && run.Stop.Reason == policy.NeedsInput:
		return "once that is done, comment `/ralph resume`"
	case run.Stop.Reason == policy.AllStoriesPassed && run.Pull != nil:
		return reviewStep(run)
	case verdict.NeedsApproval(run):
		return "comment `/ralph approve` to start the work, or change the issue and ask for a new plan"
	case run.Stop.Reason == policy.AllStoriesPassed && verdict.InspectionConcern(run) != "":
		return inspectionDoubts(run) + "; if that is as it should be, set `tamper: allow`"
	case run.Stop.Reason == policy.NothingToDo:
		return "check that this is true; if not, describe what is missing and ask again"
	case run.Stop.Reason.Status() == policy.StatusCompleted:
		return inspect(run)
	}
	if run.Policy.Done == policy.ByFile {
		return supervisedNext(run)
	}
	if way := manualStep(run); way != "" {
		return way
	}
	say, commented := ending.Of(run).Say, run.Task.Kind == plan.KindIssue || run.Task.Kind == plan.KindPull
	switch job := run.Policy.Publish && !run.Policy.NoPull; {
	case commented && say.Comment != "":
		return "comment `/ralph " + say.Comment + "`"
	case commented && run.Policy.SaveRun && run.Stop.Reason != policy.VerificationFailed: // a resumed run would stop again
		return "comment `/ralph resume` to go on"
	case commented:
		return "comment `/ralph` to go on"
	case job && say.Prompt != "":
		return say.Prompt
	case job:
		return "start the same job again to go on"
	case say.Answer != "":
		return "continue with `ralph resume --answer \"" + say.Answer + "\"`"
	}
	return "continue with `ralph resume`"
}

// reviewStep is what to do about the pull request of a run in which all stories passed.
func reviewStep(run journal.Run) string {
	_, checked := verdict.LatestProof(run)
	switch {
	case !run.Pull.Draft:
		return "review the pull request"
	case !checked:
		return "comment `/ralph`, or look at the draft pull request with care"
	case !verdict.IsWorkProven(run):
		return "look at the draft pull request with care: " + draftReason(run)
	}
	return cmp.Or(fixFor(run, "ready"), "review the draft pull request and mark it as ready")
}
