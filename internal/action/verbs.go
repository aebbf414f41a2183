package action

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/process"
	"github.com/ralph-loop/ralph/internal/trigger"
	"github.com/ralph-loop/ralph/internal/upkeep"
	"github.com/ralph-loop/ralph/internal/view"
	"github.com/ralph-loop/ralph/templates"
)

// serve does what was asked.
func (v *visit) serve(ctx context.Context) (Result, error) {
	v.unlabel(ctx)
	switch v.command.Verb {
	case trigger.Help:
		return Result{Skipped: "help was asked for"}, v.help(ctx)
	case trigger.Status:
		return Result{Skipped: "the state was asked for"}, v.status(ctx)
	case trigger.Stop:
		return Result{Skipped: "an end was asked for"}, v.stop(ctx)
	case trigger.Run, trigger.Plan, trigger.Approve, trigger.Resume, trigger.Retry, trigger.Update, trigger.Prove:
	}
	outcome, err := v.run(ctx)
	defer v.tracer.Close(ctx, v.Hard) // last: it may wait a little
	if why, is := errors.AsType[declined](err); is {
		v.leave(ctx, outcome.Run)
		return Result{Skipped: why.said}, v.decline(ctx, why)
	}
	if !errors.Is(err, process.ErrStopped) {
		v.close(ctx, outcome, err)
		v.answerThreads(ctx, outcome.Run)
	}
	v.leave(ctx, outcome.Run)
	if !errors.Is(err, process.ErrStopped) && outcome.Home.ID != "" && (err != nil || !v.missed) {
		v.remember(outcome.Home) // last: until then, Finish does all of that again
	}
	return Result{Outcome: outcome}, err
}

// unlabel takes off the label that this was asked for by: it is a button, and can
// be pressed again.
func (v *visit) unlabel(ctx context.Context) {
	if v.trigger.Label == "" || v.inputs.DryRun {
		return
	}
	if err := v.client.RemoveLabel(ctx, v.trigger.Issue.Number, v.trigger.Label); err != nil {
		v.say(fault.Told(err))
	}
}

// decline answers who asked for what cannot be.
func (v *visit) decline(ctx context.Context, why declined) error {
	v.say("not started: " + why.said)
	if v.trigger.IsAutomatic() { // no person waits for an answer
		return nil
	}
	v.react(ctx, github.Confused)
	return v.answer(ctx, why.said)
}

// refuse says no in the smallest way there is.
func (v *visit) refuse(ctx context.Context, refusal trigger.Refusal) {
	v.say("not started: " + refusal.Why)
	if !refusal.Silent {
		v.react(ctx, github.Confused)
	}
}

// react puts a reaction where the request was made. It is a courtesy: when it
// fails the log says so, and that is all.
func (v *visit) react(ctx context.Context, content string) {
	comment := v.trigger.Comment
	target := github.Target{Issue: v.trigger.Issue.Number, Comment: comment.ID, InThread: comment.Thread.ID != 0}
	if target.Issue == 0 || v.trigger.IsAutomatic() || content == v.reacted || v.inputs.DryRun {
		return // there is nothing to react to, or the reaction is there
	}
	v.reacted = content
	if err := v.client.React(ctx, target, content); err != nil {
		v.say(fault.Told(err))
	}
}

// stop has the job that is at work cancelled; that one saves its work and says
// how far it came.
func (v *visit) stop(ctx context.Context) error {
	s, found, err := v.standing(ctx)
	if err != nil {
		return v.sorry(ctx, err)
	}
	busy, err := s.busy(ctx, found.lease)
	switch {
	case err != nil:
		return v.sorry(ctx, err)
	case !busy:
		return v.answer(ctx, "No run is active here.")
	}
	if err := v.client.CancelJob(ctx, found.lease.Job); err != nil {
		return v.sorry(ctx, err)
	}
	v.say("asked for the end of " + found.lease.Page)
	return nil
}

// status tells how the newest run stands, where it was asked for.
func (v *visit) status(ctx context.Context) error {
	s, found, err := v.standing(ctx)
	if err != nil {
		return v.sorry(ctx, err)
	}
	busy, err := s.busy(ctx, found.lease)
	if err != nil {
		return v.sorry(ctx, err)
	}
	return v.answer(ctx, status(found, busy))
}

// standing is the shelf with what stands there.
func (v *visit) standing(ctx context.Context) (*stateRef, kept, error) {
	s, err := v.openShelf(ctx)
	if err != nil {
		return nil, kept{}, err
	}
	found, err := v.shelved(ctx, s)
	return s, found, err
}

