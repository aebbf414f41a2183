package action

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/box/confine"
	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/remote"
	"github.com/ralph-loop/ralph/internal/lib/environ"
	"github.com/ralph-loop/ralph/internal/proof/checkout"
	"github.com/ralph-loop/ralph/internal/run/job"
	"github.com/ralph-loop/ralph/internal/run/publish"
	"github.com/ralph-loop/ralph/internal/show/view"
)

// job gathers what the run needs, and fails before anything is spent.
func (h *handler) job(ctx context.Context, p policy.Policy) (*job.Job, error) {
	worker, err := job.Find(h.inputs.AgentName, h.options(), h.agentEnv, h.env.Workspace)
	if err != nil {
		return nil, err
	}
	tool, err := h.git(ctx)
	if err != nil {
		return nil, err
	}
	second, err := h.reviewer(p)
	if err != nil {
		return nil, err
	}
	agents, sb, err := worker.Enclose(ctx, second, p, h.sandboxOptions(ctx))
	if err != nil {
		return nil, err
	}
	h.sandbox = sb
	env := slices.Concat(worker.Env, h.inputs.Needs.Env)
	agents.AgentEnv = env
	agents.Attachments = h.attached
	today := h.Now().UTC().Format(time.DateOnly)
	clone := func(ctx context.Context, dir, base, branch string) (*git.Trusted, error) {
		return h.host.remote().Clone(ctx, tool, dir, remote.Branches{Base: base, Work: []string{branch}})
	}
	return &job.Job{
		Machine: job.Machine{
			Folder:       h.folder(),
			Exec:         h.Exec,
			Now:          h.Now,
			Git:          tool,
			Sandbox:      sb,
			CheckEnv:     env,
			CheckSecrets: h.inputs.Needs.Secrets,
			Kept:         h.kept(sb, today, h.task.Kind != plan.KindPull),
			Redact:       h.secrets.Writer,
			Grace:        agentEndTime,
		},
		Code: job.Code{Origin: clone},
		Remote: job.Remote{
			BranchHost: h.host,
			Sign:       h.host.Sign,
			Pulls:      h.host,
			HasSecret:  h.secrets.Holds,
			Comment:    h.comment(),
		},
		Agents: agents,
		Audience: job.Audience{
			Screens:     h.screens(),
			Interval:    h.Every,
			OnEvent:     h.logEvent,
			Log:         h.say,
			HideSecrets: h.secrets.Bytes,
		},
		Abort:       h.Hard,
		Version:     h.Version,
		SaveTimeout: saveTime,
		KeepTrees:   h.Keep,
		PageWanted:  true,
		OutputDir:   h.env.Workspace,
	}, nil
}

// kept returns where jobs keep the results of checks at a base, for a period: in the folder that actions/cache
// restores and saves. GitHub lets a pull request read the cache of the default branch, and not write it. Jobs keep none
// without a sandbox, or if the checks depend on more than files.
func (h *handler) kept(sb *confine.Sandbox, period string, write bool) checkout.Kept {
	needs := h.inputs.Needs
	if sb == nil || h.inputs.Cache == "" || len(needs.Services)+len(needs.Secrets) > 0 {
		return checkout.Kept{}
	}
	network := h.inputs.Sandbox.Network
	network.Upstream = "" // may hold a password
	return checkout.Kept{
		Dir:      filepath.Join(h.inputs.Cache, "baselines"),
		ReadOnly: !write,
		Self:     h.Self,
		With:     fmt.Sprintf("%s %s %q %+v", h.Version, period, h.image(), network),
	}
}

// image identifies the kind of runner.
func (h *event) image() []string {
	var all []string
	for _, name := range []string{"ImageOS", "ImageVersion", "RUNNER_OS", "RUNNER_ARCH"} {
		all = append(all, h.Getenv(name))
	}
	return all
}

// comment returns nil where there is nothing to comment on.
func (h *handler) comment() func(context.Context, view.Texts) (journal.CommentPosted, error) {
	if h.task.Number == 0 {
		return nil
	}
	return h.host.Comment
}

func (h *machine) options() agent.Options {
	o := h.inputs.Agent
	o.Self = h.Self
	if h.inputs.AgentName == "scripted" {
		o.Script = h.Getenv("RALPH_SCRIPT")
	}
	return o
}

func (h *machine) agentEnv(vars ...string) []string {
	return append(environ.Job(h.Getenv, vars...), environ.Mirrors(h.Getenv)...)
}

func (h *machine) reviewer(p policy.Policy) (*job.FoundAgent, error) {
	own := h.inputs.Agent
	options := agent.Options{Keys: own.Keys, NeedKey: own.NeedKey, Prices: own.Prices, Self: h.Self}
	return job.FindSecond(p.Review, options, h.agentEnv, h.env.Workspace)
}

func (h *handler) screens() []publish.Screen {
	summary := func(_ context.Context, board view.Texts) error { return h.writeSummary(board.Summary) }
	return []publish.Screen{h.host.Show, summary}
}

// writeSummary writes the page of the job.
func (h *event) writeSummary(text string) error {
	path := h.Getenv("GITHUB_STEP_SUMMARY")
	if path == "" {
		return nil
	}
	err := os.WriteFile(path, []byte(h.cleanText(text)), 0o644) //nolint:forbidigo // the runner's own file
	if err != nil {
		return fmt.Errorf("write the job's summary: %w", err)
	}
	return nil
}

// clone never uses an address of the event.
func (h *event) clone() string { return strings.TrimSuffix(h.env.repo(), "/") + ".git" }
