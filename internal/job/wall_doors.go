package job

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/egress"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/price"
	"github.com/ralph-loop/ralph/internal/stream"
)

// Network is what those behind the wall may reach.
type Network struct {
	Any      bool     // every public host by its name
	Packages bool     // where the project's packages come from
	Allow    []string // these, beside the model's
	Private  []string // of hosts at home
	Upstream string   // a company's proxy; empty: none
	Bundle   string   // a file of certificates to trust besides; empty: none
}

// ModelAsked is the model that the agent will ask, and with what.
type ModelAsked struct {
	Agent      string
	Name       string // of the model
	Keys       agent.Keys
	Hosts      []string // of an agent that goes there by itself
	KeyInAgent bool     // it may hold its key where nobody else can
	Budget     agent.Budget
	Prices     map[string]price.Rate
}

// doors are the two ways out, served for as long as the wall stands.
type doors struct {
	proxy, model egress.Door
	proxied      *egress.Proxy
	route        egress.Route
	packages     bool
	keys, review agent.Keys // for the agent, and for who gives a second opinion
	bundle       string     // the certificates that those inside trust
	exhausted    func() bool

	stop   context.CancelFunc
	served sync.WaitGroup
	mu     sync.Mutex
	failed error
	spent  stream.Spent
}

func (w *Wall) open(ctx context.Context, asked WallAsked) error {
	route, err := w.route(asked.Network)
	if err != nil {
		return err
	}
	allow, err := egress.ParseNames(asked.Network.Allow)
	if err != nil {
		return err
	}
	d := &w.doors
	d.keys = asked.Model.Keys
	who := []asker{{asked.Model, &d.keys, nil}}
	if asked.Review != nil {
		d.review = asked.Review.Keys
		who = append(who, asker{*asked.Review, &d.review, nil})
	}
	for i := range who {
		hosts, err := w.askedBy(&who[i], asked.Home == "")
		if err != nil {
			return err
		}
		allow = append(allow, hosts...)
	}
	d.route, d.packages = route, asked.Network.Packages && !asked.Network.Any
	ctx, d.stop = context.WithCancel(context.WithoutCancel(ctx))
	if d.proxy, err = egress.Listen(ctx); err != nil {
		return err
	}
	d.proxied = &egress.Proxy{Allow: allow, Any: asked.Network.Any, Route: route, Refused: w.refused(asked)}
	d.serve(func() error { return d.proxied.Serve(ctx, d.proxy) })
	if !slices.ContainsFunc(who, func(a asker) bool { return len(a.makers) > 0 }) {
		return nil
	}
	return w.openModel(ctx, asked, who, route)
}

// asker is an agent that asks a model, with the keys that it gets.
type asker struct {
	ModelAsked
	keys   *agent.Keys
	makers []agent.Maker // whose keys the wall holds for it
}

// askedBy finds whom an agent asks, and the hosts of one that goes there by itself.
func (w *Wall) askedBy(who *asker, strict bool) ([]egress.Name, error) {
	var err error
	if who.makers, err = w.makers(who, strict); err != nil || len(who.makers) > 0 {
		return nil, err
	}
	return egress.ParseNames(who.Hosts)
}

// openModel has the keys stay outside.
func (w *Wall) openModel(ctx context.Context, asked WallAsked, who []asker, route egress.Route) (err error) {
	d, token := &w.doors, "ralph-"+rand.Text()
	if d.model, err = egress.Listen(ctx); err != nil {
		return err
	}
	model := &egress.Model{
		Token: egress.Secret(token), Budget: egress.Budget(asked.Model.Budget), Prices: asked.Model.Prices,
		Transport: route.Transport(), Refused: w.refused(asked), Spent: d.count,
	}
	for _, m := range all(who) {
		maker := egress.Maker{Dialect: egress.Dialect(m.API), Key: egress.Secret(m.Key), Bearer: m.Bearer}
		if m.Base != "" {
			if maker.Base, err = url.Parse(m.Base); err != nil || maker.Base.Host == "" {
				return fault.Usage("cannot read the address of the model's server", "give model-base-url as https://host, without a name or password", nil)
			}
		}
		model.Makers = append(model.Makers, maker)
	}
	d.exhausted = model.Exhausted
	for _, a := range who {
		if len(a.makers) > 0 {
			*a.keys = a.Keys.Behind(a.makers, fmt.Sprintf("http://127.0.0.1:%d", d.model.Port), token)
		}
	}
	d.serve(func() error { return model.Serve(ctx, d.model) })
	return nil
}

// all are the makers of several agents, each once.
func all(who []asker) []agent.Maker {
	var makers []agent.Maker
	for _, a := range who {
		for _, m := range a.makers {
			if !slices.Contains(makers, m) {
				makers = append(makers, m)
			}
		}
	}
	return makers
}

