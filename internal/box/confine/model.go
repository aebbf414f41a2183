package confine

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/box/egress"
	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/price"
	"github.com/ralph-loop/ralph/internal/core/stream"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/redact"
)

// Model is the model that the agent will ask, and with what.
type Model struct {
	Agent      string
	Name       string   // of the model
	Models     []string // that it may ask for besides, and besides its helpers
	Keys       agent.Keys
	Hosts      []string // of an agent that goes there by itself
	KeyInAgent bool     // the agent may hold its key if no server can
	Budget     agent.Budget
	Prices     map[string]price.Rate
}

type modelUser struct {
	Model
	keys   *agent.Keys
	makers []agent.Maker // whose keys the model server holds for it
	token  string        // that it gets in their place
}

// isServed reports an agent whose keys the model server holds.
func (u modelUser) isServed() bool { return len(u.makers) > 0 }

func (w *Sandbox) modelUsers(asked Options) []modelUser {
	d := w.servers
	d.keys = asked.Model.Keys
	users := []modelUser{{Model: asked.Model, keys: &d.keys}}
	if asked.Review != nil {
		d.review = asked.Review.Keys
		users = append(users, modelUser{Model: *asked.Review, keys: &d.review})
	}
	return users
}

func (w *Sandbox) openModel(ctx context.Context, asked Options, users []modelUser, route egress.Route) error {
	d := w.servers
	var err error
	d.model, err = w.listen(ctx)
	if err != nil {
		return err
	}
	d.modelServer = &egress.Model{
		Budget: egress.Budget(asked.Model.Budget), Prices: asked.Model.Prices,
		Transport: route.Transport(), Refused: w.refused(asked),
	}
	for i := range users {
		users[i].token = "ralph-" + rand.Text()
	}
	d.modelServer.Makers, err = serversOf(users)
	if err != nil {
		return err
	}
	for _, a := range users {
		if a.isServed() {
			*a.keys = a.Keys.ForModelServer(a.makers, fmt.Sprintf("http://127.0.0.1:%d", d.model.Port), a.token)
			a.keys.Confined = true
		}
	}
	d.serve(func() error { return d.modelServer.Serve(ctx, d.model) })
	return nil
}

// serversOf returns the makers' servers of each agent, with the models that it may ask for there, and its token.
func serversOf(users []modelUser) ([]egress.Maker, error) {
	var all []egress.Maker
	for _, a := range users {
		for _, m := range a.makers {
			maker, err := serverOf(m)
			if err != nil {
				return nil, err
			}
			maker.Models = agent.Models(a.Agent, a.Name, a.Models)
			maker.Token = redact.Secret(a.token)
			all = append(all, maker)
		}
	}
	return all, nil
}

func serverOf(m agent.Maker) (egress.Maker, error) {
	maker := egress.Maker{Dialect: egress.Dialect(m.API), Key: redact.Secret(m.Key), Bearer: m.Bearer}
	if m.Base == "" {
		return maker, nil
	}
	var err error
	maker.Base, err = url.Parse(m.Base)
	// No password is allowed: answers are searched for the key alone.
	if err != nil || maker.Base.Host == "" || maker.Base.User != nil {
		return maker, fault.Usage("cannot read the address of the model's server",
			"give model-base-url as https://host, without a name or password", nil)
	}
	return maker, nil
}

// makers have keys for the model server; none for a login. Strict refuses keys that only the agent can use.
func (w *Sandbox) makers(m *modelUser, strict bool) ([]agent.Maker, error) {
	if m.KeyInAgent || !m.Keys.HasAny() {
		return nil, nil
	}
	makers, ok := m.Keys.Makers(m.Agent, m.Name)
	if ok {
		if len(makers) == 0 { // keys that are of no use to it
			*m.keys = agent.Keys{ModelBaseURL: m.Keys.ModelBaseURL}
		}
		return makers, nil
	}
	if strict {
		return nil, fault.Usage(fmt.Sprintf("the agent %s cannot use a server that holds its key", m.Agent),
			"give it the key, if every program that it runs may read it: sandbox: key-in-agent", nil)
	}
	w.notes = append(w.notes, journal.Noted{
		What: fmt.Sprintf("the agent %s has its key: every program that it runs can read it", m.Agent),
	})
	return makers, nil
}

// Keys returns what the agent gets.
func (w *Sandbox) Keys(keys agent.Keys) agent.Keys {
	if w == nil {
		return keys
	}
	return w.servers.keys
}

// ReviewKeys returns what the agent gets that is asked for a second opinion.
func (w *Sandbox) ReviewKeys(keys agent.Keys) agent.Keys {
	if w == nil {
		return keys
	}
	return w.servers.review
}

// Turn returns a time in which an agent may ask the model server, which can end it. Run end once its processes are
// gone: it also frees the shared memory that they left.
func (w *Sandbox) Turn(ctx context.Context) (turn context.Context, end func()) {
	if w == nil {
		return ctx, func() {}
	}
	charge := func() {}
	if w.servers.modelServer != nil {
		ctx, charge = w.servers.modelServer.Turn(ctx)
	}
	return ctx, func() {
		charge()
		_ = w.base.Sweep() // a proof sweeps again, and reports an error
	}
}

// Used returns the usage since the last call, and whether the model server stopped.
func (w *Sandbox) Used() egress.Spent {
	if w == nil || w.servers.modelServer == nil {
		return egress.Spent{}
	}
	now := w.servers.modelServer.Spent()
	since := now
	since.Usage = now.Usage.Minus(w.spentReported.Usage)
	since.Cost.USD -= w.spentReported.Cost.USD
	since.Cost.Most -= w.spentReported.Cost.Most
	w.spentReported = now
	return since
}

// LastStatus returns the status of the provider's last answer in this turn; 0: none, or it is unknown.
func (w *Sandbox) LastStatus() int {
	if w == nil || w.servers.modelServer == nil {
		return 0
	}
	return w.servers.modelServer.LastStatus()
}

// Charge counts against the budget what an agent used that the model server does not count.
func (w *Sandbox) Charge(usage stream.Usage, cost stream.Cost) {
	if w != nil && w.servers.modelServer != nil {
		w.servers.modelServer.Charge(cost.USD+cost.Most, usage.Tokens())
	}
}
