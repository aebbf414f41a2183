package action

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/quota"
	"github.com/ralph-loop/ralph/internal/core/trigger"
	"github.com/ralph-loop/ralph/internal/core/verdict"
	"github.com/ralph-loop/ralph/internal/entry/config"
	"github.com/ralph-loop/ralph/internal/git/remote"
	"github.com/ralph-loop/ralph/internal/hub/aftercare"
	"github.com/ralph-loop/ralph/internal/hub/github"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/run/job"
	"github.com/ralph-loop/ralph/internal/show/view"
)

// saveTime is how long a cancelled job may save its work: GitHub kills it after 10 s.
const saveTime = 8 * time.Second

// agentEndTime is what an agent has to end politely within that time.
const agentEndTime = time.Second

const retryPause = 500 * time.Millisecond

// handler handles one event. Its parts are made in this order, and share the request.
type handler struct {
	action  Action
	env     environment
	log     *jobLog
	inputs  *config.Inputs // of the workflow, and then of the settings files
	machine *machine
	request *request

	// With GitHub, after connect.
	client   *github.Client
	remote   remote.Repository
	gatherer *gatherer
	answers  *answers
	accounts *accounts

	// About one issue or pull request, after setHost.
	host   *branchHost
	report *report
}

func newHandler(a Action) *handler {
	h := &handler{action: a, env: readEnvironment(a.Getenv), log: newLog(a), inputs: &config.Inputs{}}
	h.machine = &machine{env: h.env, inputs: h.inputs, log: h.log, exec: a.Exec, self: a.Self, version: a.Version}
	h.request = &request{inputs: h.inputs}
	return h
}

// handle takes the event from its file to its answer. It returns no outcome where no run began.
func (h *handler) handle(ctx context.Context) (none job.Outcome, err error) {
	if err := h.parse(ctx); err != nil {
		return none, err
	}
	if err := h.applyNamedSettings(ctx); err != nil {
		return none, err
	}
	if h.inputs.Mode != config.Work {
		return none, h.proveOrPublish(ctx)
	}
	if aftercare.For(h.request.trigger) && h.request.trigger.Inputs == (trigger.Inputs{}) {
		return none, h.handlePullEvent(ctx)
	}
	if why := h.request.readCommand(); why != "" {
		h.log.say("not for ralph: " + why)
		return none, nil
	}
	if err := h.connect(); err != nil {
		return none, err
	}
	if h.request.trigger.IsCI() {
		skip, err := h.findPull(ctx)
		if err != nil {
			return none, err
		}
		if skip != "" {
			h.log.say("not started: " + skip)
			return none, nil
		}
	}
	// First, as strangers must cost little. An error is not answered: they get no words of ours.
	known, refusal, err := h.gatherer.checkAsker(ctx)
	if err != nil {
		return none, err
	}
	if refusal == nil {
		h.setHost(h.request.trigger.Issue.Number)
		refusal, err = h.gather(ctx, known)
	}
	if err != nil {
		h.answers.unlabel(ctx)
		h.report.notBegun(ctx, err)
		return none, err
	}
	if refusal != nil {
		h.answers.refuse(ctx, *refusal)
		return none, nil
	}
	return h.act(ctx)
}

// gather reads what is missing of a request whose asker may ask. A refusal says why it is not accepted.
func (h *handler) gather(ctx context.Context, known trigger.RequestFacts) (*trigger.Refusal, error) {
	refusal, err := h.gatherer.readRequest(ctx, known)
	if refusal != nil || err != nil {
		return refusal, err
	}
	if err := h.gatherer.applySettings(ctx); err != nil {
		return nil, err
	}
	h.request.tighten()
	h.answers.react(ctx, github.Eyes) // before what takes its time
	return nil, h.gatherer.readDiscussion(ctx)
}