// makers are those whose keys the wall holds; none where the agent goes by a
// login, or by a key that only it can hold. Strict refuses the latter.
func (w *Wall) makers(m *asker, strict bool) ([]agent.Maker, error) {
	if m.KeyInAgent || !m.Keys.Any() {
		return nil, nil
	}
	makers, can := m.Keys.Makers(m.Agent, m.Name)
	switch {
	case can && len(makers) == 0: // keys that are of no use to it
		*m.keys = agent.Keys{ModelBaseURL: m.Keys.ModelBaseURL}
	case !can && strict:
		return nil, fault.Usage(fmt.Sprintf("the agent %s cannot be pointed at a server that holds its key", m.Agent),
			"let it hold the key itself, if whatever it runs may know it: sandbox: key-in-agent", nil)
	case !can:
		w.notes = append(w.notes, journal.Noted{
			What: fmt.Sprintf("the agent %s holds its key itself: whatever it runs may know it", m.Agent),
		})
	}
	return makers, nil
}

// Keys are what the agent gets.
func (w *Wall) Keys(keys agent.Keys) agent.Keys {
	if w == nil {
		return keys
	}
	return w.doors.keys
}

// ReviewKeys are what the agent gets that is asked for a second opinion.
func (w *Wall) ReviewKeys(keys agent.Keys) agent.Keys {
	if w == nil {
		return keys
	}
	return w.doors.review
}

// route is how the outside is reached from outside.
func (w *Wall) route(n Network) (route egress.Route, err error) {
	if route.Private, err = egress.ParseNames(n.Private); err != nil {
		return route, err
	}
	if n.Upstream != "" {
		if route.Upstream, err = egress.ParseUpstream(n.Upstream); err != nil {
			return route, err
		}
	}
	if n.Bundle == "" {
		return route, nil
	}
	text, err := os.ReadFile(n.Bundle)
	if err != nil {
		return route, fault.Usage("cannot read the CA bundle "+n.Bundle, "name a file of certificates in ca-bundle", err)
	}
	if route.Roots, err = egress.Roots(text); err != nil {
		return route, err
	}
	return route, w.trust(text)
}

// systems are where machines keep the certificates that they trust.
var systems = []string{"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"}

// trust lays out the machine's certificates and those of a bundle as one file:
// most programs trust one file and no other.
func (w *Wall) trust(bundle []byte) error {
	var all []byte
	for _, name := range systems {
		if text, err := os.ReadFile(name); err == nil {
			all = append(text, '\n')
			break
		}
	}
	w.doors.bundle = filepath.Join(w.rooms.dir, "certificates.pem")
	w.base.Read = append(slices.Clone(w.base.Read), w.doors.bundle)
	if err := os.WriteFile(w.doors.bundle, append(all, bundle...), 0o644); err != nil { //nolint:gosec // those inside read it
		return fmt.Errorf("lay out the certificates: %w", err)
	}
	return nil
}

// refused hears of refusals. What would allow one is said in the words of
// whoever asked for the wall.
func (w *Wall) refused(asked WallAsked) func(egress.Refusal) {
	return func(r egress.Refusal) {
		event := journal.EgressRefused{What: r.What, Why: r.Why, Input: r.Input}
		if asked.Home != "" {
			event.Input = ""
			if host, is := strings.CutPrefix(r.Input, "allow-domains: "); is {
				event.Input = fmt.Sprintf(`"sandbox": {"allowDomains": [%q]}`, host)
			}
		}
		w.hear(event)
	}
}

func (d *doors) serve(serve func() error) {
	d.served.Go(func() {
		err := serve()
		d.mu.Lock()
		defer d.mu.Unlock()
		d.failed = errors.Join(d.failed, err)
	})
}

func (d *doors) ports() []int {
	ports := []int{d.proxy.Port}
	if d.model.Port != 0 {
		ports = append(ports, d.model.Port)
	}
	return ports
}

// env tells programs of the way out, in all the words that they know.
func (d *doors) env() []string {
	proxy := fmt.Sprintf("http://127.0.0.1:%d", d.proxy.Port)
	env := []string{"NODE_USE_ENV_PROXY=1"}
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		env = append(env, name+"="+proxy)
	}
	const local = "localhost,127.0.0.1,::1"
	env = append(env, "NO_PROXY="+local, "no_proxy="+local)
	if d.bundle == "" {
		return env
	}
	for _, name := range []string{
		"SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "PIP_CERT", "CARGO_HTTP_CAINFO",
	} {
		env = append(env, name+"="+d.bundle)
	}
	return env
}

// count takes the sum of what was used of the model so far.
func (d *doors) count(spent stream.Spent) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.spent = spent
}

// used is that sum, and whether there is no more of the budget.
func (w *Wall) used() (spent stream.Spent, exhausted bool) {
	if w == nil || w.doors.exhausted == nil {
		return spent, false
	}
	w.doors.mu.Lock()
	defer w.doors.mu.Unlock()
	return w.doors.spent, w.doors.exhausted()
}

func (d *doors) close() error {
	if d.stop == nil {
		return nil
	}
	d.stop()
	d.served.Wait()
	for _, door := range []egress.Door{d.proxy, d.model} {
		if door.Listener != nil {
			_ = door.Close() // who served it has done so
		}
	}
	return d.failed
}
