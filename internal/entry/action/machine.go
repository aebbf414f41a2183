package action

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/box/confine"
	"github.com/ralph-loop/ralph/internal/box/egress"
	"github.com/ralph-loop/ralph/internal/box/sandbox"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/entry/config"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/lib/untrusted"
	"github.com/ralph-loop/ralph/internal/proof/checkout"
	"github.com/ralph-loop/ralph/internal/run/job"
)

// machine is the runner: what it starts, and in which sandbox.
type machine struct {
	env     environment
	inputs  *config.Inputs // shared with the request: settings change them
	log     *jobLog
	exec    func(context.Context, process.Command) (process.Result, error)
	self    string           // the path of this program
	version string           // and its version
	route   egress.Route     // of ralph's own requests
	sandbox *confine.Sandbox // of the agent and the checks; nil: none
}

// gitHome and keptStore lie in the project's folder, and are new in each job.
const (
	gitHome   = "home"
	keptStore = "kept.git"
)

// git returns a git with a version that works. It reaches GitHub as the network's settings say.
func (m *machine) git(ctx context.Context) (git.Git, error) {
	folder := m.env.folder().Path
	home := filepath.Join(folder, gitHome) // empty: git runs inside as well
	if err := os.MkdirAll(home, 0o755); err != nil {
		return git.Git{}, fault.Usage("cannot write to "+folder, "make the workspace writable", err)
	}
	tool := git.Git{Run: m.exec, Path: m.env.path(), Home: home}
	if _, err := tool.Version(ctx); err != nil {
		return tool, err
	}
	address, err := url.Parse(m.env.clone())
	if err != nil {
		return tool, err
	}
	if m.route.ProxyFor(address) != nil {
		tool.Proxy = m.inputs.Sandbox.Network.Upstream
	}
	tool.CA = m.inputs.Sandbox.Network.Bundle
	return tool, nil
}

// store returns a repository of this job's own for what ralph saves on GitHub.
func (m *machine) store(ctx context.Context) (*git.Trusted, error) {
	tool, err := m.git(ctx)
	if err != nil {
		return nil, err
	}
	return tool.Init(ctx, filepath.Join(m.env.folder().Path, keptStore), "sha1")
}

// agentUser is a user id that no image uses.
const agentUser = 1500

func (m *machine) sandboxOptions(ctx context.Context) confine.Options {
	in := m.inputs
	return confine.Options{
		Cache:            in.Cache,
		Level:            in.Sandbox.Level,
		UID:              agentUser,
		GID:              agentUser,
		Self:             m.self,
		Exec:             m.exec,
		Env:              m.env.tools(),
		WorkDirs:         []string{m.env.folder().Path},
		NoProgramDirs:    []string{m.env.workspace},
		Private:          m.env.runnerFolders(),
		Needs:            in.Needs,
		Network:          in.Sandbox.Network,
		Model:            confine.Model{Models: in.Sandbox.Models, KeyInAgent: in.Sandbox.KeyInAgent},
		BlockedAddresses: m.githubAddresses(ctx),
	}
}

// githubAddresses returns GitHub's addresses: only an attempt shows whether another sandbox stands.
func (m *machine) githubAddresses(ctx context.Context) []string {
	server, err := url.Parse(m.env.serverURL)
	if m.inputs.Sandbox.Level != sandbox.External || err != nil {
		return nil
	}
	name, err := egress.ParseName(server.Host)
	if err != nil { // an address: there is nothing to look up
		return egress.Anywhere()
	}
	return egress.Beyond(ctx, name)
}

// findAgents finds the agent, and the reviewer if the policy wants one, and what their sandbox is made of.
func (m *machine) findAgents(ctx context.Context, p policy.Policy) (job.Found, error) {
	worker, err := job.Find(m.inputs.AgentName, m.agentOptions(), m.env.forAgent, m.env.workspace)
	if err != nil {
		return job.Found{}, err
	}
	own := m.inputs.Agent
	options := agent.Options{Keys: own.Keys, NeedKey: own.NeedKey, Prices: own.Prices, Self: m.self}
	reviewer, err := job.FindSecond(p.Review, options, m.env.forAgent, m.env.workspace)
	return job.Found{
		Agent:    worker,
		Reviewer: reviewer,
		Policy:   p,
		Sandbox:  m.sandboxOptions(ctx),
		CheckEnv: func(*confine.Sandbox) []string { return worker.Env },
	}, err
}

