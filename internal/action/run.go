package action

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/job"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/publish"
	"github.com/ralph-loop/ralph/internal/workspace"
)

// Outcome is how the run stands.
type Outcome = job.Outcome

// noWall is said where somebody asked for none.
const noWall = "sandbox level none: the agent and the checks can do whatever this job can"

// rescue is how long a cancelled job has to make its work safe: GitHub kills
// it 10 s after it asked.
const rescue = 8 * time.Second

// grace is what an agent has to end politely within that time.
const grace = time.Second

// breath is how long GitHub is left alone before the code is asked for again.
const breath = 500 * time.Millisecond

// run has the job done: an unfinished run of this issue is gone on with, else
// a new one is begun.
func (v *visit) run(ctx context.Context) (Outcome, error) {
	asked, err := v.asked()
	if err != nil {
		return Outcome{}, err
	}
	j, err := v.job(ctx, asked.Policy)
	if err != nil {
		return Outcome{}, err
	}
	defer v.lower(j.Wall)
	v.say(j.Wall.Said(noWall))
	asked.Level = j.Wall.Name()
	asked.Notes = append(asked.Notes, j.Wall.Notices()...)
	var old journal.Run
	home, unfinished := j.Folder.Unfinished(func(run journal.Run) bool {
		old = run
		return run.Task.Number == v.task.Number && run.Task.Repo == v.task.Repo
	})
	switch {
	case home.ID == "" || !v.same(asked, old):
		return j.Start(ctx, asked)
	case unfinished:
		return j.Resume(ctx, home, journal.Resumed{Why: "an earlier job ended before the run did", Level: asked.Level})
	case v.again(old):
		return j.Resume(ctx, home, journal.Resumed{Why: "it was asked for again", Level: asked.Level})
	}
	return j.Start(ctx, asked)
}

// same tells whether what is asked is what an older run was asked, by the same
// rules: then whoever asks means that run. Words or rules that are new would
// be lost on it.
func (v *visit) same(asked job.Asked, old journal.Run) bool {
	now, err := json.Marshal(asked.Policy)
	then, worse := json.Marshal(old.Policy.Named())
	return asked.Task == old.Task && bytes.Equal(now, then) && err == nil && worse == nil
}

// again tells whether to go on with a run that has stopped: one that stopped
// short, unless it would stop where it did, and whatever this very job began,
// for it was killed before it could say how that ended.
func (v *visit) again(old journal.Run) bool {
	if log := v.env.log(); log != "" && log == old.Links.Log {
		return true
	}
	return old.Stop.Reason != policy.VerificationFailed && !old.Completed()
}

// asked is the run to begin: the issue as stories, and by what rules.
func (v *visit) asked() (job.Asked, error) {
	stories, source, err := plan.Draft(v.task)
	if err != nil {
		return job.Asked{}, fault.Usage(fmt.Sprintf("issue #%d cannot be turned into stories", v.task.Number),
			"mend the issue's text and ask again", err)
	}
	base := v.inputs.BaseBranch
	if base == "" {
		base = v.trigger.Repo.DefaultBranch
	}
	return job.Asked{
		ID:      workspace.NameRun(fmt.Sprintf("issue-%d", v.task.Number), v.Now()),
		Policy:  v.policy(stories),
		Task:    v.task,
		Plan:    stories,
		Source:  string(source),
		BaseRef: base,
		Detect:  true,
		Branch:  fmt.Sprintf("%sissue-%d-%s", v.inputs.BranchPrefix, v.task.Number, plan.Slug(v.task.Title, 40)),
		Links:   journal.Links{Repo: v.env.repo(), Log: v.env.log()},
		Notes:   v.notes(),
	}, nil
}

// policy is the Action's with what the plan adds: its own checks come on top,
// never instead.
func (v *visit) policy(stories plan.Plan) policy.Policy {
	p := v.inputs.Policy
	p.Agent = v.inputs.AgentName
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
	if v.trigger.Removed == "" {
		return nil
	}
	return []journal.Noted{{What: "taken out of the issue's text before anybody read it: " + v.trigger.Removed}}
}

// job gathers what the run needs, and fails before anything is spent.
func (v *visit) job(ctx context.Context, p policy.Policy) (*job.Job, error) {
	options := v.inputs.Agent
	options.Self = v.Self
	if len(options.Args) > 0 && v.inputs.AgentName == "scripted" {
		options.Script = options.Args[0]
	}
	adapter, err := agent.Pick(v.inputs.AgentName, options)
	if err != nil {
		return nil, err
	}
	env := v.agentEnv(adapter.Vars...)
	program, err := (&agent.Hand{Adapter: adapter, Env: env, Dir: v.env.Workspace}).Ready()
	if err != nil {
		return nil, err
	}
	home, err := v.home()
	if err != nil {
		return nil, fault.Usage("cannot write to "+v.env.folder(), "make the workspace writable", err)
	}
	tool, err := v.git(home)
	if err != nil {
		return nil, err
	}
	if _, err := tool.Version(ctx); err != nil {
		return nil, err
	}
	second, err := v.second(p)
	if err != nil {
		return nil, err
	}
	wall, err := v.raise(ctx, adapter, program, second, p)
	if err != nil {
		return nil, err
	}
	options.Keys = wall.Keys(options.Keys)
	adapter, err = agent.Pick(v.inputs.AgentName, options)
	var reviewer *job.Reviewer
	if err == nil {
		reviewer, err = second.Behind(wall)
	}
	if err != nil {
		v.lower(wall)
		return nil, err
	}
	return &job.Job{
		Wall:   wall,
		Folder: workspace.Folder{Path: v.env.folder()},
		Exec:   v.Exec, Now: v.Now, Git: tool, Origin: origin{git: tool, hub: v.hub, pause: breath}, Hub: v.hub, Pulls: v.hub, Comment: v.hub.Comment,
		Agent: adapter, Reviewer: reviewer, AgentEnv: env, CheckEnv: env, Watch: v.Watch,
		Screens: v.screens(), Every: v.Every, Log: v.say, Hide: v.secrets.Bytes, Veil: v.secrets.Writer, Secret: v.secrets.Holds,
		Drain: v.Drain, Hard: v.Hard, Version: v.Version, Rescue: rescue, Grace: grace, Keep: v.Keep,
	}, nil
}

// agentEnv is what an agent's environment is built on.
func (v *visit) agentEnv(vars ...string) []string {
	return append(agent.BaseEnv(v.Getenv, vars...), agent.BaseEnv(v.mirror, mirrors...)...)
}

// second is who is to be asked for a second opinion; nil: nobody is.
func (v *visit) second(p policy.Policy) (*job.Second, error) {
	own := v.inputs.Agent
	options := agent.Options{Keys: own.Keys, NeedKey: own.NeedKey, Prices: own.Prices, Self: v.Self}
	return job.FindSecond(p.Review, options, v.agentEnv, v.env.Workspace)
}

// screens are where people look.
func (v *visit) screens() []publish.Screen {
	return []publish.Screen{v.hub, summary{path: v.env.Summary, hide: v.secrets.String}}
}

// clone is the repository as git reaches it: the runner's own server, never
// an address that came in with the event.
func (v *visit) clone() string { return strings.TrimSuffix(v.env.repo(), "/") + ".git" }
