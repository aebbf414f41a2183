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

// toolVariables tells of tools, and of nothing else that is the runner's.
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
		Cache: in.Cache,
		Level: in.Sandbox.Level, UID: agentUser, GID: agentUser, Self: h.Self, Exec: h.Exec, Env: env,
		Reach: []string{h.env.folder()}, Apart: []string{h.env.Workspace}, Private: h.runnerFolders(), Needs: in.Needs,
		Network: in.Sandbox.Network, Model: confine.Model{Models: in.Sandbox.Models, KeyInAgent: in.Sandbox.KeyInAgent}, Beyond: h.githubAddresses(ctx),
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
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "OTEL_EXPORTER_OTLP_CERTIFICATE", "OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE",
}

// findPaths finds the paths of inputs and variables. It refuses what git tracks in the workspace,
// and links: the checkout may be a pull request's.
func (h *machine) findPaths(ctx context.Context) error {
	for _, path := range []*string{&h.inputs.Cache, &h.inputs.Sandbox.Network.Bundle} {
		if *path != "" && !filepath.IsAbs(*path) {
			*path = filepath.Join(h.env.Workspace, *path)
		}
	}
	if err := h.ownPath(ctx, "the input cache", h.inputs.Cache); err != nil {
		return err
	}
	for _, name := range trustVariables {
		for _, path := range filepath.SplitList(h.Getenv(name)) {
			if err := h.ownPath(ctx, "the variable "+name, path); err != nil {
				return err
			}
		}
	}
	return nil
}

// ownPath refuses a path that leads to what the checkout brought.
func (h *machine) ownPath(ctx context.Context, name, path string) error {
	if path == "" {
		return nil
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	top, err := filepath.EvalSymlinks(h.env.Workspace)
	place, found := untrusted.Resolve(path, func(link string) bool { return process.Under(top, link) })
	tracked := errors.Is(found, untrusted.ErrTheirLink)
	if found == nil && err == nil && process.Under(top, place) {
		tool := git.Git{Run: h.Exec, Path: h.path(), Home: os.DevNull}
		tracked, err = tool.Tracks(ctx, place)
	}
	if err != nil || tracked {
		return fault.Usage(name+" names what comes with the checkout, which may be a pull request's: "+path, "name what no commit has, such as what an earlier step writes", err)
	}
	return nil
}

// path is where programs outside of the sandbox are found: not in the workspace, which may hold a pull request's.
func (h *machine) path() string {
	return process.PathOutside(h.Getenv("PATH"), []string{h.env.Workspace})
}

// git is one that will do, and reaches GitHub as the network wants it.
func (h *machine) git(ctx context.Context) (git.Git, error) {
	home := filepath.Join(h.env.folder(), gitHome) // empty: git runs inside as well
	if err := os.MkdirAll(home, 0o755); err != nil {
		return git.Git{}, fault.Usage("cannot write to "+h.env.folder(), "make the workspace writable", err)
	}
	tool := git.Git{Run: h.Exec, Path: h.path(), Home: home}
	if _, err := tool.Version(ctx); err != nil {
		return tool, err
	}
	to, err := url.Parse(h.clone())
	if err != nil {
		return tool, err
	}
	if h.route.ProxyFor(to) != nil {
		tool.Proxy = h.inputs.Sandbox.Network.Upstream
	}
	tool.CA = h.inputs.Sandbox.Network.Bundle
	return tool, nil
}

// githubAddresses returns GitHub's addresses: only an attempt shows whether another sandbox stands.
func (h *machine) githubAddresses(ctx context.Context) []string {
	at, err := url.Parse(h.env.ServerURL)
	if h.inputs.Sandbox.Level != sandbox.External || err != nil {
		return nil
	}
	n, err := egress.ParseName(at.Host)
	if err != nil { // an address: there is nothing to look up
		return egress.Anywhere()
	}
	return egress.Beyond(ctx, n)
}

func (h *machine) closeSandboxes(sandboxes ...*confine.Sandbox) {
	for _, w := range sandboxes {
		if err := w.Close(); err != nil {
			h.say("could not clean up the sandbox: " + fault.Told(err))
		}
	}
}

// gitHome and keptStore lie in the project's folder, and are new in each job.
const (
	gitHome   = "home"
	keptStore = "kept.git"
)
