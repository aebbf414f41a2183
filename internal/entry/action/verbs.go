package action

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/trigger"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/hub/github"
	"github.com/ralph-loop/ralph/internal/hub/upkeep"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/run/job"
	"github.com/ralph-loop/ralph/internal/show/view"
	"github.com/ralph-loop/ralph/templates"
)

func (h *handler) handleRequest(ctx context.Context) (none job.Outcome, err error) {
	h.unlabel(ctx)
	switch h.command.Verb {
	case trigger.Help:
		return none, h.help(ctx)
	case trigger.Status:
		return none, h.status(ctx)
	case trigger.Stop:
		return none, h.stop(ctx)
	case trigger.Run, trigger.Plan, trigger.Approve, trigger.Resume, trigger.Retry, trigger.Update, trigger.Prove:
	}
	outcome, err := h.run(ctx)
	defer h.tracer.Close(ctx, h.Hard) // last: it may wait a little
	if declined, ok := errors.AsType[declinedError](err); ok {
		h.leaveLedger(ctx, outcome.Run)
		return none, h.decline(ctx, declined)
	}
	if errors.Is(err, process.ErrStopped) {
		h.leaveLedger(ctx, outcome.Run)
		return outcome, err
	}
	h.reportEnd(ctx, outcome, err)
	h.answerThreads(ctx, outcome.Run)
	h.leaveLedger(ctx, outcome.Run)
	reported := err != nil || !h.reportFailed
	if outcome.Home.ID != "" && reported {
		h.markReported(outcome.Home) // last: until then, Finish does all of that again
	}
	return outcome, err
}

// unlabel removes the label that made the request, so that it can be set again.
func (h *handler) unlabel(ctx context.Context) {
	if h.trigger.Label == "" {
		return
	}
	h.sayError(h.client.RemoveLabel(ctx, h.trigger.Issue.Number, h.trigger.Label))
}

func (h *handler) decline(ctx context.Context, declined declinedError) error {
	h.say("not started: " + declined.text)
	if h.trigger.IsAutomatic() { // no person waits for an answer
		return nil
	}
	h.react(ctx, github.Confused)
	return h.answer(ctx, declined.text)
}

func (h *handler) refuse(ctx context.Context, refusal trigger.Refusal) {
	h.say("not started: " + refusal.Why)
	if !refusal.Silent {
		h.react(ctx, github.Confused)
	}
}

// react adds a reaction to the request. An error is only logged.
func (h *handler) react(ctx context.Context, content string) {
	if h.trigger.Issue.Number == 0 || h.trigger.IsAutomatic() {
		return
	}
	h.sayError(h.client.React(ctx, h.trigger, content))
}

// stop cancels the job at work, which saves its work and reports its state.
func (h *handler) stop(ctx context.Context) error {
	found, busy, err := h.readState(ctx)
	if err != nil {
		return h.explainFailure(ctx, err)
	}
	if !busy {
		return h.answer(ctx, "No run is active here.")
	}
	if err := h.client.CancelJob(ctx, found.lease.Job); err != nil {
		return h.explainFailure(ctx, err)
	}
	h.say("asked for the end of " + found.lease.Page)
	return nil
}

func (h *handler) status(ctx context.Context) error {
	found, busy, err := h.readState(ctx)
	if err != nil {
		return h.explainFailure(ctx, err)
	}
	return h.answer(ctx, statusText(found, busy))
}

// readState also reports whether a job is at work on the task.
func (h *handler) readState(ctx context.Context) (found savedState, busy bool, err error) {
	s, found, err := h.openState(ctx)
	if err != nil {
		return found, false, err
	}
	busy, err = s.isJobAtWork(ctx, found.lease)
	return found, busy, err
}

// explainFailure answers with the error, and returns it.
func (h *handler) explainFailure(ctx context.Context, err error) error {
	h.react(ctx, github.Confused)
	return errors.Join(err, h.answer(ctx, h.errorText("ralph could not do that", err)))
}

// help answers /ralph help, and what was not understood or cannot be asked for.
func (h *handler) help(ctx context.Context) error {
	body := templates.Text("comment/help.md")
	if why := view.CommandProblem(h.command); why != "" {
		body = why + " Nothing was started.\n\n" + body
	}
	return h.answer(ctx, body)
}

