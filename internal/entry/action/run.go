package action

import (
	"cmp"
	"context"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/attachment"
	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/quota"
	"github.com/ralph-loop/ralph/internal/core/verdict"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/run/job"
	"github.com/ralph-loop/ralph/internal/show/trace"
	"github.com/ralph-loop/ralph/internal/show/view"
)

const noSandbox = "sandbox level none: the agent and the checks can do everything that this job can"

// saveTime is how long a cancelled job may save its work: GitHub kills it after 10 s.
const saveTime = 8 * time.Second

// agentEndTime is what an agent has to end politely within that time.
const agentEndTime = time.Second

const retryPause = 500 * time.Millisecond

func (h *handler) run(ctx context.Context) (job.Outcome, error) {
	h.inputs.Rules.Buttons = h.hasButtons(ctx)
	asked, err := h.newRun()
	if err != nil {
		return job.Outcome{}, err
	}
	before, err := h.readPrevious(ctx, asked)
	if err != nil {
		return job.Outcome{}, err
	}
	way := verdict.Decide(before.facts, before.run)
	if way.ShowPlan {
		if err := h.host.replaceComment(ctx, view.Comment(before.run)+view.CommandBox(before.run)); err != nil {
			return job.Outcome{}, err
		}
	}
	if way.Refuse != "" {
		return job.Outcome{}, declinedError{way.Refuse}
	}
	if err := h.countAttempt(ctx, before); err != nil {
		return job.Outcome{}, err
	}
	asked.Task.Attempts = h.task.Attempts
	if way.Resume != nil {
		way.Resume.Policy = h.renewed(asked, before.run)
		asked.Policy.Limits = cmp.Or(way.Resume.Policy, &asked.Policy).Limits // those of a plan's request hold for its work
	}
	if err := h.install(ctx); err != nil { // after the permission check, so a person who is declined sees none of it
		return job.Outcome{}, err
	}
	if err := h.checkStart(ctx, &asked, before.run, way); err != nil {
		return job.Outcome{}, err
	}
	if doubt := before.found.whyDoubted; doubt != "" {
		asked.Notes = append(asked.Notes, journal.Noted{What: doubt + "; its claims do not count, and its work on the branch is judged again"})
	}
	if asked.Policy.SaveRun, err = h.claim(ctx, before, quota.LeaseFor(asked.Policy)); err != nil {
		return job.Outcome{}, err
	}
	if err := h.checkCountable(asked.Policy.SaveRun); err != nil {
		return job.Outcome{}, err
	}
	outcome, err := h.work(ctx, asked, before, way)
	if asked.Policy.SaveRun && outcome.Run.Stop == nil { // nothing began, or it broke: no job is at work any more
		h.releaseLease(ctx, before, outcome, 0)
	}
	return outcome, err
}

func (h *handler) work(ctx context.Context, asked job.NewRun, before previousState, way verdict.Decision) (job.Outcome, error) {
	if way.Resume != nil {
		h.leaveOut(before.run.Attached)
	}
	j, err := h.job(ctx, asked.Policy)
	if err != nil {
		return job.Outcome{}, err
	}
	defer h.closeSandboxes(j.Sandbox, j.ModelServer)
	h.tracer = trace.New(ctx, trace.Options{Getenv: h.Getenv, Version: h.Version, Hide: h.secrets.String, Say: h.say})
	j.OnEvent = h.tracer.Around(j.OnEvent)
	h.say(j.Sandbox.Description(noSandbox))
	asked.Level = j.Sandbox.Name()
	asked.Notes = append(asked.Notes, j.Sandbox.Notices()...)
	if before.state != nil {
		j.RunStore = before.state.Put
	}
	if way.Resume == nil {
		return j.Start(ctx, asked)
	}
	home := before.here
	if home.ID == "" {
		if home, err = j.Folder.Unpack(before.run.ID, before.found.files); err != nil {
			return job.Outcome{}, err
		}
	}
	way.Resume.Level, way.Resume.Links, way.Resume.Context = asked.Level, &asked.Links, h.task.Context
	way.Resume.Policy = savedAs(asked.Policy.SaveRun, way.Resume.Policy, before.run.Policy)
	way.Resume.Drafted = before.found.lease.ReadyHead != "" && h.isOwnPull() && h.trigger.Pull.Draft
	return j.Resume(ctx, home, *way.Resume)
}

func (h *handler) newRun() (job.NewRun, error) {
	stories, source, err := plan.Draft(h.task, h.forms...)
	if h.command.Verb.ContinuesRun() { // by the plan that the run has
		err = nil
	}
	if err != nil {
		return job.NewRun{}, fault.Usage(h.task.String()+" cannot be turned into stories", cmp.Or(fault.Hint(err), h.fixHint()), err)
	}
	base, branch, err := h.place()
	if err != nil {
		return job.NewRun{}, err
	}
	var pull *journal.PullOpened
	if h.isOwnPull() {
		pull = &journal.PullOpened{Number: h.task.Number, URL: h.task.URL, Draft: h.trigger.Pull.Draft}
	}
	began := journal.RunBegan{
		Run: workspace.RunName(h.description(), h.Now()), Policy: h.policy(stories), Task: h.task,
		Plan: stories, Source: string(source), Vague: plan.IsVague(h.task, stories, source),
		BaseRef: base, Branch: branch, Pull: pull,
		Links:    journal.Links{Repo: h.env.repo(), Log: h.env.log()},
		By:       journal.Person{Login: h.trigger.Asker().Login, ID: h.trigger.Asker().ID},
		Attached: attachment.Digests(h.attached),
	}
	return job.NewRun{RunBegan: began, Notes: h.preliminaryNotes(), DetectChecks: true}, nil
}

func (h *handler) preliminaryNotes() []journal.Noted {
	notes := h.notices
	if len(h.removed) > 0 {
		notes = append(notes, journal.Noted{What: "removed from the issue's text: " + h.removed.String()})
	}
	return notes
}
