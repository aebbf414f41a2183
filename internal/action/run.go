package action

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/job"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/quota"
	"github.com/ralph-loop/ralph/internal/trigger"
	"github.com/ralph-loop/ralph/internal/verdict"
	"github.com/ralph-loop/ralph/internal/workspace"
)

// Outcome is how the run stands.
type Outcome = job.Outcome

// noSandbox is said where somebody asked for none.
const noSandbox = "sandbox level none: the agent and the checks can do whatever this job can"

// rescue is how long a cancelled job has to make its work safe: GitHub kills
// it 10 s after it asked.
const rescue = 8 * time.Second

// grace is what an agent has to end politely within that time.
const grace = time.Second

// breath is how long GitHub is left alone before the code is asked for again.
const breath = 500 * time.Millisecond

// run has the job done: an earlier run of this task is gone on with, or a new
// one is begun.
func (v *visit) run(ctx context.Context) (Outcome, error) {
	asked, err := v.asked()
	if err != nil {
		return Outcome{}, err
	}
	before, err := v.before(ctx)
	if err != nil {
		return Outcome{}, err
	}
	way, err := v.way(ctx, asked, before.run)
	switch {
	case err != nil:
		return Outcome{}, err
	case way.Refuse != "" && before.found.doubt != "":
		return Outcome{}, declined{"Sorry, " + before.found.doubt + ", so nothing goes on from it. `/ralph` judges the work on its branch anew."}
	case way.Refuse != "":
		return Outcome{}, declined{way.Refuse}
	}
	if err := v.readable(ctx, before.run); err != nil {
		return Outcome{}, err
	}
	if err := v.install(ctx); err != nil { // of which whoever is declined hears nothing
		return Outcome{}, err
	}
	if err := v.admitted(ctx, &asked, before.run, way); err != nil {
		return Outcome{}, err
	}
	asked.Notes = append(asked.Notes, before.notes...)
	if asked.Policy.Shelve, err = v.claim(ctx, before, quota.LeaseFor(asked.Policy)); err != nil {
		return Outcome{}, err
	}
	outcome, err := v.work(ctx, asked, before, way)
	if asked.Policy.Shelve && outcome.Run.Stop == nil { // nothing was begun, or it broke: nobody is at work any more
		v.quit(ctx, before, outcome)
	}
	return outcome, err
}

// work raises the sandbox and has the run begun, or gone on with.
func (v *visit) work(ctx context.Context, asked job.Asked, before before, way verdict.Way) (Outcome, error) {
	j, err := v.job(ctx, asked.Policy)
	if err != nil {
		return Outcome{}, err
	}
	defer v.lower(j.Sandbox, j.Held)
	v.say(j.Sandbox.Said(noSandbox))
	asked.Level = j.Sandbox.Name()
	asked.Notes = append(asked.Notes, j.Sandbox.Notices()...)
	if before.shelf != nil {
		j.Shelf = before.shelf
	}
	if way.GoOn == nil {
		return j.Start(ctx, asked)
	}
	home, err := before.home(j.Folder)
	if err != nil {
		return Outcome{}, err
	}
	way.GoOn.Level, way.GoOn.Links, way.GoOn.Context = asked.Level, &asked.Links, v.task.Context
	switch then := before.run.Policy; {
	case !v.same(asked, before.run):
		renewed := verdict.Renewed(asked.Policy, before.run, v.command.Flags.Model != "", v.offered)
		way.GoOn.Policy = &renewed
	case asked.Policy.Shelve != then.Shelve:
		then.Shelve = asked.Policy.Shelve
		way.GoOn.Policy = &then
	}
	return j.Resume(ctx, home, *way.GoOn)
}

// way is how what was asked for is gone about.
func (v *visit) way(ctx context.Context, asked job.Asked, old journal.Run) (verdict.Way, error) {
	same := v.same(asked, old)
	stands, err := v.stands(ctx, same, old)
	return verdict.Answer(verdict.Asked{
		Verb: v.command.Verb, Story: v.command.Story, Words: v.command.Words, By: v.trigger.Asker().Login,
		Same: same, Job: v.env.log(), Stands: stands,
	}, old), err
}

