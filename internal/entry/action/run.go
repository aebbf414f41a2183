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
	previous, err := h.readPrevious(ctx, asked)
	if err != nil {
		return job.Outcome{}, err
	}
	decision := verdict.Decide(previous.facts, previous.run)
	if decision.ShowPlan {
		if err := h.host.replaceComment(ctx, view.Comment(previous.run)+view.CommandBox(previous.run)); err != nil {
			return job.Outcome{}, err
		}
	}
	if decision.Refuse != "" {
		return job.Outcome{}, declinedError{decision.Refuse}
	}
	if err := h.countAttempt(ctx, previous); err != nil {
		return job.Outcome{}, err
	}
	asked.Task.Attempts = h.task.Attempts
	if decision.Resume != nil {
		decision.Resume.Policy = h.renewed(asked, previous.run)
		// The limits of a plan's request are valid for its work.
		asked.Policy.Limits = cmp.Or(decision.Resume.Policy, &asked.Policy).Limits
	}
	// After the permission check, so that a person who is declined sees none of it.
	if err := h.install(ctx); err != nil {
		return job.Outcome{}, err
	}
	if err := h.checkStart(ctx, &asked, previous.run, decision); err != nil {
		return job.Outcome{}, err
	}
	if doubt := previous.found.whyDoubted; doubt != "" {
		asked.Notes = append(asked.Notes, journal.Noted{
			What: doubt + "; its claims do not count, and its work on the branch is judged again",
		})
	}
	if asked.Policy.SaveRun, err = h.claim(ctx, previous, quota.LeaseFor(asked.Policy)); err != nil {
		return job.Outcome{}, err
	}
	if err := h.checkCountable(asked.Policy.SaveRun); err != nil {
		return job.Outcome{}, err
	}
	outcome, err := h.work(ctx, asked, previous, decision)
	if asked.Policy.SaveRun && outcome.Run.Stop == nil { // nothing began, or it broke: no job is at work any more
		h.releaseLease(ctx, previous, outcome, 0)
	}
	return outcome, err
}

func (h *handler) work(
	ctx context.Context, asked job.NewRun, previous previousState, decision verdict.Decision,
) (job.Outcome, error) {
	resumed := decision.Resume
	if resumed != nil {
		h.leaveOut(previous.run.Planning.Attached)
	}
	j, err := h.job(ctx, asked.Policy)
	if err != nil {
		return job.Outcome{}, err
	}
	defer h.closeSandbox(j.Sandbox)
	h.tracer = trace.New(ctx, trace.Options{
		Getenv:  h.Getenv,
		Version: h.Version,
		Hide:    h.secrets.String,
		Say:     h.say,
	})
	j.OnEvent = h.tracer.Around(j.OnEvent)
	h.say(j.Sandbox.Description(noSandbox))
	asked.Level = j.Sandbox.Name()
	asked.Notes = append(asked.Notes, j.Sandbox.Notices()...)
	if previous.state != nil {
		j.RunStore = previous.state.Put
	}
	if resumed == nil {
		return j.Start(ctx, asked)
	}
	home := previous.local
	if home.ID == "" {
		if home, err = j.Folder.Unpack(previous.run.ID, previous.found.files); err != nil {
			return job.Outcome{}, err
		}
	}
	resumed.Level = asked.Level
	resumed.Links = &asked.Links
	resumed.Context = h.task.Context
	resumed.Policy = savedAs(asked.Policy.SaveRun, resumed.Policy, previous.run.Policy)
	resumed.Drafted = previous.found.lease.ReadyHead != "" && h.isOwnPull() && h.trigger.Pull.Draft
	return j.Resume(ctx, home, *resumed)
}

func (h *handler) newRun() (job.NewRun, error) {
	stories, source, err := plan.Draft(h.task, h.forms...)
	if err != nil && !h.command.Verb.ContinuesRun() { // a run that continues has a plan
		return job.NewRun{}, fault.Usage(h.task.String()+" cannot be turned into stories",
			cmp.Or(fault.Hint(err), h.fixHint()), err)
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
		Run:      workspace.RunName(h.description(), h.Now()),
		Policy:   h.policy(stories),
		Task:     h.task,
		Plan:     stories,
		Source:   string(source),
		Vague:    plan.IsVague(h.task, stories, source),
		BaseRef:  base,
		Branch:   branch,
		Pull:     pull,
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
