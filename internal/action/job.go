package action

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/confine"
	"github.com/ralph-loop/ralph/internal/environ"
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
	sb, err := v.raise(ctx, worker, second, p)
	if err != nil {
		return nil, err
	}
	var held *confine.Sandbox
	if sb == nil {
		if held, err = confine.HoldKeys(ctx, v.sandboxed(worker, second, p)); err != nil {
			return nil, err
		}
	}
	server, env := cmp.Or(sb, held), slices.Concat(worker.Env, v.inputs.Needs.Env)
	adapter, err := worker.InSandbox(server.Keys)
	var reviewer *job.Reviewer
	if err == nil {
		reviewer, err = second.NewReviewer(server)
	}
	if err != nil {
		v.lower(sb, held)
		return nil, err
	}
	return &job.Job{
		Machine:  job.Machine{Folder: v.folder(), Exec: v.Exec, Now: v.Now, Git: tool, Sandbox: sb, CheckEnv: env, CheckSecrets: v.inputs.Needs.Secrets, Redact: v.secrets.Writer, Grace: grace},
		Code:     job.Code{Origin: origin{git: tool, hub: v.hub, pause: breath}},
		Remote:   job.Remote{BranchHost: v.hub, Signer: v.hub, Pulls: v.hub, HasSecret: v.secrets.Holds, Attest: v.signs.Notary(ctx), Comment: v.comment()},
		Agents:   job.Agents{Agent: adapter, Attachments: v.attached, AgentEnv: env, Reviewer: reviewer, Watch: v.Watch, ModelServer: held},
		Audience: job.Audience{Screens: v.screens(), Interval: v.Every, OnEvent: v.narrate, Log: v.say, HideSecrets: v.secrets.Bytes},
		Drain:    v.Drain, Abort: v.Hard, Version: v.Version, SaveTimeout: rescue, KeepTrees: v.Keep, PageWanted: v.inputs.Report, OutputDir: v.env.Workspace,
	}, nil
}

// comment is nil where there is nothing to comment on.
func (v *visit) comment() func(context.Context, view.Texts) (journal.CommentPosted, error) {
	if v.task.Number == 0 {
		return nil
	}
	return v.hub.Comment
}

func (v *visit) options() agent.Options {
	o := v.inputs.Agent
	o.Self = v.Self
	if len(o.Args) > 0 && v.inputs.AgentName == "scripted" {
		o.Script = o.Args[0]
	}
	return o
}

func (v *visit) agentEnv(vars ...string) []string {
	return append(environ.Job(v.Getenv, vars...), environ.Mirrors(v.Getenv)...)
}

func (v *visit) second(p policy.Policy) (*job.Candidate, error) {
	own := v.inputs.Agent
	options := agent.Options{Keys: own.Keys, NeedKey: own.NeedKey, Prices: own.Prices, Self: v.Self}
	return job.FindSecond(p.Review, options, v.agentEnv, v.env.Workspace)
}

func (v *visit) screens() []publish.Screen {
	return []publish.Screen{v.hub, summary{path: v.env.Summary, hide: v.words}}
}

// clone never uses an address of the event.
func (v *visit) clone() string { return strings.TrimSuffix(v.env.repo(), "/") + ".git" }

// rehearse only writes to the log: it changes nothing on GitHub, and asks no agent.
func (v *visit) rehearse() (Result, error) {
	done := Result{Skipped: "a dry run"}
	if !v.command.Verb.UsesAgent() {
		v.say(fmt.Sprintf("dry run: %s would be answered", v.command.Verb))
		return done, nil
	}
	asked, err := v.asked()
	if why, is := errors.AsType[declined](err); is {
		v.say("dry run: it would be declined: " + why.said)
		return done, nil
	}
	if err != nil {
		return Result{}, err
	}
	v.say(v.rehearsed(asked))
	return done, nil
}
