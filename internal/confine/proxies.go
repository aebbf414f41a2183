package confine

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/egress"
	"github.com/ralph-loop/ralph/internal/journal"
)

type servers struct {
	services     []netip.AddrPort // of the project
	proxy, model egress.Listener
	setup        egress.Listener // another proxy, for what makes a folder ready
	mainProxy    *egress.Proxy
	setupProxy   *egress.Proxy // who serves setup
	modelServer  *egress.Model // nil: no key is held
	countsUsage  bool          // the key of the agent that does the work is
	route        egress.Route
	packages     bool
	keys, review agent.Keys // for the agent, and for who gives a second opinion
	certificates string     // the certificates that those inside trust

	stop   context.CancelFunc
	served sync.WaitGroup
	mu     sync.Mutex
	failed error
}

func (w *Sandbox) startServers(ctx context.Context, asked Options) error {
	route, err := asked.Network.Route()
	if err != nil {
		return err
	}
	if err := w.trust(asked.Network); err != nil {
		return err
	}
	allow, err := egress.ParseNames(asked.Network.Allow)
	if err != nil {
		return err
	}
	d := w.servers
	who := w.modelUsers(asked)
	for i := range who {
		hosts, err := w.modelHosts(&who[i], asked.Home == "")
		if err != nil {
			return err
		}
		allow = append(allow, hosts...)
	}
	d.route, d.packages = route, asked.Network.Packages && !asked.Network.Any
	ctx, d.stop = context.WithCancel(context.WithoutCancel(ctx))
	if d.proxy, err = w.listen(ctx); err != nil {
		return err
	}
	d.mainProxy = &egress.Proxy{Allow: allow, Any: asked.Network.Any, Route: route, Refused: w.refused(asked)}
	d.serve(func() error { return d.mainProxy.Serve(ctx, d.proxy) })
	if err := w.openSetup(ctx, asked); err != nil {
		return err
	}
	if !slices.ContainsFunc(who, func(a modelUser) bool { return len(a.makers) > 0 }) {
		return nil
	}
	return w.openModel(ctx, asked, who, route)
}

// openSetup serves the proxy of setup commands: it has its own list, without model servers.
func (w *Sandbox) openSetup(ctx context.Context, asked Options) error {
	d, n := w.servers, asked.Network
	if n.Setup == nil && !n.Packages {
		n.Setup = n.Allow
	}
	allow, err := egress.ParseNames(n.Setup)
	if err != nil {
		return err
	}
	if d.setup, err = w.listen(ctx); err != nil {
		return err
	}
	d.setupProxy = &egress.Proxy{
		Allow: allow, Any: n.Any && n.Setup == nil, Route: d.route, List: "setup-domains", Refused: w.refused(asked),
	}
	d.serve(func() error { return d.setupProxy.Serve(ctx, d.setup) })
	return nil
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
		if r.Sent {
			w.record(journal.Noted{What: r.What + " of a request to the model: " + r.Why})
			return
		}
		event := journal.EgressRefused{What: r.What, Why: r.Why, Input: r.Input}
		if asked.Home != "" {
			event.Input = ""
			for input, setting := range map[string]string{
				"allow-domains: ": "allowDomains", "setup-domains: ": "setupDomains", "allow-models: ": "allowModels",
			} {
				if name, is := strings.CutPrefix(r.Input, input); is {
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
	servers := []egress.Listener{d.proxy, d.model}
	if setup {
		servers = []egress.Listener{d.setup}
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
	for _, door := range []egress.Listener{d.proxy, d.setup, d.model} {
		if door.Listener != nil {
			_ = door.Close() // who served it has done so
		}
	}
	return d.failed
}