// act does what the accepted request asks for.
func (h *handler) act(ctx context.Context) (none job.Outcome, err error) {
	h.setHost(h.request.task.Number)
	h.answers.unlabel(ctx)
	switch h.request.command.Verb {
	case trigger.Help:
		return none, h.answers.help(ctx)
	case trigger.Status, trigger.Stop:
		return none, h.statusOrStop(ctx)
	case trigger.Run, trigger.Plan, trigger.Approve, trigger.Resume, trigger.Retry, trigger.Update, trigger.Prove:
	}
	outcome, err := h.run(ctx)
	if declined, ok := errors.AsType[declinedError](err); ok {
		h.answers.note(h.accounts.leave(ctx, outcome.Run))
		return none, h.answers.decline(ctx, declined)
	}
	if errors.Is(err, process.ErrStopped) {
		h.answers.note(h.accounts.leave(ctx, outcome.Run))
		return outcome, err
	}
	h.report.runEnded(ctx, outcome, err, h.machine.sandbox.SavedCaches())
	h.answers.answerThreads(ctx, outcome.Run)
	h.answers.note(h.accounts.leave(ctx, outcome.Run))
	reported := err != nil || !h.answers.failed
	if outcome.Home.ID != "" && reported {
		h.report.markReported(outcome.Home) // last: until then, Finish does all of that again
	}
	return outcome, err
}

// run begins a run, or continues the task's newest one. Nothing is spent before the last guard.
func (h *handler) run(ctx context.Context) (none job.Outcome, err error) {
	asked, err := h.request.newRun(h.env, h.action.Now())
	if err != nil {
		return none, err
	}
	previous, err := h.readPrevious(ctx, asked)
	if err != nil {
		return none, err
	}
	decision := verdict.Decide(previous.facts, previous.run)
	if decision.ShowPlan {
		if err := h.host.replaceComment(ctx, view.Comment(previous.run)); err != nil {
			return none, err
		}
	}
	if decision.Refuse != "" {
		return none, declinedError{decision.Refuse}
	}
	if err := h.countAttempt(ctx, previous); err != nil {
		return none, err
	}
	asked.Task.Attempts = h.request.task.Attempts
	resumed := decision.Resume
	if resumed != nil {
		resumed.Policy = h.request.renewed(asked, previous.run)
		// The limits of a plan's request are valid for its work.
		asked.Policy.Limits = cmp.Or(resumed.Policy, &asked.Policy).Limits
	}
	// After the permission check, so that a person who is declined sees none of it.
	if err := h.machine.install(ctx); err != nil {
		return none, err
	}
	old := journal.Run{} // else this is another run, with a branch of its own
	if resumed != nil {
		old = previous.run
	}
	if err := h.gatherer.checkPush(ctx, asked.BaseRef, cmp.Or(old.Branch, asked.Branch)); err != nil {
		return none, err
	}
	if err := h.accounts.enter(ctx, asked, old); err != nil {
		return none, err
	}
	if doubt := previous.saved.whyDoubted; doubt != "" {
		asked.Notes = append(asked.Notes, journal.Noted{
			What: doubt + "; its claims do not count, and its work on the branch is checked again",
		})
	}
	if err := previous.ref.claim(ctx, previous.saved.files, quota.LeaseFor(asked.Policy)); err != nil {
		return none, err
	}
	outcome, err := h.work(ctx, asked, previous, resumed)
	if outcome.Run.Stop == nil { // nothing began, or it broke: no job is at work any more
		previous.ref.release(ctx, previous.saved.files, outcome.Home)
	}
	return outcome, err
}

// work runs the loop: of a new run, or with resumed of the previous one.
func (h *handler) work(
	ctx context.Context, asked job.NewRun, previous previousRun, resumed *journal.Resumed,
) (none job.Outcome, err error) {
	if resumed != nil {
		for _, line := range h.request.leaveOut(previous.run.Planning.Attached) {
			h.log.say(line)
		}
	}
	tool, err := h.machine.git(ctx)
	if err != nil {
		return none, err
	}
	j, err := h.newJob(ctx, tool, asked.Policy)
	if err != nil {
		return none, err
	}
	defer h.machine.closeSandbox()
	j.Remote.RunStore = previous.ref.Put
	asked.Level = j.Machine.Sandbox.Name()
	asked.Notes = append(asked.Notes, j.Machine.Sandbox.Notices()...)
	if resumed == nil {
		return j.Start(ctx, asked)
	}
	home := previous.local
	if home.ID == "" {
		if home, err = j.Machine.Folder.Unpack(previous.run.ID, previous.saved.files); err != nil {
			return none, err
		}
	}
	resumed.Level = asked.Level
	resumed.Links = &asked.Links
	resumed.Context = h.request.task.Context
	resumed.Drafted = h.request.isOwnPull() && h.request.trigger.Pull.Draft
	return j.Resume(ctx, home, *resumed)
}
