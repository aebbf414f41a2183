package action

import (
	"context"
	"time"

	"github.com/ralph-loop/ralph/internal/box/confine"
	"github.com/ralph-loop/ralph/internal/box/egress"
	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/trigger"
	"github.com/ralph-loop/ralph/internal/entry/config"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/remote"
	"github.com/ralph-loop/ralph/internal/hub/github"
	"github.com/ralph-loop/ralph/internal/proof/checkout"
	"github.com/ralph-loop/ralph/internal/run/job"
	"github.com/ralph-loop/ralph/internal/show/view"
)

// connect makes the parts that speak with GitHub. It is called again after the settings were read, which may say how
// GitHub is reached.
func (h *handler) connect() error {
	route, err := h.inputs.Sandbox.Network.Route()
	if err != nil {
		return err
	}
	h.machine.route = route
	if h.client, err = newClient(h.action, h.inputs, h.request.trigger.Repo, route); err != nil {
		return err
	}
	// Each use asks for a fresh token: an App's token lasts an hour, a run may last longer.
	h.remote = remote.Repository{URL: h.env.clone(), Fresh: h.client.GitToken, Pause: retryPause}
	h.gatherer = &gatherer{client: h.client, env: h.env, log: h.log, route: route, request: h.request}
	h.answers = &answers{client: h.client, log: h.log, request: h.request, job: h.env.job}
	h.accounts = &accounts{
		client:  h.client,
		machine: h.machine,
		remote:  h.remote,
		now:     h.action.Now,
		hard:    h.action.Hard,
	}
	// A checkout or another workflow may have made these, and git reads them with a token.
	return h.env.folder().RemoveFiles(gitHome, keptStore)
}

func newClient(a Action, inputs *config.Inputs, repo trigger.Repo, route egress.Route) (*github.Client, error) {
	access := github.Access{
		Owner:   repo.Owner,
		Repo:    repo.Name,
		BaseURL: a.Getenv("GITHUB_API_URL"),
		Token:   inputs.Token,
		Retry:   a.Pace,
	}
	if network := inputs.Sandbox.Network; network.Upstream+network.Bundle != "" {
		access.HTTP = route.Plain()
	}
	// GitHub starts no CI for what a job's own token pushes or opens, so another client may do both. Only that one has
	// the other token: it needs no other right.
	ciAccess := access
	if inputs.AppID != 0 {
		access.App = &github.App{ID: inputs.AppID, PrivateKey: inputs.AppKey}
	}
	client, err := github.Connect(access)
	if err != nil || inputs.CIToken == "" {
		return client, err
	}
	ciAccess.Token = inputs.CIToken
	ciAccess.Input = "ci-token"
	client.Starter, err = github.Connect(ciAccess)
	return client, err
}

// setHost makes the parts that show the work on an issue or pull request; 0: there is none.
func (h *handler) setHost(issue int) {
	event := h.request.trigger
	baseBranch := event.Repo.DefaultBranch
	if event.IsOnPull() && event.Pull.HeadRef == baseBranch {
		baseBranch = "" // people chose it for their pull request
	}
	h.host = &branchHost{
		client:      h.client,
		issue:       issue,
		remote:      h.remote,
		hide:        h.log.clean,
		say:         h.log.say,
		baseBranch:  baseBranch,
		pullLabels:  h.inputs.PullLabels,
		reviewers:   h.inputs.Reviewers,
		stateLabels: true,
	}
	h.report = &report{env: h.env, log: h.log, host: h.host, answers: h.answers}
}

// newJob returns what a run needs, and starts its sandbox.
func (h *handler) newJob(ctx context.Context, tool git.Git, p policy.Policy) (*job.Job, error) {
	found, err := h.machine.findAgents(ctx, p)
	if err != nil {
		return nil, err
	}
	found.Kept = h.keptBaselines
	clone := func(ctx context.Context, dir, base, branch string) (*git.Trusted, error) {
		return h.remote.Clone(ctx, tool, dir, remote.Branches{Base: base, Work: []string{branch}})
	}
	var comment func(context.Context, view.Texts) (journal.CommentPosted, error)
	if h.request.task.Number != 0 { // else there is nothing to comment on
		comment = h.host.Comment
	}
	j, err := job.New(ctx, found, job.Job{
		Machine: job.Machine{
			Folder:  h.env.folder(),
			Exec:    h.action.Exec,
			Now:     h.action.Now,
			Git:     tool,
			Secrets: h.log.secrets,
			Grace:   agentEndTime,
		},
		Code: job.Code{Origin: clone},
		Remote: job.Remote{
			BranchHost: h.host,
			Sign:       h.host.Sign,
			Pulls:      h.host,
			HasSecret:  h.log.secrets.Holds,
			Comment:    comment,
		},
		Agents: job.Agents{Attachments: h.request.attached},
		Audience: job.Audience{
			Screens:  h.report.screens(),
			Interval: h.action.Every,
			OnEvent:  h.log.event,
			Log:      h.log.say,
		},
		Abort:       h.action.Hard,
		Version:     h.action.Version,
		SaveTimeout: saveTime,
		KeepTrees:   h.action.Keep,
		PageWanted:  true,
		OutputDir:   h.env.workspace,
	})
	if err != nil {
		return nil, err
	}
	h.machine.sandbox = j.Machine.Sandbox
	h.log.say(j.Machine.Sandbox.Description(noSandbox))
	return j, nil
}

// keptBaselines returns where the results of checks at a base are kept for a day. The checks of a pull request's code
// may not write there: its comments start jobs on the default branch, whose cache each job reads.
func (h *handler) keptBaselines(sb *confine.Sandbox) checkout.Kept {
	today := h.action.Now().UTC().Format(time.DateOnly)
	isPull := h.request.task.Kind == plan.KindPull
	return h.machine.kept(sb, today, !isPull)
}
