package config

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/confine"
	"github.com/ralph-loop/ralph/internal/egress"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/jsontree"
	"github.com/ralph-loop/ralph/internal/sandbox"
)

// OrgPolicy has the limits of an organisation for all its repositories.
type OrgPolicy struct {
	// Address of this file's schema, for editors.
	Schema string `json:"$schema"`
	// Limit of the dollars that a run may spend.
	MaxCost float64 `json:"maxCost" jsonschema:"minimum=0,maximum=1000000000"`
	// Limit of the dollars that all runs of a repository may spend in a day.
	MaxCostPerDay float64 `json:"maxCostPerDay" jsonschema:"minimum=0,maximum=1000000000"`
	// Weakest level of the sandbox that is allowed.
	Sandbox sandbox.Level `json:"sandbox" jsonschema:"enum=namespace,enum=notify,enum=none"`
	// Names of allowed agents; "command" allows any program.
	Agents []string `json:"agents"`
	// Exact names of allowed hosts, besides the model's default host and package registries; an empty list allows none.
	AllowDomains []string `json:"allowDomains"`
}

// OrgPolicyFile is the path of the policy in the organisation's repository OrgPolicyRepo.
const (
	OrgPolicyFile = "ralph.json"
	OrgPolicyRepo = ".github"
)

// ReadOrgPolicy reads a policy. Anything unknown is an error, as it may be a limit.
func ReadOrgPolicy(owner string, data []byte) (OrgPolicy, error) {
	d := newDecoder()
	var f OrgPolicy
	root, ok := d.parseJSON(File{Name: orgPolicyName(owner), Data: data})
	at := jsontree.At{Node: root}
	if ok {
		d.Decode(at, &f)
	}
	for _, m := range root.Members {
		if m.Value.Kind == jsontree.Null {
			null, _ := at.Member(m.Key)
			d.Report(null, "found null, want a value")
		}
	}
	return f, d.fault()
}

func orgPolicyName(owner string) string { return OrgPolicyFile + " in " + owner + "/" + OrgPolicyRepo }

func strength(level sandbox.Level) int {
	return slices.Index([]sandbox.Level{sandbox.None, sandbox.Notify, sandbox.Namespace}, level)
}

// Enforce lowers numbers to the policy, and returns notes about them. Other inputs that exceed it are an error.
func (f OrgPolicy) Enforce(owner string, in *Inputs) (notes []string, err error) {
	lower := func(name string, value *float64, most float64) {
		if most > 0 && (*value == 0 || *value > most) {
			*value = most
			notes = append(notes, fmt.Sprintf("%s is lowered to %g, the limit of %s", name, most, orgPolicyName(owner)))
		}
	}
	lower("max-cost", &in.Policy.Limits.CostUSD, f.MaxCost)
	lower("max-cost-per-day", &in.Quota.USD, f.MaxCostPerDay)
	in.Quota.Must = f.MaxCostPerDay > 0
	breaches := slices.Concat(f.refusedAgents(*in), f.refusedHosts(*in), f.refusedLevel(in))
	if len(breaches) == 0 {
		return notes, nil
	}
	return notes, fault.Usage("the workflow asks for more than "+owner+" allows: "+strings.Join(breaches, "; "),
		"remove it from the workflow, or allow it in "+orgPolicyName(owner), nil)
}

// refusedAgents returns the agents that are not allowed. An agent command can be any program.
func (f OrgPolicy) refusedAgents(in Inputs) []string {
	requests := []request{{"agent", []string{agent.NameOf(in.AgentName, in.Agent.Command)}}, {"review-agent", []string{in.Policy.Review.Agent}}}
	if in.Agent.Command != "" {
		requests = append(requests, request{"agent-command", []string{"command"}})
	}
	return refused(f.Agents, requests)
}

func (f OrgPolicy) refusedHosts(in Inputs) []string {
	return refused(f.AllowDomains, []request{
		{"allow-domains", in.Sandbox.Network.Allow},
		{"setup-domains", in.Sandbox.Network.Setup},
		{"private-hosts", in.Sandbox.Network.Private},
		{"services", remoteServices(in.Needs.Services)},
		{"model-base-url", modelHost(in.Agent.Keys.ModelBaseURL)},
	})
}

