package egress

import (
	"bytes"
	"cmp"
	"context"
	"crypto/subtle"
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/ralph-loop/ralph/internal/price"
	"github.com/ralph-loop/ralph/internal/redact"
)

// Model is asked in place of the real servers. It puts the key in, lets through
// what is on its short list of paths, models and tools, counts what is used,
// and when the budget is used says no to everything.
type Model struct {
	Makers []Maker // of one dialect several only where each has its Tokens

	// Open is for agents that no sandbox confines: they are counted, and nothing is
	// refused or left out but what cannot be counted.
	Open bool

	Token  redact.Secret // what those inside have in place of a key, where a maker has no Tokens; empty: anything will do
	Budget Budget
	Prices map[string]price.Rate // by model, before the list's

	// Transport reaches the real servers: a Route's.
	Transport http.RoundTripper

	Now     func() time.Time // nil: who hangs up is charged for no time
	Refused func(Refusal)    // may be nil
	Limits  ModelLimits

	crier  reporter
	ledger trafficLog
	meter  meter
	keys   *redact.Redactor
	room   *semaphore.Weighted // for the bytes of bodies
	rests  atomic.Bool         // no agent has its turn
	judge  sync.Mutex          // one body is looked through at a time
}

// ModelLimits are limits for clients. Zero stands for the default.
type ModelLimits struct {
	Conns  int           // open at once; 32
	Header time.Duration // for a request's head to arrive; 10 s
	Body   time.Duration // for its body; 60 s
	Bytes  int64         // of a body; 32 MiB, the most that any maker takes
	Held   int64         // of all bodies that are here at once, and no less than Bytes; 64 MiB
}

func (l ModelLimits) orUsual() ModelLimits {
	return ModelLimits{
		Conns: cmp.Or(l.Conns, 32), Header: cmp.Or(l.Header, 10*time.Second), Body: cmp.Or(l.Body, time.Minute),
		Bytes: cmp.Or(l.Bytes, 32<<20), Held: cmp.Or(l.Held, 64<<20),
	}
}

// Serve is called once. It returns when every answer has been cut off.
func (m *Model) Serve(ctx context.Context, l net.Listener) error {
	m.Limits = m.Limits.orUsual()
	m.crier.tell = m.Refused
	m.meter.budget, m.meter.prices = m.Budget, m.Prices
	m.meter.open, m.meter.turn = map[*bill]bool{}, make(chan struct{}, 1)
	m.keys = redact.Values(secrets(m.Makers)...)
	m.room = semaphore.NewWeighted(max(m.Limits.Held, m.Limits.Bytes))
	defer m.hangUp()
	return serve(ctx, l, http.HandlerFunc(m.handle), bounds{conns: m.Limits.Conns, header: m.Limits.Header})
}

func (m *Model) hangUp() {
	if t, keeps := m.Transport.(interface{ CloseIdleConnections() }); keeps {
		t.CloseIdleConnections()
	}
}

// Traffic is the traffic with the real servers so far, by host.
func (m *Model) Traffic() []Traffic {
	all := m.ledger.sums()
	for i := range all {
		all[i].Model = true
	}
	return all
}

// Turn has requests answered until the returned function runs. A commit may hold the agent's
// token, and be checked later. Before the first turn no program has one.
func (m *Model) Turn() (end func()) {
	m.rests.Store(false)
	return func() { m.rests.Store(true) }
}

// Spent is what was used so far. It may be asked at any time.
func (m *Model) Spent() Spent { return m.meter.sum() }

func (m *Model) handle(w http.ResponseWriter, r *http.Request) {
	c := call{m: m, w: w}
	defer func() { m.room.Release(c.held) }()
	if !c.find(r) || !c.authenticate(r) || !c.read(r) || !c.allowed() {
		return
	}
	c.pass(r)
}

type call struct {
	m       *Model
	w       http.ResponseWriter
	dialect Dialect
	maker   Maker
	path    endpoint
	where   string // the path as it was asked
	model   string
	body    []byte
	held    int64       // bytes for which there is room
	media   mediaTokens // what of the body is no text
	hour    bool        // it is to be kept for an hour
	most    int64       // tokens that the answer may have, in all its versions
	answers int64       // versions, which are made at once
	streams bool        // the answer is asked for as a stream
}

func (c *call) find(r *http.Request) bool {
	c.where = r.URL.EscapedPath()
	var found bool
	c.dialect, c.path, c.model, found = route(c.where)
	makers := slices.DeleteFunc(slices.Clone(c.m.Makers), func(maker Maker) bool { return maker.Dialect != c.dialect })
	switch what := r.Method + " " + c.where; {
	case !found || len(makers) == 0 || r.Method != http.MethodPost:
		return c.refuse(Refusal{What: quoted(what), Why: "only the model's API is here"})
	case r.Header.Get("Upgrade") != "" || r.Header.Get("Sec-Websocket-Key") != "":
		return c.refuse(Refusal{What: "upgrade", Why: "only plain HTTP works here"})
	case !asks(r, c.path.query):
		return c.refuse(Refusal{What: quoted(what), Why: "it is answered as a stream of events only: ?" + c.path.query})
	}
	i := slices.IndexFunc(makers, func(maker Maker) bool { return c.m.isKnownToken(r, maker) })
	c.maker = makers[max(i, 0)] // which does not know a stranger either
	return true
}

