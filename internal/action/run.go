package action

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/job"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/quota"
	"github.com/ralph-loop/ralph/internal/trace"
	"github.com/ralph-loop/ralph/internal/verdict"
	"github.com/ralph-loop/ralph/internal/view"
	"github.com/ralph-loop/ralph/internal/workspace"
)

// Outcome is how the run stands.
type Outcome = job.Outcome

const noSandbox = "sandbox level none: the agent and the checks can do everything that this job can"

// rescue is how long a cancelled job may save its work: GitHub kills it after 10 s.
const rescue = 8 * time.Second

// grace is what an agent has to end politely within that time.
const grace = time.Second

// breath is the pause before the code is asked for again.
const breath = 500 * time.Millisecond

func (v *visit) run(ctx context.Context) (Outcome, error) {
	asked, err := v.asked()
	if err != nil {
		return Outcome{}, err
	}
	before, err := v.before(ctx, asked)
	if err != nil {
		return Outcome{}, err
	}
	way := v.way(asked, before)
	if way.ShowPlan {
		_, text, _ := strings.Cut(view.Of(before.run).Comment, "\n") // the marks are tell's
		if err := v.hub.tell(ctx, text); err != nil {
			return Outcome{}, err
		}
	}
	if way.Refuse != "" {
		return Outcome{}, declined{way.Refuse}
	}
	if err := v.counted(ctx, before); err != nil {
		return Outcome{}, err
	}
	asked.Task.Attempts = v.task.Attempts
	if err := v.install(ctx); err != nil { // after the permission check, so a person who is declined sees none of it
		return Outcome{}, err
	}
	if err := v.admitted(ctx, &asked, before.run, way); err != nil {
		return Outcome{}, err
	}
	if doubt := before.found.doubt; doubt != "" {
		asked.Notes = append(asked.Notes, journal.Noted{What: doubt + "; its claims do not count, and its work on the branch is judged again"})
	}
	if asked.Policy.SaveRun, err = v.claim(ctx, before, quota.LeaseFor(asked.Policy)); err != nil {
		return Outcome{}, err
	}
	if err := v.countable(asked.Policy.SaveRun); err != nil {
		return Outcome{}, err
	}
	outcome, err := v.work(ctx, asked, before, way)
	if asked.Policy.SaveRun && outcome.Run.Stop == nil { // nothing began, or it broke: no job is at work any more
		v.quit(ctx, before, outcome, 0)
	}
	return outcome, err
}

func (v *visit) work(ctx context.Context, asked job.NewRun, before before, way verdict.Decision) (Outcome, error) {
	j, err := v.job(ctx, asked.Policy)
	if err != nil {
		return Outcome{}, err
	}
	defer v.lower(j.Sandbox, j.ModelServer)
	v.tracer = trace.New(ctx, trace.Options{Getenv: v.Getenv, Version: v.Version, Hide: v.secrets.String, Say: v.say})
	j.OnEvent = v.tracer.Around(j.OnEvent)
	v.say(j.Sandbox.Said(noSandbox))
	asked.Level = j.Sandbox.Name()
	asked.Notes = append(asked.Notes, j.Sandbox.Notices()...)
	if before.shelf != nil {
		j.RunStore = before.shelf
	}
	if way.Resume == nil {
		return j.Start(ctx, asked)
	}
	home, err := before.home(j.Folder)
	if err != nil {
		return Outcome{}, err
	}
	way.Resume.Level, way.Resume.Links, way.Resume.Context = asked.Level, &asked.Links, v.task.Context
	way.Resume.Policy = v.renewed(asked, before.run)
	return j.Resume(ctx, home, *way.Resume)
}

// stands is the pull request that holds the work of a run which is done, as it was
// left; empty where it does not. To begin anew on that would be to undo it: who
// asks twice, and waited for the first to end, means no second run.
func (v *visit) stands(ctx context.Context, same bool, old journal.Run) (string, error) {
	if !same || v.task.Number == 0 || !old.IsCompleted() || old.Stop.Reason != policy.AllStoriesPassed || !verdict.IsWorkProven(old) {
		return "", nil
	}
	pull, open, err := v.client.FindPull(ctx, old.Branch, cmp.Or(old.Pull, &journal.PullOpened{}).Number) // as it is now: the event may be older
	if err != nil || !open || pull.SHA != old.Head {
		return "", err
	}
	return fmt.Sprintf("#%d", pull.Number), nil
}

func (v *visit) asked() (job.NewRun, error) {
	stories, source, err := plan.Draft(v.task, v.forms...)
	if v.command.Verb.ContinuesRun() { // by the plan that the run has
		err = nil
	}
	if err != nil {
		return job.NewRun{}, fault.Usage(v.task.String()+" cannot be turned into stories", cmp.Or(fault.Hint(err), v.mend()), err)
	}
	base, branch, err := v.place()
	if err != nil {
		return job.NewRun{}, err
	}
	var pull *journal.PullOpened
	if v.own() {
		pull = &journal.PullOpened{Number: v.task.Number, URL: v.task.URL, Draft: v.trigger.Pull.Draft}
	}
	return job.NewRun{
		Pull:         pull,
		ID:           workspace.RunName(v.called(), v.Now()),
		Policy:       v.policy(stories),
		Task:         v.task,
		Plan:         stories,
		Source:       string(source),
		Vague:        plan.IsVague(v.task, stories, source),
		BaseRef:      base,
		DetectChecks: true,
		Branch:       branch,
		Links:        journal.Links{Repo: v.env.repo(), Log: v.env.log()},
		Requester:    journal.Person{Login: v.trigger.Asker().Login, ID: v.trigger.Asker().ID},
		Notes:        v.notes(),
	}, nil
}

// notes are what people should know beforehand.
func (v *visit) notes() []journal.Noted {
	notes := v.asides
	if v.trigger.Removed != "" {
		notes = append(notes, journal.Noted{What: "removed from the issue's text: " + v.trigger.Removed})
	}
	return notes
}
