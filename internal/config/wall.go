package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/confine"
	"github.com/ralph-loop/ralph/internal/egress"
	"github.com/ralph-loop/ralph/internal/sandbox"
)

// Wall is what the inputs say of the wall.
type Wall struct {
	Level      sandbox.Level
	KeyInAgent bool     // an agent that no server can stand before may hold its key
	Models     []string // that may be asked for besides the run's own
	Network    confine.Network
}

// keyInAgent is the word of `sandbox` by which somebody accepts that.
const keyInAgent = "key-in-agent"

// wall reads the inputs that say what confines the agent.
func (r *reader) wall() Wall {
	w := Wall{Level: sandbox.Auto, Models: r.models("allow-models"), Network: confine.Network{
		Packages: true,
		Allow:    r.hosts("allow-domains"), Setup: r.hosts("setup-domains"), Private: r.hosts("private-hosts"), Upstream: r.get("https-proxy"), Bundle: r.get("ca-bundle"),
	}}
	levels := 0
	for _, word := range r.list("sandbox") {
		switch level := sandbox.Level(word); {
		case word == keyInAgent:
			w.KeyInAgent = true
		case !level.Known():
			r.note("sandbox", fmt.Errorf("%q is none of %s", word, strings.Join(sandbox.Names(keyInAgent), ", ")))
		default:
			w.Level = level
			levels++
		}
	}
	if levels > 1 {
		r.note("sandbox", fmt.Errorf("%q names more than one level", r.get("sandbox")))
	}
	if w.Network.Upstream != "" {
		_, err := egress.ParseUpstream(w.Network.Upstream)
		r.note("https-proxy", err)
	}
	return w
}

// Secrets are what nobody may see of it: a company's proxy has a password.
func (w Wall) Secrets() []string {
	upstream, err := egress.ParseUpstream(w.Network.Upstream)
	if err != nil || upstream.User == nil {
		return nil
	}
	password, _ := upstream.User.Password()
	return []string{password, w.Network.Upstream}
}

// models are the names of an input, or patterns of them.
func (r *reader) models(name string) []string {
	all, err := egress.ParseModels(r.list(name))
	r.note(name, err)
	return all
}

// hosts are the exact names of an input.
func (r *reader) hosts(name string) []string {
	all := r.list(name)
	_, err := egress.ParseNames(all)
	r.note(name, err)
	return slices.Compact(all)
}