func asks(r *http.Request, setting string) bool {
	name, value, _ := strings.Cut(setting, "=")
	return setting == "" || slices.Equal(r.URL.Query()[name], []string{value})
}

func (c *call) authenticate(r *http.Request) bool {
	if !c.m.isKnownToken(r, c.maker) {
		return c.refuse(Refusal{What: "a stranger", Why: "the agent's token is missing"})
	}
	if c.m.rests.Load() {
		return c.refuse(Refusal{What: "a request", Why: "no agent is at work"})
	}
	if c.m.Spent().Stopped != "" {
		return c.spent()
	}
	return true
}

// isKnownToken reports whether a request has a token for maker where clients put a key.
func (m *Model) isKnownToken(r *http.Request, maker Maker) bool {
	tokens := maker.Tokens
	if len(tokens) == 0 {
		tokens = []redact.Secret{m.Token}
	}
	bearer, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	for _, given := range []string{r.Header.Get("X-Api-Key"), bearer, r.Header.Get("X-Goog-Api-Key"), r.URL.Query().Get("key")} {
		for _, token := range tokens {
			if token == "" || subtle.ConstantTimeCompare([]byte(given), []byte(token)) == 1 {
				return true
			}
		}
	}
	return false
}

// read reads the whole body, as soon as there is room for it beside the others.
func (c *call) read(r *http.Request) bool {
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return c.refuse(Refusal{What: "a body in " + quoted(encoding), Why: "compressed requests cannot be inspected"})
	}
	size := r.ContentLength
	if size < 0 {
		size = c.m.Limits.Bytes
	}
	if size > c.m.Limits.Bytes {
		return c.tooLarge()
	}
	if c.m.room.Acquire(r.Context(), size) != nil {
		return false // the client is gone
	}
	c.held = size
	late := time.AfterFunc(c.m.Limits.Body, func() {
		_ = http.NewResponseController(c.w).SetReadDeadline(time.Unix(1, 0)) // long ago
	})
	defer late.Stop()
	body := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead)) // which does not grow
	_, err := body.ReadFrom(http.MaxBytesReader(c.w, r.Body, size))
	c.keep(body.Bytes())
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return c.tooLarge()
	}
	return err == nil || c.reply(http.StatusRequestTimeout, "the request is incomplete")
}

// keep gives back the room that a body of unknown length did not need.
func (c *call) keep(body []byte) {
	c.body = body
	if spare := c.held - int64(len(body)); spare > 0 {
		c.body, c.held = slices.Clone(body), int64(len(body))
		c.m.room.Release(spare)
	}
}

func (c *call) tooLarge() bool {
	return c.reply(http.StatusRequestEntityTooLarge, "the request is too large")
}

func (c *call) allowed() bool {
	c.m.judge.Lock()
	defer c.m.judge.Unlock()
	tree, err := readObject(c.body)
	if err != nil {
		return c.refuse(Refusal{What: "a request", Why: err.Error()})
	}
	found, no := rules{models: c.maker.Models, open: c.m.Open}.judge(c.dialect, c.model, tree)
	if no != nil {
		return c.refuse(*no)
	}
	for name := range found.drop {
		what := "field " + quoted(name) // which is short
		c.m.crier.report(what, Refusal{What: what, Why: "it is unknown, and the request was sent without it", Sent: true})
	}
	c.model, c.media, c.hour = found.model, found.media, found.hour
	if !c.path.free && !c.m.meter.bounds(c.maker.seller(), c.model) {
		return c.refuse(Refusal{What: "model " + quoted(c.model), Why: "it has no price, so the run's limit in dollars (max-cost) cannot hold: " +
			"name its price in agent.prices, or limit tokens (max-tokens) and set max-cost to 0"})
	}
	c.most, c.answers = c.maxAnswer(tree)
	c.streams = !c.path.whole && tree["stream"] == true || c.path.query != ""
	add, no := c.addedFields(tree)
	if no != nil {
		return c.refuse(*no)
	}
	body, err := with(c.body, add, found.drop)
	if err != nil {
		return c.refuse(Refusal{What: "a request", Why: err.Error()})
	}
	if body != nil {
		c.body = body
	}
	return true
}

// refuse also reports the refusal outside, once for each thing. It returns false, as its callers do.
func (c *call) refuse(r Refusal) bool {
	c.m.crier.report(r.What, r)
	return c.reply(http.StatusForbidden, r.String())
}

func (c *call) spent() bool { return c.reply(http.StatusForbidden, errBudget.Error()) }

// reply answers in the words of the dialect, in a way that the client shows and does not retry.
func (c *call) reply(status int, why string) bool {
	c.w.Header().Set("Content-Type", "application/json")
	c.w.Header().Set("X-Should-Retry", "false")
	c.w.WriteHeader(status)
	_, _ = c.w.Write(words(c.dialect, why)) // who went away needs no answer
	return false
}
