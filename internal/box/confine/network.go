package confine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/box/egress"
	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/lib/environ"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/untrusted"
)

// Network is what those in the sandbox may reach.
type Network struct {
	Any      bool     // every public host by its name
	Packages bool     // where the project's packages come from
	Allow    []string // these, beside the model's
	Private  []string // of hosts at home
	Upstream string   // a company's proxy; empty: none
	NoProxy  string   // hosts that are reached without it, as NO_PROXY names them
	// Bundle is the file of certificates that this process trusts, for those in the sandbox; empty: the system's.
	Bundle string
}

// ByEnvironment returns n with the proxy and the certificates of the standard variables.
func (n Network) ByEnvironment(getenv func(string) string) Network {
	n.Upstream = cmp.Or(getenv("HTTPS_PROXY"), getenv("https_proxy"))
	n.NoProxy = cmp.Or(getenv("NO_PROXY"), getenv("no_proxy"))
	n.Bundle = getenv("SSL_CERT_FILE")
	return n
}

// Secrets returns what must be hidden: the address of a company's proxy can have a password.
func (n Network) Secrets() []string {
	upstream, err := egress.ParseUpstream(n.Upstream)
	if err != nil || upstream.User == nil {
		return nil
	}
	password, _ := upstream.User.Password()
	return []string{password, n.Upstream}
}

// Route returns how the outside is reached from outside.
func (n Network) Route() (egress.Route, error) {
	private, err := egress.ParseNames(n.Private)
	if err != nil {
		return egress.Route{}, err
	}
	route := egress.Route{Private: private, NoProxy: n.NoProxy}
	if n.Upstream == "" {
		return route, nil
	}
	route.Upstream, err = egress.ParseUpstream(n.Upstream)
	return route, err
}

const mostTrusted = 64 << 20

// trust copies the certificates to where those in the sandbox can read them.
func (w *Sandbox) trust(n Network) error {
	if n.Bundle == "" {
		return nil
	}
	text, err := untrusted.ReadFile(n.Bundle, mostTrusted)
	if err != nil {
		return fault.Usage("cannot read the certificates in "+n.Bundle,
			"name a file of certificates in SSL_CERT_FILE", err)
	}
	w.servers.certificates = filepath.Join(w.folders.dir, "certificates.pem")
	w.base.Read = append(slices.Clone(w.base.Read), w.servers.certificates)
	return untrusted.WriteFile(w.servers.certificates, text, 0o644)
}

func (d *servers) env() []string {
	proxy := fmt.Sprintf("http://127.0.0.1:%d", d.proxy.Port)
	env := append([]string{"NODE_USE_ENV_PROXY=1"}, environ.WithoutUpdates...)
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		env = append(env, name+"="+proxy)
	}
	const local = "localhost,127.0.0.1,::1"
	env = append(env, "NO_PROXY="+local, "no_proxy="+local)
	if d.certificates == "" {
		return env
	}
	for _, name := range environ.Certificates {
		env = append(env, name+"="+d.certificates)
	}
	return env
}

type servers struct {
	services     []netip.AddrPort // of the project
	proxy        proxy
	model        egress.Listener
	modelServer  *egress.Model // nil: no key is held
	packages     bool
	keys, review agent.Keys // for the agent, and for who gives a second opinion
	certificates string     // the certificates that those inside trust

	stop   context.CancelFunc
	served sync.WaitGroup
	mu     sync.Mutex
	failed error
}

type proxy struct {
	egress.Listener
	*egress.Proxy // nil: it is not open
}

func (w *Sandbox) startServers(ctx context.Context, asked Options) error {
	d := w.servers
	n := asked.Network
	route, err := n.Route()
	if err != nil {
		return err
	}
	if err := w.trust(n); err != nil {
		return err
	}
	users := w.modelUsers(asked)
	for i := range users {
		users[i].makers, err = w.makers(&users[i], asked.inJob())
		if err != nil {
			return err
		}
		if !users[i].isServed() {
			n.Allow = slices.Concat(n.Allow, users[i].Hosts)
		}
	}
	allow, err := egress.ParseNames(n.Allow)
	if err != nil {
		return err
	}
	d.packages = n.Packages && !n.Any
	ctx, d.stop = context.WithCancel(context.WithoutCancel(ctx))
	d.proxy.Proxy = &egress.Proxy{Allow: allow, Any: n.Any, Route: route, Refused: w.refused(asked)}
	d.proxy.Listener, err = w.listen(ctx)
	if err != nil {
		return err
	}
	d.serve(func() error { return d.proxy.Serve(ctx, d.proxy.Listener) })
	if !slices.ContainsFunc(users, modelUser.isServed) {
		return nil
	}
	return w.openModel(ctx, asked, users, route)
}

// listen opens a server of ours at a port that no service has.
func (w *Sandbox) listen(ctx context.Context) (egress.Listener, error) {
	l, err := egress.Listen(ctx)
	taken := func(at netip.AddrPort) bool { return int(at.Port()) == l.Port }
	if err != nil || !slices.ContainsFunc(w.servers.services, taken) {
		return l, err
	}
	defer func() { _ = l.Close() }() // after another was found
	return w.listen(ctx)
}

// refused translates what would allow a refused host: to an input, or to a setting on a laptop.
func (w *Sandbox) refused(asked Options) func(egress.Refusal) {
	return func(r egress.Refusal) {
		event := journal.EgressRefused{What: r.What, Why: r.Why, Input: r.Input}
		if !asked.inJob() {
			event.Input = ""
			for input, setting := range map[string]string{
				"allow-domains: ": "allowDomains", "sandbox.allowModels: ": "allowModels",
			} {
				if name, ok := strings.CutPrefix(r.Input, input); ok {
					event.Input = fmt.Sprintf(`"sandbox": {%q: [%q]}`, setting, name)
				}
			}
		}
		w.record(event)
	}
}

func (d *servers) serve(serve func() error) {
	d.served.Go(func() {
		err := serve()
		d.mu.Lock()
		defer d.mu.Unlock()
		d.failed = errors.Join(d.failed, err)
	})
}

func (d *servers) ports(setup bool) map[int]netip.AddrPort {
	servers := []egress.Listener{d.proxy.Listener}
	if !setup {
		servers = append(servers, d.model)
	}
	ports := map[int]netip.AddrPort{}
	for _, at := range d.services {
		ports[int(at.Port())] = at
	}
	for _, l := range servers {
		if l.Port != 0 {
			ports[l.Port] = l.At()
		}
	}
	return ports
}

func (d *servers) close() error {
	if d.stop == nil {
		return nil
	}
	d.stop()
	d.served.Wait()
	for _, door := range []egress.Listener{d.proxy.Listener, d.model} {
		if door.Listener != nil {
			_ = door.Close() // who served it has done so
		}
	}
	return d.failed
}
