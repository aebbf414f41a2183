package action

import (
	"cmp"
	"context"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/confine"
	"github.com/ralph-loop/ralph/internal/job"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/publish"
	"github.com/ralph-loop/ralph/internal/view"
)

// job gathers what the run needs, and fails before anything is spent.
func (v *visit) job(ctx context.Context, p policy.Policy) (*job.Job, error) {
	worker, err := job.Find(v.inputs.AgentName, v.options(), v.agentEnv, v.env.Workspace)
	if err != nil {
		return nil, err
	}
	tool, err := v.git(ctx)
	if err != nil {
		return nil, err
	}
	second, err := v.second(p)
	if err != nil {
		return nil, err
	}
	wall, err := v.raise(ctx, worker, second, p)
	if err != nil {
		return nil, err
	}
	var held *confine.Sandbox
	if wall == nil {
		if held, err = confine.HoldKeys(ctx, v.walled(worker, second, p)); err != nil {
			return nil, err
		}
	}
	server := cmp.Or(wall, held)
	adapter, err := worker.Behind(server.Keys)
	var reviewer *job.Reviewer
	if err == nil {
		reviewer, err = second.Reviewing(server)
	}
	if err != nil {
		v.lower(wall, held)
		return nil, err
	}
	return &job.Job{
		Wall: wall, Held: held,
		Folder: v.folder(),
		Exec:   v.Exec, Now: v.Now, Git: tool, Origin: origin{git: tool, hub: v.hub, pause: breath}, Hub: v.hub, Signer: v.hub, Pulls: v.hub, Comment: v.comment(),
		Agent: adapter, Reviewer: reviewer, AgentEnv: worker.Env, CheckEnv: worker.Env, Watch: v.Watch,
		Screens: v.screens(), Every: v.Every, Log: v.say, Tell: v.narrate, Hide: v.secrets.Bytes, Veil: v.secrets.Writer, Secret: v.secrets.Holds,
		Drain: v.Drain, Hard: v.Hard, Version: v.Version, Rescue: rescue, Grace: grace, Keep: v.Keep, Report: v.inputs.Report, Out: v.env.Workspace,
	}, nil
}

// comment is how the progress comment is made; nil where there is nothing to
// comment on.
func (v *visit) comment() func(context.Context, view.Board) (journal.CommentPosted, error) {
	if v.task.Number == 0 {
		return nil
	}
	return v.hub.Comment
}

// options are what the inputs say of the agent.
func (v *visit) options() agent.Options {
	o := v.inputs.Agent
	o.Self = v.Self
	if len(o.Args) > 0 && v.inputs.AgentName == "scripted" {
		o.Script = o.Args[0]
	}
	return o
}

// agentEnv is what an agent's environment is built on.
func (v *visit) agentEnv(vars ...string) []string {
	return append(agent.BaseEnv(v.Getenv, vars...), agent.BaseEnv(v.mirror, mirrors...)...)
}

// second is who is to be asked for a second opinion; nil: nobody is.
func (v *visit) second(p policy.Policy) (*job.Candidate, error) {
	own := v.inputs.Agent
	options := agent.Options{Keys: own.Keys, NeedKey: own.NeedKey, Prices: own.Prices, Self: v.Self}
	return job.FindSecond(p.Review, options, v.agentEnv, v.env.Workspace)
}

// screens are where people look.
func (v *visit) screens() []publish.Screen {
	return []publish.Screen{v.hub, summary{path: v.env.Summary, hide: v.words}}
}

// clone is the repository as git reaches it: the runner's own server, never
// an address that came in with the event.
func (v *visit) clone() string { return strings.TrimSuffix(v.env.repo(), "/") + ".git" }
