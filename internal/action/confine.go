package action

import (
	"context"
	"net/url"
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/confine"
	"github.com/ralph-loop/ralph/internal/egress"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/job"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/process"
	"github.com/ralph-loop/ralph/internal/sandbox"
)

// inside is a user id that no image uses.
const inside = 1500

// where tells of tools, and of nothing else that is the runner's.
var where = []string{"PATH", "HOME", "GOROOT", "RUNNER_TOOL_CACHE", "AGENT_TOOLSDIRECTORY"}

func (v *visit) raise(ctx context.Context, worker, second *job.Candidate, p policy.Policy) (*confine.Sandbox, error) {
	asked := v.sandboxed(worker, second, p)
	asked.Beyond = v.beyond(ctx)
	var err error
	v.sandbox, err = confine.Start(ctx, asked)
	return v.sandbox, err
}

func (v *visit) sandboxed(worker, second *job.Candidate, p policy.Policy) confine.Options {
	var env []string
	for _, name := range where {
		if value := v.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	in := v.inputs
	terms := confine.Model{
		Name: p.Model, Models: in.Sandbox.Models, KeyInAgent: in.Sandbox.KeyInAgent,
		Budget: agent.Budget{USD: p.Limits.CostUSD, Tokens: p.Limits.Tokens},
	}
	read, _ := worker.Needs() // a job has no user's home
	more, _ := second.Needs()
	cache := in.Cache
	if cache != "" {
		cache = filepath.Join(v.env.Workspace, cache)
	}
	return confine.Options{
		Cache: cache,
		Level: in.Sandbox.Level, UID: inside, GID: inside, Self: v.Self, Exec: v.Exec, Env: env,
		Read: append(more, read...), Reach: []string{v.env.folder()}, Apart: []string{v.env.Workspace}, Private: v.runner(), Needs: in.Needs,
		Now: v.Now, Network: v.network(), Model: worker.ModelTerms(terms), Review: second.ReviewTerms(terms),
	}
}

// runner are the runner's folders. A file of its installation marks them.
func (v *visit) runner() []string {
	temp := v.Getenv("RUNNER_TEMP")
	all := []string{temp, v.Getenv("RUNNER_WORKSPACE"), filepath.Dir(v.Getenv("GITHUB_EVENT_PATH"))}
	for dir := temp; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".runner")); err == nil {
			all = append(all, dir)
		}
	}
	return all
}

// network resolves the CA bundle in the workspace.
func (v *visit) network() confine.Network {
	n := v.inputs.Sandbox.Network
	if n.Bundle != "" && !filepath.IsAbs(n.Bundle) {
		n.Bundle = filepath.Join(v.env.Workspace, n.Bundle)
	}
	return n
}

// git is one that will do, and reaches GitHub as the network wants it.
func (v *visit) git(ctx context.Context) (git.Git, error) {
	home, err := v.home()
	if err != nil {
		return git.Git{}, fault.Usage("cannot write to "+v.env.folder(), "make the workspace writable", err)
	}
	tool := git.Git{Run: v.Exec, Path: process.PathOutside(v.Getenv("PATH"), []string{v.env.folder()}), Home: home}
	if _, err := tool.Version(ctx); err != nil {
		return tool, err
	}
	return v.routed(tool)
}

// routed reaches private servers without the company's proxy, and has all certificates in one file.
func (v *visit) routed(tool git.Git) (git.Git, error) {
	network := v.network()
	if network.Upstream != "" {
		route, err := network.Route()
		if err != nil {
			return tool, err
		}
		to, err := url.Parse(v.clone())
		if err != nil {
			return tool, err
		}
		if route.ProxyFor(to) != nil {
			tool.Proxy = network.Upstream
		}
	}
	if network.Bundle == "" {
		return tool, nil
	}
	tool.CA = filepath.Join(tool.Home, "certificates.pem")
	return tool, network.Trust(tool.CA)
}

// beyond are GitHub's addresses: only an attempt shows whether another sandbox stands.
func (v *visit) beyond(ctx context.Context) []string {
	at, err := url.Parse(v.env.ServerURL)
	if v.inputs.Sandbox.Level != sandbox.External || err != nil {
		return nil
	}
	n, err := egress.ParseName(at.Host)
	if err != nil { // an address: there is nothing to look up
		return egress.Anywhere()
	}
	return egress.Beyond(ctx, n)
}

func (v *visit) lower(sandboxes ...*confine.Sandbox) {
	for _, w := range sandboxes {
		if err := w.Close(); err != nil {
			v.say("could not clean up the sandbox: " + fault.Told(err))
		}
	}
}

// gitHome and keptStore lie in the project's folder, and are new in each job.
const (
	gitHome   = "home"
	keptStore = "kept.git"
)

// home is an empty folder for git, which runs inside as well.
func (v *visit) home() (string, error) {
	home := filepath.Join(v.env.folder(), gitHome)
	return home, os.MkdirAll(home, 0o755)
}