// stands is the pull request that holds the work of a run which is done, as it was
// left; empty where it does not. To begin anew on that would be to undo it: who
// asks twice, and waited for the first to end, means no second run.
func (v *visit) stands(ctx context.Context, same bool, old journal.Run) (string, error) {
	if !same || v.task.Number == 0 || !old.Completed() || old.Stop.Reason != policy.AllStoriesPassed || !verdict.Sound(old) {
		return "", nil
	}
	number, there := v.task.Number, v.trigger.Pull.HeadSHA == old.Head
	if v.task.Kind != plan.KindPull {
		pull, open, err := v.client.FindPull(ctx, old.Branch)
		if err != nil {
			return "", err
		}
		number, there = pull.Number, open && pull.SHA == old.Head
	}
	if !there {
		return "", nil
	}
	return fmt.Sprintf("#%d", number), nil
}

// same tells whether what is asked is what an older run was asked.
func (v *visit) same(asked job.Asked, old journal.Run) bool {
	return asked.BaseRef == old.BaseRef && verdict.Same(asked.Task, asked.Policy, old)
}

// asked is the run to begin: the issue as stories, and by what rules.
func (v *visit) asked() (job.Asked, error) {
	stories, source, err := plan.Draft(v.task, v.forms...)
	if v.command.Verb.Continues() { // by the plan that the run has
		err = nil
	}
	if err != nil {
		return job.Asked{}, fault.Usage(v.task.String()+" cannot be turned into stories", cmp.Or(fault.Hint(err), v.mend()), err)
	}
	base, branch, err := v.place()
	if err != nil {
		return job.Asked{}, err
	}
	return job.Asked{
		ID:      workspace.NameRun(v.called(), v.Now()),
		Policy:  v.policy(stories),
		Task:    v.task,
		Plan:    stories,
		Source:  string(source),
		Vague:   plan.Vague(v.task, stories, source),
		BaseRef: base,
		Detect:  true,
		Branch:  branch,
		Links:   journal.Links{Repo: v.env.repo(), Log: v.env.log()},
		By:      journal.Person{Login: v.trigger.Asker().Login, ID: v.trigger.Asker().ID},
		Notes:   v.notes(),
	}, nil
}

// mend is what to do about a task that makes no stories.
func (v *visit) mend() string {
	if v.task.Kind == plan.KindIssue {
		return "mend the issue's text and ask again"
	}
	return "say it in other words and ask again"
}

// called is the task in names of runs and branches.
func (v *visit) called() string {
	switch {
	case v.task.Number == 0:
		return "run"
	case v.task.Kind == plan.KindPull:
		return fmt.Sprintf("pull-%d", v.task.Number)
	}
	return fmt.Sprintf("issue-%d", v.task.Number)
}

// fromAFork is why nothing is done there. A branch here with a fork's commits
// could start workflows that hold secrets, on code that nobody here has read.
const fromAFork = "This pull request comes from a fork, and ralph works on branches of this repository alone: one here with the fork's commits could start workflows that hold secrets. " +
	"Who can push may bring its branch here, and ask there."

// place is the branch that the work is for, and the one that it goes to: on a
// pull request its own.
func (v *visit) place() (base, branch string, err error) {
	if v.task.Kind != plan.KindPull {
		base = cmp.Or(v.inputs.BaseBranch, v.trigger.Repo.DefaultBranch)
		return base, v.inputs.BranchPrefix + v.called() + "-" + plan.Slug(v.task.Title, 40), nil
	}
	pull := v.trigger.Pull
	if pull.Fork(v.trigger.Repo) {
		return "", "", declined{fromAFork}
	}
	return pull.BaseRef, pull.HeadRef, nil
}

// policy is the Action's with what the plan adds: its own checks come on top,
// never instead.
func (v *visit) policy(stories plan.Plan) policy.Policy {
	p := v.inputs.Policy
	p.Agent, p.Shelve = v.inputs.AgentName, true
	p.Buttons = v.inputs.Rules.Buttons
	p.NoPull = v.task.Kind == plan.KindPull // there is one, and its words are its author's
	p.Approval = p.Approval || v.command.Verb == trigger.Plan || v.command.Verb == trigger.Approve
	own, timeout := len(p.Checks), policy.DefaultCheckTimeout
	if own > 0 {
		timeout = p.Checks[own-1].Timeout
	}
	p.Checks = policy.With(p.Checks, stories.VerifyCommands, timeout)
	for i := own; i < len(p.Checks); i++ {
		p.Checks[i].Added = true
	}
	return p
}

// notes are what people should know of the way in.
func (v *visit) notes() []journal.Noted {
	notes := v.asides
	if v.trigger.Removed != "" {
		notes = append(notes, journal.Noted{What: "taken out of the issue's text before anybody read it: " + v.trigger.Removed})
	}
	return notes
}
