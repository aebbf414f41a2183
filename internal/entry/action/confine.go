package action

import (
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/box/confine"
	"github.com/ralph-loop/ralph/internal/box/egress"
	"github.com/ralph-loop/ralph/internal/box/sandbox"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/lib/untrusted"
)

// agentUser is a user id that no image uses.
const agentUser = 1500

// toolVariables name where tools are, and nothing else of the runner.
var toolVariables = []string{"PATH", "HOME", "GOROOT", "RUSTUP_HOME", "RUNNER_TOOL_CACHE", "AGENT_TOOLSDIRECTORY"}

func (h *machine) sandboxOptions(ctx context.Context) confine.Options {
	var env []string
	for _, name := range toolVariables {
		if value := h.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	in := h.inputs
	return confine.Options{
		Cache:   in.Cache,
		Level:   in.Sandbox.Level,
		UID:     agentUser,
		GID:     agentUser,
		Self:    h.Self,
		Exec:    h.Exec,
		Env:     env,
		Reach:   []string{h.env.folder()},
		Apart:   []string{h.env.Workspace},
		Private: h.runnerFolders(),
		Needs:   in.Needs,
		Network: in.Sandbox.Network,
		Model:   confine.Model{Models: in.Sandbox.Models, KeyInAgent: in.Sandbox.KeyInAgent},
		Beyond:  h.githubAddresses(ctx),
	}
}

// runnerFolders returns the runner's folders. A file of its installation marks them.
func (h *machine) runnerFolders() []string {
	temp := h.Getenv("RUNNER_TEMP")
	all := []string{temp, h.Getenv("RUNNER_WORKSPACE"), filepath.Dir(h.Getenv("GITHUB_EVENT_PATH"))}
	for dir := temp; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".runner")); err == nil {
			all = append(all, dir)
		}
	}
	return all
}

// trustVariables name files of what the job's programs outside of the sandbox trust.
var trustVariables = []string{
	"SSL_CERT_FILE",
	"SSL_CERT_DIR",
	"NODE_EXTRA_CA_CERTS",
	"OTEL_EXPORTER_OTLP_CERTIFICATE",
	"OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE",
}

// findPaths finds the paths of inputs and variables. It refuses what git tracks in the workspace,
// and links: the checkout may be a pull request's.
func (h *machine) findPaths(ctx context.Context) error {
	for _, path := range []*string{&h.inputs.Cache, &h.inputs.Sandbox.Network.Bundle} {
		if *path != "" && !filepath.IsAbs(*path) {
			*path = filepath.Join(h.env.Workspace, *path)
		}
	}
	if err := h.checkPath(ctx, "the input cache", h.inputs.Cache); err != nil {
		return err
	}
	for _, name := range trustVariables {
		for _, path := range filepath.SplitList(h.Getenv(name)) {
			if err := h.checkPath(ctx, "the variable "+name, path); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkPath refuses a path that leads to what the checkout brought.
func (h *machine) checkPath(ctx context.Context, name, path string) error {
	if path == "" {
		return nil
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	fromCheckout, err := h.isFromCheckout(ctx, path)
	if err != nil || fromCheckout {
		return fault.Usage(name+" names what comes with the checkout, which may be a pull request's: "+path,
			"name what no commit has, such as what an earlier step writes", err)
	}
	return nil
}

// isFromCheckout reports a path that git tracks in the workspace, or that leads through a link in it.
func (h *machine) isFromCheckout(ctx context.Context, path string) (bool, error) {
	top, err := filepath.EvalSymlinks(h.env.Workspace)
	if err != nil {
		return false, err
	}
	target, err := untrusted.Resolve(path, func(link string) bool { return process.Under(top, link) })
	if errors.Is(err, untrusted.ErrTheirLink) {
		return true, nil
	}
	if err == nil && process.Under(top, target) {
		tool := git.Git{Run: h.Exec, Path: h.path(), Home: os.DevNull}
		return tool.Tracks(ctx, target)
	}
	return false, nil // nothing is there, or it is outside of the workspace
}

// path is where programs outside of the sandbox are found: not in the workspace, which may hold a pull request's.
func (h *machine) path() string {
	return process.PathOutside(h.Getenv("PATH"), []string{h.env.Workspace})
}

// git returns a git with a version that works. It reaches GitHub as the network's settings say.
func (h *machine) git(ctx context.Context) (git.Git, error) {
	home := filepath.Join(h.env.folder(), gitHome) // empty: git runs inside as well
	if err := os.MkdirAll(home, 0o755); err != nil {
		return git.Git{}, fault.Usage("cannot write to "+h.env.folder(), "make the workspace writable", err)
	}
	tool := git.Git{Run: h.Exec, Path: h.path(), Home: home}
	if _, err := tool.Version(ctx); err != nil {
		return tool, err
	}
	address, err := url.Parse(h.clone())
	if err != nil {
		return tool, err
	}
	if h.route.ProxyFor(address) != nil {
		tool.Proxy = h.inputs.Sandbox.Network.Upstream
	}
	tool.CA = h.inputs.Sandbox.Network.Bundle
	return tool, nil
}

// githubAddresses returns GitHub's addresses: only an attempt shows whether another sandbox stands.
func (h *machine) githubAddresses(ctx context.Context) []string {
	server, err := url.Parse(h.env.ServerURL)
	if h.inputs.Sandbox.Level != sandbox.External || err != nil {
		return nil
	}
	name, err := egress.ParseName(server.Host)
	if err != nil { // an address: there is nothing to look up
		return egress.Anywhere()
	}
	return egress.Beyond(ctx, name)
}

func (h *machine) closeSandbox(sb *confine.Sandbox) {
	if err := sb.Close(); err != nil {
		h.say("could not clean up the sandbox: " + fault.Told(err))
	}
}

// gitHome and keptStore lie in the project's folder, and are new in each job.
const (
	gitHome   = "home"
	keptStore = "kept.git"
)