// request has the values of an input of the workflow.
type request struct {
	input  string
	values []string
}

// refused returns the values that are not allowed. A policy without the list allows all.
func refused(allowed []string, requests []request) (values []string) {
	for _, r := range requests {
		for _, value := range r.values {
			if allowed != nil && value != "" && !slices.ContainsFunc(allowed, func(name string) bool { return strings.EqualFold(name, value) }) {
				values = append(values, r.input+" "+value)
			}
		}
	}
	return values
}

func remoteServices(services []egress.Name) (hosts []string) {
	for _, n := range services {
		if address, err := netip.ParseAddr(n.Host); n.Host != "localhost" && (err != nil || !address.IsLoopback()) {
			hosts = append(hosts, n.Entry())
		}
	}
	return hosts
}

func modelHost(base string) []string {
	if base == "" {
		return nil
	}
	address, err := url.Parse(base)
	if err != nil || address.Host == "" {
		return []string{"not an address"}
	}
	return []string{strings.TrimSuffix(address.Host, ":443")}
}

// refusedLevel returns a level that is too weak. Auto and external are at least notify: external has to
// withstand the same attacks.
func (f OrgPolicy) refusedLevel(in *Inputs) []string {
	level := in.Sandbox.Level
	switch {
	case f.Sandbox == "" || f.Sandbox == sandbox.None:
		return nil
	case level == sandbox.Auto:
		if f.Sandbox == sandbox.Namespace {
			in.Sandbox.Level = sandbox.Namespace
		}
		return nil
	case level == sandbox.External:
		level = sandbox.Notify
	}
	if strength(level) < strength(f.Sandbox) {
		return []string{"sandbox " + string(in.Sandbox.Level)}
	}
	return nil
}

// Confinement has the inputs for the sandbox.
type Confinement struct {
	Level      sandbox.Level
	KeyInAgent bool     // an agent whose traffic cannot go through ralph's model server may have its key
	Models     []string // models that are allowed besides the run's own
	Network    confine.Network
}

const keyInAgentWord = "key-in-agent"

func (r *reader) confinement() Confinement {
	w := Confinement{Level: sandbox.Auto, Models: r.models("allow-models"), Network: confine.Network{
		Packages: true,
		Allow:    r.hosts("allow-domains"), Setup: r.hosts("setup-domains"), Private: r.hosts("private-hosts"), Upstream: r.get("https-proxy"), Bundle: r.get("ca-bundle"),
	}}
	levels := 0
	for _, word := range r.list("sandbox") {
		switch level := sandbox.Level(word); {
		case word == keyInAgentWord:
			w.KeyInAgent = true
		case !level.Known():
			r.addError("sandbox", fmt.Errorf("%q is not one of %s", word, strings.Join(sandbox.Names(keyInAgentWord), ", ")))
		default:
			w.Level = level
			levels++
		}
	}
	if levels > 1 {
		r.addError("sandbox", fmt.Errorf("%q names more than one level", r.get("sandbox")))
	}
	if w.Network.Upstream != "" {
		_, err := egress.ParseUpstream(w.Network.Upstream)
		r.addError("https-proxy", err)
	}
	return w
}

// Secrets returns what must be hidden: the address of a company's proxy can have a password.
func (w Confinement) Secrets() []string {
	upstream, err := egress.ParseUpstream(w.Network.Upstream)
	if err != nil || upstream.User == nil {
		return nil
	}
	password, _ := upstream.User.Password()
	return []string{password, w.Network.Upstream}
}

func (r *reader) models(name string) []string {
	all, err := egress.ParseModels(r.list(name))
	r.addError(name, err)
	return all
}

func (r *reader) hosts(name string) []string {
	all := r.list(name)
	_, err := egress.ParseNames(all)
	r.addError(name, err)
	return slices.Compact(all)
}
