package action

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/aftercare"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/trigger"
	"github.com/ralph-loop/ralph/internal/upkeep"
)

// tend looks after a pull request of ralph's own whose checks have ended, and
// does what that takes short of work. skip is why there is no work; empty where
// there is: then the trigger is about the pull request.
func (v *visit) tend(ctx context.Context) (skip string, err error) {
	if v.trigger.PushedBranch != "" {
		base := github.Base{Branch: v.trigger.PushedBranch, Prefix: v.inputs.BranchPrefix, Except: v.updated, Drafts: v.lost}
		pull, is, err := v.client.Behind(ctx, base, v.starter)
		if v.about(pull); err == nil && !is {
			skip = "no open pull request of ralph's must be brought up to date with " + v.trigger.PushedBranch
		}
		return skip, err
	}
	pull, open, err := v.client.OwnPull(ctx, v.trigger.CI.Branch, v.starter)
	switch {
	case err != nil:
		return "", err
	case !open:
		return "no open pull request of ralph's has that branch", nil
	}
	v.hub = v.hubOf(pull.Number)
	lost := false
	if pull.Draft || pull.Says() {
		if lost, err = v.lost(ctx, pull); err != nil || !lost {
			return "the pull request is a draft: its work is under way, or waits for a person", err
		}
	}
	v.about(pull)
	switch {
	case v.command.Verb.ContinuesRun():
		return "", nil
	case pull.SHA != v.trigger.CI.SHA && !lost:
		return "the checks are of an older head", nil
	}
	red, base, err := v.client.Red(ctx, v.trigger.CI.SHA, pull.Base, v.Getenv("GITHUB_WORKFLOW"))
	if err != nil || len(red) == 0 {
		return "nothing is red any more", err
	}
	move := upkeep.Decide(red, base)
	if v.red = move.Work; len(v.red) > 0 {
		return "", nil
	}
	return "no work for an agent: " + move.Line, v.remark(ctx, move)
}

// isForSeveral tells whether the event may be for other pull requests besides the one
// that was looked after.
func (v *visit) isForSeveral() bool {
	return v.trigger.IsAutomatic() && v.trigger.PushedBranch != "" && v.trigger.Issue.Number != 0 && !v.inputs.DryRun && !closed(v.Drain)
}

// lost tells of a draft that ralph made and whose job was killed at work on red checks or
// an update: such a job's lease stays. Its run goes on. Where none was saved, it is made
// ready as it was before, but for a head that moved meanwhile: it is not proven.
func (v *visit) lost(ctx context.Context, pull github.Pull) (bool, error) {
	v.hub = v.hubOf(pull.Number)
	v.task = plan.Task{Kind: plan.KindPull, Number: pull.Number, Repo: v.trigger.Repo.String()}
	s, found, err := v.standing(ctx)
	if err != nil || !found.lease.Ready || v.trigger.IsCI() && found.lease.Attempts.OfPull == 0 {
		return false, err
	}
	if busy, err := s.busy(ctx, found.lease); busy || err != nil {
		return false, err
	}
	switch _, run := v.newest(found); {
	case run.ID != "" && run.Stop == nil:
		v.command.Verb = trigger.Resume
	case found.lease.ReadyHead == pull.SHA || v.trigger.IsCI() && found.lease.Attempts.Head == pull.SHA:
		err = v.hub.starting().ReadyPull(ctx, pull)
	default:
		return false, nil
	}
	return true, err
}

// about makes the trigger one about a pull request, which no person asks for.
func (v *visit) about(pull github.Pull) {
	v.trigger.Sender, v.trigger.Issue = trigger.Sender{}, trigger.Issue{Number: pull.Number, Title: pull.Title, URL: pull.URL, State: "open", IsPull: true}
}

// remark has done again what may be red by chance, and says so in the progress
// comment. Of two jobs that ask at once GitHub obeys one.
func (v *visit) remark(ctx context.Context, move upkeep.Move) error {
	if v.inputs.DryRun {
		return nil
	}
	noted := v.note(ctx, move.Line) // first: what is run again is not red for the next job
	for _, run := range move.Rerun {
		err := v.client.Rerun(ctx, run)
		if e, is := errors.AsType[*github.Error](err); is && strings.Contains(e.Message, "already") {
			continue
		}
		if err != nil {
			return v.note(ctx, move.Line+" That failed, and takes `actions: write`: "+strings.Join(strings.Fields(v.foreign(fault.Told(err))), " "))
		}
	}
	return noted
}

// note puts a line above the progress comment of the pull request.
func (v *visit) note(ctx context.Context, line string) error {
	found, _, err := v.client.FindComment(ctx, v.hub.issue, marker)
	if err != nil {
		return err
	}
	text := upkeep.Note(found.Body, line)
	if found.Body != "" && strings.Contains(found.Body, text) {
		return nil // it says so
	}
	return v.hub.tell(ctx, text)
}

// counted puts on record that the run is one more attempt at red checks. Other runs
// on the pull request carry the count on. Where there were enough a person is
// asked, once a head.
func (v *visit) counted(ctx context.Context, b before) error {
	v.task.Attempts = b.run.Task.Attempts.Max(b.found.lease.Attempts)
	if !v.trigger.IsCI() {
		return nil
	}
	if err := v.countable(b.shelf != nil && b.found.doubt == ""); err != nil {
		return err
	}
	next, ok := v.task.Attempts.Next(v.trigger.CI.SHA)
	if v.task.Attempts = next; ok {
		return nil
	}
	mark := fmt.Sprintf("%sci-asked %s -->", trigger.Marker, next.Head) // of the one question that a head is worth
	return errors.Join(v.answerOnce(ctx, mark, upkeep.Question(v.red)), declined{"there were enough attempts at the red checks of this pull request"})
}

// countable declines work on red checks where a run cannot be kept on GitHub:
// without a count nothing would end it.
func (v *visit) countable(kept bool) error {
	if kept || !v.trigger.IsCI() {
		return nil
	}
	return declined{"the attempts at red checks cannot be counted, as the run cannot be kept on GitHub"}
}

// after does what a push to a pull request of ralph's, or its end, needs.
func (v *visit) after(ctx context.Context) (Result, error) {
	payload, err := event(v.env.EventPath)
	if err != nil {
		return Result{}, err
	}
	if err := v.connect(); err != nil {
		return Result{}, err
	}
	if v.inputs.DryRun {
		return Result{Skipped: "a dry run"}, nil
	}
	v.hub = v.hubOf(0)
	book, err := v.account(ctx)
	if err != nil {
		return Result{}, err
	}
	why, err := aftercare.Job{
		Payload: payload, Client: v.client, Starter: v.starter, Repo: v.trigger.Repo.String(), Prefix: v.inputs.BranchPrefix,
		Remote: v.hub.remote, Store: book.Store, Ledger: book, Pause: pause, Now: v.Now,
		Say: v.say, Hide: v.words, Page: summary{path: v.env.Summary, hide: v.words}.write,
	}.Do(ctx)
	if err == nil {
		v.say(why)
	}
	return Result{Skipped: why}, err
}