// sorry says why what was asked could not be done, and gives that back.
func (v *visit) sorry(ctx context.Context, err error) error {
	v.react(ctx, github.Confused)
	return errors.Join(err, v.answer(ctx, v.excuse("ralph could not do that", err)))
}

// help answers /ralph help, and what was not understood or cannot be asked for.
func (v *visit) help(ctx context.Context) error {
	text, err := templates.Files.ReadFile("comment/help.md")
	if err != nil {
		return fmt.Errorf("read the help: %w", err)
	}
	body := string(text)
	if why := view.CommandProblem(v.command); why != "" {
		body = why + " Nothing was started.\n\n" + body
	}
	return v.answer(ctx, body)
}

// answer is a comment of its own, where the request was made: in the thread, if
// it was made in one. No secret stands in it, wherever its words come from.
func (v *visit) answer(ctx context.Context, text string) error {
	text = v.words(text)
	if !strings.Contains(text, trigger.Marker) { // by which we know it again, and do not listen to ourselves
		text += "\n\n" + trigger.Marker + "answer -->"
	}
	var err error
	switch thread := v.trigger.Comment.Thread.ID; {
	case v.task.Number == 0: // there is no place but the log
		v.say(text)
	case thread != 0:
		_, err = v.client.Reply(ctx, v.task.Number, thread, text)
	default:
		_, err = v.client.CreateComment(ctx, v.task.Number, text)
	}
	if err != nil {
		return fmt.Errorf("answer: %w", err)
	}
	return nil
}

// answerOnce is an answer that begins with a mark, unless it was given already.
func (v *visit) answerOnce(ctx context.Context, mark, text string) error {
	text = mark + "\n" + text
	if thread := v.trigger.Comment.Thread.ID; thread != 0 {
		return v.client.Answer(ctx, v.task.Number, v.inputs.Rules, []upkeep.Reply{{Thread: thread, Mark: mark, Text: v.words(text)}})
	}
	if v.task.Number != 0 {
		if _, is, err := v.client.FindComment(ctx, v.task.Number, mark); is || err != nil {
			return err
		}
	}
	return v.answer(ctx, text)
}

// answerThreads answers the review threads that the run was about, also where the job
// was cancelled.
func (v *visit) answerThreads(ctx context.Context, run journal.Run) {
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), farewell)
		defer cancel()
	}
	replies := upkeep.Replies(run, view.Headline(run))
	for i := range replies {
		replies[i].Text = v.words(replies[i].Text)
	}
	v.missing(v.client.Answer(ctx, run.Task.Number, v.inputs.Rules, replies))
}

// Explained is what an event means here.
type Explained struct {
	Trigger string       `json:"trigger"` // the event with its action, as workflows name them
	Kind    trigger.Verb `json:"kind"`    // what it asks for; empty: nothing
	Why     string       `json:"why"`
	// NeedsPermissionOf is the login whose permission GitHub is asked for
	// before anything is done; empty: none.
	NeedsPermissionOf string `json:"needs_permission_of"`
}

// Explain says what the event means, and does nothing. It makes no call, so it
// does not know whether the person may do this.
func (a Action) Explain() (Explained, error) {
	v := a.visit()
	v.env = environment{
		EventName: a.Getenv("GITHUB_EVENT_NAME"), EventPath: a.Getenv("GITHUB_EVENT_PATH"),
		Repository: a.Getenv("GITHUB_REPOSITORY"), Actor: a.Getenv("GITHUB_ACTOR"), Workspace: cmp.Or(a.Getenv("GITHUB_WORKSPACE"), "."),
	}
	if err := v.readInputs(); err != nil {
		return Explained{}, err
	}
	if v.env.EventPath == "" {
		return Explained{}, fault.Usage("no event given", "name its payload and its kind: ralph action --explain --event event.json --name issue_comment", nil)
	}
	if !github.IsEvent(v.env.EventName) {
		return Explained{}, fault.Usage(fmt.Sprintf("not a GitHub event: %q", v.env.EventName), "name it with --name, for example --name issue_comment", nil)
	}
	if err := v.readEvent(); err != nil {
		return Explained{}, err
	}
	said := Explained{Trigger: v.trigger.Event}
	if v.trigger.Action != "" {
		said.Trigger += "." + v.trigger.Action
	}
	if said.Why = v.wanted(); said.Why != "" {
		return said, nil
	}
	v.tighten()
	said.Kind, said.Why = v.command.Verb, "it is for ralph"
	if why := view.CommandProblem(v.command); why != "" {
		said.Why = why
	}
	if asker := v.trigger.Asker(); !v.trigger.IsAutomatic() && !v.inputs.Rules.IsAllowed(asker) {
		said.NeedsPermissionOf = asker.Login
	}
	return said, nil
}