func (m *machine) agentOptions() agent.Options {
	o := m.inputs.Agent
	o.Self = m.self
	if m.inputs.AgentName == "scripted" {
		o.Script = m.env.get("RALPH_SCRIPT")
	}
	return o
}

const noSandbox = "sandbox level none: the agent and the checks can do everything that this job can"

// proofSandbox has no agent and no model.
func (m *machine) proofSandbox(ctx context.Context) (*confine.Sandbox, error) {
	options := m.sandboxOptions(ctx)
	options.Model = confine.Model{}
	sb, err := confine.Start(ctx, options)
	m.sandbox = sb
	if err != nil {
		return sb, err
	}
	m.log.say(sb.Description(noSandbox))
	return sb, nil
}

func (m *machine) closeSandbox() {
	if err := m.sandbox.Close(); err != nil {
		m.log.say("could not clean up the sandbox: " + fault.Told(err))
	}
}

// kept returns where jobs keep the results of checks at a base, for a period: in the folder that actions/cache
// restores and saves. GitHub lets a pull request read the cache of the default branch, and not write it. Jobs keep none
// without a sandbox, or if the checks depend on more than files.
func (m *machine) kept(sb *confine.Sandbox, period string, write bool) checkout.Kept {
	needs := m.inputs.Needs
	if sb == nil || m.inputs.Cache == "" || len(needs.Services)+len(needs.Secrets) > 0 {
		return checkout.Kept{}
	}
	network := m.inputs.Sandbox.Network
	network.Upstream = "" // may hold a password
	return checkout.Kept{
		Dir:      filepath.Join(m.inputs.Cache, "baselines"),
		ReadOnly: !write,
		Self:     m.self,
		With:     fmt.Sprintf("%s %s %q %+v", m.version, period, m.env.image(), network),
	}
}

// trustVariables name files of what the job's programs outside of the sandbox trust.
var trustVariables = []string{
	"SSL_CERT_FILE",
	"SSL_CERT_DIR",
	"NODE_EXTRA_CA_CERTS",
}

// findPaths finds the paths of inputs and variables. It refuses what git tracks in the workspace,
// and links: the checkout may be a pull request's.
func (m *machine) findPaths(ctx context.Context) error {
	for _, path := range []*string{&m.inputs.Cache, &m.inputs.Sandbox.Network.Bundle} {
		if *path != "" && !filepath.IsAbs(*path) {
			*path = filepath.Join(m.env.workspace, *path)
		}
	}
	if err := m.checkPath(ctx, "the input cache", m.inputs.Cache); err != nil {
		return err
	}
	for _, name := range trustVariables {
		for _, path := range filepath.SplitList(m.env.get(name)) {
			if err := m.checkPath(ctx, "the variable "+name, path); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkPath refuses a path that leads to what the checkout brought.
func (m *machine) checkPath(ctx context.Context, name, path string) error {
	if path == "" {
		return nil
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	fromCheckout, err := m.isFromCheckout(ctx, path)
	if err != nil || fromCheckout {
		return fault.Usage(name+" names what comes with the checkout, which may be a pull request's: "+path,
			"name what no commit has, such as what an earlier step writes", err)
	}
	return nil
}

// isFromCheckout reports a path that git tracks in the workspace, or that leads through a link in it.
func (m *machine) isFromCheckout(ctx context.Context, path string) (bool, error) {
	top, err := filepath.EvalSymlinks(m.env.workspace)
	if err != nil {
		return false, err
	}
	target, err := untrusted.Resolve(path, func(link string) bool { return process.Under(top, link) })
	if errors.Is(err, untrusted.ErrTheirLink) {
		return true, nil
	}
	if err == nil && process.Under(top, target) {
		tool := git.Git{Run: m.exec, Path: m.env.path(), Home: os.DevNull}
		return tool.Tracks(ctx, target)
	}
	return false, nil // nothing is there, or it is outside of the workspace
}