// answer writes a comment in the thread of the request, or on the issue. It hides secrets.
func (h *handler) answer(ctx context.Context, text string) error {
	text = h.cleanText(text)
	if !strings.Contains(text, trigger.Marker) { // by which we know it again, and do not listen to ourselves
		text += "\n\n" + trigger.Marker + "answer -->"
	}
	if h.task.Number == 0 { // there is no place but the log
		h.say(text)
		return nil
	}
	var err error
	if thread := h.trigger.Comment.Thread.ID; thread != 0 {
		_, err = h.client.Reply(ctx, h.task.Number, thread, text)
	} else {
		_, err = h.client.CreateComment(ctx, h.task.Number, text)
	}
	if err != nil {
		return fmt.Errorf("answer: %w", err)
	}
	return nil
}

// answerOnce is an answer that begins with a mark, unless it was given already.
func (h *handler) answerOnce(ctx context.Context, mark, text string) error {
	text = mark + "\n" + text
	if thread := h.trigger.Comment.Thread.ID; thread != 0 {
		reply := upkeep.Reply{Thread: thread, Mark: mark, Text: h.cleanText(text)}
		return h.client.Answer(ctx, h.task.Number, h.inputs.Rules, []upkeep.Reply{reply})
	}
	if h.task.Number != 0 {
		if _, found, err := h.client.FindComment(ctx, h.task.Number, mark); found || err != nil {
			return err
		}
	}
	return h.answer(ctx, text)
}

// answerThreads answers the run's review threads, also if the job was cancelled.
func (h *handler) answerThreads(ctx context.Context, run journal.Run) {
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), lastWordsTime)
		defer cancel()
	}
	replies := upkeep.Replies(run, view.Headline(run))
	for i := range replies {
		replies[i].Text = h.cleanText(replies[i].Text)
	}
	h.noteReport(h.client.Answer(ctx, run.Task.Number, h.inputs.Rules, replies))
}

// Explained is what an event means here.
type Explained struct {
	Trigger string       `json:"trigger"` // the event with its action, as workflows name them
	Kind    trigger.Verb `json:"kind"`    // what it asks for; empty: nothing
	Why     string       `json:"why"`
	// NeedsPermissionOf is the login whose permission GitHub is asked for; empty: none.
	NeedsPermissionOf string `json:"needs_permission_of"`
}

// Explain reports what the event means. It makes no call: it does not check permissions, and reads the settings file
// of the workspace.
func (a Action) Explain() (Explained, error) {
	v := a.newVisit()
	v.env.Workspace = cmp.Or(v.env.Workspace, ".")
	if err := v.readInputs(); err != nil {
		return Explained{}, err
	}
	if v.env.EventPath == "" {
		return Explained{}, fault.Usage("no event given",
			"name its payload and its kind: ralph action --explain --event event.json --name issue_comment", nil)
	}
	if !github.IsEvent(v.env.EventName) {
		return Explained{}, fault.Usage(fmt.Sprintf("not a GitHub event: %q", v.env.EventName),
			"name it with --name, for example --name issue_comment", nil)
	}
	if err := v.readEvent(); err != nil {
		return Explained{}, err
	}
	if name := v.inputs.Config; name != "" {
		text, err := workspace.ReadSettings(v.env.Workspace, name)
		if err != nil {
			return Explained{}, err
		}
		if err := v.applyNamed(name, text); err != nil {
			return Explained{}, err
		}
	}
	explained := Explained{Trigger: v.trigger.Event}
	if v.trigger.Action != "" {
		explained.Trigger += "." + v.trigger.Action
	}
	explained.Why = v.whyIgnored()
	if explained.Why != "" {
		return explained, nil
	}
	v.command, _ = v.command.Tighten(v.inputs.Policy, v.isModelServed)
	explained.Kind = v.command.Verb
	explained.Why = cmp.Or(view.CommandProblem(v.command), "it is for ralph")
	if asker := v.trigger.Asker(); v.needsPermission(asker) {
		explained.NeedsPermissionOf = asker.Login
	}
	return explained, nil
}
