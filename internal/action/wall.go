package action

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/egress"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/job"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/sandbox"
)

// inside is who the agent and the checks are, where we are root. No image
// gives anything to a user of that number.
const inside = 1500

// where tells of tools, and of nothing else that is the runner's.
var where = []string{"PATH", "HOME", "GOROOT", "RUNNER_TOOL_CACHE", "AGENT_TOOLSDIRECTORY"}

// mirrors are the variables by which a machine's people have packages come from
// elsewhere. One that holds a password is nobody's inside.
var mirrors = []string{
	"GOPROXY", "GOSUMDB", "GOPRIVATE", "GONOSUMDB", "GONOPROXY", "NPM_CONFIG_REGISTRY", "npm_config_registry", "YARN_NPM_REGISTRY_SERVER",
	"PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL",
}

func (v *visit) mirror(name string) string {
	if value := v.Getenv(name); slices.Contains(mirrors, name) && !strings.Contains(value, "@") {
		return value
	}
	return ""
}

// raise has the wall stand before anything is spent.
func (v *visit) raise(ctx context.Context, adapter agent.Adapter, program string, second *job.Second, p policy.Policy) (*job.Wall, error) {
	var env []string
	for _, name := range where {
		if value := v.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	in := v.inputs
	beyond, err := v.beyond(ctx)
	if err != nil {
		return nil, err
	}
	budget := agent.Budget{USD: p.Limits.CostUSD, Tokens: p.Limits.Tokens}
	read, _ := second.Needs() // nobody is at home in a job
	return job.Raise(ctx, job.WallAsked{
		Level: in.Wall.Level, Strict: true, Beyond: beyond, UID: inside, GID: inside, Self: v.Self, Exec: v.Exec, Env: env,
		Read: append(read, job.Program(program, adapter)...), Reach: []string{v.env.folder()}, Apart: []string{v.env.Workspace},
		Network: v.network(),
		Model: job.ModelAsked{
			Agent: adapter.Name, Name: p.Model, Models: in.Wall.Models, Keys: in.Agent.Keys, Hosts: adapter.Hosts, KeyInAgent: in.Wall.KeyInAgent,
			Budget: budget, Prices: in.Agent.Prices,
		},
		Review: second.Model(budget, in.Wall.Models),
	})
}

// network is the inputs' with their file where it lies: in the workspace.
func (v *visit) network() job.Network {
	n := v.inputs.Wall.Network
	if n.Bundle != "" && !filepath.IsAbs(n.Bundle) {
		n.Bundle = filepath.Join(v.env.Workspace, n.Bundle)
	}
	return n
}

// git reaches GitHub as the network wants it: a server at home without the
// company's proxy, and with all certificates in one file.
func (v *visit) git(home string) (git.Git, error) {
	tool, network := git.Git{Run: v.Exec, Path: v.Getenv("PATH"), Home: home}, v.network()
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
	tool.CA = filepath.Join(home, "certificates.pem")
	return tool, network.Trust(tool.CA)
}

// beyond are the addresses of GitHub, where nothing but an attempt to get there
// shows whether somebody else's wall stands.
func (v *visit) beyond(ctx context.Context) ([]string, error) {
	at, err := url.Parse(v.env.ServerURL)
	if v.inputs.Wall.Level != sandbox.External || err != nil {
		return nil, nil //nolint:nilerr // it was read before
	}
	n, err := egress.ParseName(at.Host)
	if err != nil { // an address: then there is nothing to look up, and nothing to try
		return nil, nil //nolint:nilerr // which the wall has to say
	}
	return egress.Beyond(ctx, n)
}

// lower ends the wall, on every way out.
func (v *visit) lower(w *job.Wall) {
	if err := w.Close(); err != nil {
		v.say("the wall was not cleared away: " + err.Error())
	}
}

// home is an empty folder for git, which runs inside as well.
func (v *visit) home() (string, error) {
	home := filepath.Join(v.env.folder(), "home")
	return home, os.MkdirAll(home, 0o755)
}
