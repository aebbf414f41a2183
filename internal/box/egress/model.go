package egress

import (
	"cmp"
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/ralph-loop/ralph/internal/core/price"
	"github.com/ralph-loop/ralph/internal/core/stream"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/lib/redact"
)

// Model forwards requests to the real model servers. It adds the key, allows only known paths, models and tools, counts
// the use, and refuses all requests once the budget is used.
type Model struct {
	Makers []Maker // several of one dialect need different tokens

	Budget Budget
	Prices map[string]price.Rate // by model; they override the price list

	// Transport reaches the real servers: a Route's.
	Transport http.RoundTripper

	Refused func(Refusal) // may be nil
	Limits  ModelLimits

	refusals  reporter
	flows     trafficLog
	prepared  sync.Once
	meter     *meter
	keys      *redact.Redactor
	inspected sync.Mutex // one body is inspected at a time

	lastStatus atomic.Int32 // of the provider's answers in this turn

	mu   sync.Mutex
	turn *turn // nil: no agent has its turn
}

// turn is a time in which requests are allowed.
type turn struct {
	giveUp context.CancelCauseFunc // ends the agent
	cut    context.Context         // of the requests
	end    context.CancelFunc      // ends cut
	open   sync.WaitGroup          // the requests
}

// ModelLimits are limits for clients. Zero means the default.
type ModelLimits struct {
	Conns  int           // open connections; default: 32
	Header time.Duration // until a request's header arrives; default: 10 s
	Body   time.Duration // until its body arrives; default: 60 s
	Bytes  int64         // of a body; default: 32 MiB, the highest limit of a maker
	Left   time.Duration // until an answer is cut off whose client is gone; default: 10 min
}

func (l ModelLimits) withDefaults() ModelLimits {
	return ModelLimits{
		Conns:  cmp.Or(l.Conns, 32),
		Header: cmp.Or(l.Header, 10*time.Second),
		Body:   cmp.Or(l.Body, time.Minute),
		Bytes:  cmp.Or(l.Bytes, 32<<20),
		Left:   cmp.Or(l.Left, 10*time.Minute),
	}
}

// Serve serves requests until ctx ends, and cuts off open answers. Call it once.
func (m *Model) Serve(ctx context.Context, l net.Listener) error {
	m.prepare()
	defer (&http.Client{Transport: m.Transport}).CloseIdleConnections()
	stop := context.AfterFunc(ctx, m.endRequests)
	defer stop()
	return serve(ctx, l, http.HandlerFunc(m.handle), m.Limits.Conns, m.Limits.Header)
}

func (m *Model) prepare() {
	m.prepared.Do(func() {
		m.Limits = m.Limits.withDefaults()
		m.refusals.emit = m.Refused
		m.meter = newMeter(m.Budget, m.Prices)
		m.keys = redact.Values(secrets(m.Makers)...)
	})
}

// Traffic returns the traffic with the real servers so far, by host.
func (m *Model) Traffic() []Traffic {
	all := m.flows.sums()
	for i := range all {
		all[i].Model = true
	}
	return all
}

// Turn allows requests until the caller runs end, which cuts off those that are open and returns when
// all are charged. Between turns all are refused: a commit can contain the agent's token, and checks
// run it. Before the first turn, no program has a token. The turn's context ends with a
// stream.Unanswered if the provider refuses the key or cannot be reached: most clients would try again
// for minutes.
func (m *Model) Turn(ctx context.Context) (agent context.Context, end func()) {
	agent, giveUp := context.WithCancelCause(ctx)
	cut, cancel := context.WithCancel(context.WithoutCancel(ctx))
	t := &turn{giveUp: giveUp, cut: cut, end: cancel}
	m.mu.Lock()
	m.turn = t
	m.mu.Unlock()
	m.lastStatus.Store(0)
	return agent, func() {
		m.endRequests()
		t.open.Wait()
		giveUp(nil)
	}
}

// endRequests ends the open requests of the turn, and allows no others.
func (m *Model) endRequests() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.turn != nil {
		m.turn.end()
	}
	m.turn = nil
}

// join returns the turn with one more open request, or nil.
func (m *Model) join() *turn {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.turn != nil {
		m.turn.open.Add(1)
	}
	return m.turn
}

// fail ends the agent's turn for lack of an answer.
func (t *turn) fail(why stream.Result) {
	why.Failed = true
	t.giveUp(fmt.Errorf("%w: %w", process.ErrNoGrace, &stream.Unanswered{Result: why}))
}

// Spent returns the use so far, at any time.
func (m *Model) Spent() Spent {
	m.prepare()
	return m.meter.sum()
}

// LastStatus returns the status of the provider's last answer to a request of this turn; 0: there is none.
func (m *Model) LastStatus() int { return int(m.lastStatus.Load()) }

// Charge counts against the budget what an agent used at another server.
func (m *Model) Charge(usd float64, tokens int64) {
	m.prepare()
	m.meter.charge(usd, tokens)
}

func (m *Model) handle(w http.ResponseWriter, r *http.Request) {
	c := call{m: m, w: w}
	if !c.find(r) || !c.authenticate(r) || !c.read(r) || !c.allowed(r.Context()) {
		return
	}
	c.pass(r)
}

type call struct {
	m        *Model
	w        http.ResponseWriter
	dialect  Dialect
	maker    Maker
	endpoint endpoint
	path     string // the requested one
	model    string
	body     []byte
	input    int64 // likely tokens of the body
}

func (c *call) find(r *http.Request) bool {
	c.path = r.URL.EscapedPath()
	var ok bool
	c.dialect, c.endpoint, c.model, ok = route(c.path)
	makers := slices.Clone(c.m.Makers)
	makers = slices.DeleteFunc(makers, func(maker Maker) bool { return maker.Dialect != c.dialect })
	if !ok || len(makers) == 0 || r.Method != http.MethodPost {
		return c.refuse(Refusal{What: quoted(r.Method + " " + c.path), Why: "only the model's API is here"})
	}
	i := slices.IndexFunc(makers, func(maker Maker) bool { return maker.isKnownToken(r) })
	c.maker = makers[max(i, 0)] // authenticate refuses an unknown token
	return true
}

func (c *call) authenticate(r *http.Request) bool {
	if !c.maker.isKnownToken(r) {
		return c.refuse(Refusal{
			What: "a request without a valid token",
			Why:  "only the agent may use the model server",
		})
	}
	if c.m.Spent().Stopped {
		return c.spent()
	}
	return true
}

// isKnownToken reports whether a request has the maker's token where clients put a key.
func (m Maker) isKnownToken(r *http.Request) bool {
	if m.Token == "" {
		return true
	}
	given := []string{
		r.Header.Get("X-Api-Key"),
		strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "),
		r.Header.Get("X-Goog-Api-Key"),
		r.URL.Query().Get("key"),
	}
	return slices.ContainsFunc(given, func(token string) bool {
		return subtle.ConstantTimeCompare([]byte(token), []byte(m.Token)) == 1
	})
}

// past is a deadline that ends reading or writing at once.
var past = time.Unix(1, 0)

// read reads the whole body.
func (c *call) read(r *http.Request) bool {
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return c.refuse(Refusal{What: "a body in " + quoted(encoding), Why: "compressed requests cannot be inspected"})
	}
	late := time.AfterFunc(c.m.Limits.Body, func() {
		_ = http.NewResponseController(c.w).SetReadDeadline(past)
	})
	defer late.Stop()
	var err error
	c.body, err = io.ReadAll(http.MaxBytesReader(c.w, r.Body, c.m.Limits.Bytes))
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return c.reply(http.StatusRequestEntityTooLarge, "the request is too large")
	}
	if err != nil {
		return c.reply(http.StatusRequestTimeout, "the request is incomplete")
	}
	return true
}

func (c *call) allowed(ctx context.Context) bool {
	c.m.inspected.Lock()
	defer c.m.inspected.Unlock()
	if ctx.Err() != nil {
		return false // the client is gone
	}
	if refused := c.inspect(); refused != nil {
		return c.refuse(*refused)
	}
	return true
}

// inspect refuses a body, or finds its model and its size in tokens.
func (c *call) inspect() *Refusal {
	tree, refused := readObject(c.body)
	if refused != nil {
		return refused
	}
	i := inspection{dialect: c.dialect, models: c.maker.Models}
	refused = i.object(tree, false)
	if refused != nil {
		return refused
	}
	inBody, _ := tree["model"].(string)
	c.model = strings.TrimPrefix(cmp.Or(c.model, inBody), "models/")
	if c.model == "" {
		return &Refusal{What: "a request", Why: "it names no model"}
	}
	refused = checkModel(c.maker.Models, c.model)
	if refused != nil {
		return refused
	}
	if !c.endpoint.free && !c.m.meter.bounds(c.model) {
		return &Refusal{
			What: "model " + quoted(c.model),
			Why: "it has no price, so the run's limit in dollars (max-cost) cannot hold: " +
				"name its price in agent.prices, or limit tokens (max-tokens) and set max-cost to 0",
		}
	}
	c.input = (int64(len(c.body))-i.media)/bytesPerToken + i.media/bytesPerMediaToken
	if c.path == completions && tree["stream"] == true {
		return c.askForUsage()
	}
	return nil
}

// completions is the endpoint of OpenAI's API that reports the usage of a stream only on request.
const completions = "/v1/chat/completions"

func (c *call) askForUsage() *Refusal {
	refused := &Refusal{What: "a request", Why: "its body cannot be written"}
	var fields map[string]jsontext.Value
	if json.Unmarshal(c.body, &fields, rawStrings) != nil {
		return refused
	}
	fields["stream_options"] = jsontext.Value(`{"include_usage":true}`)
	body, err := json.Marshal(fields, json.Deterministic(true), rawStrings)
	if err != nil {
		return refused
	}
	c.body = body
	return nil
}

// refuse also reports the refusal, once for each What. It returns false for its callers.
func (c *call) refuse(r Refusal) bool {
	c.m.refusals.report(r.What, r)
	return c.reply(http.StatusForbidden, r.String())
}

func (c *call) spent() bool { return c.reply(http.StatusForbidden, errBudget.Error()) }

// reply answers in the dialect, so that the client shows the reason and does not retry.
func (c *call) reply(status int, why string) bool {
	c.w.Header().Set("Content-Type", "application/json")
	c.w.Header().Set("X-Should-Retry", "false")
	c.w.WriteHeader(status)
	_, _ = c.w.Write(refusalBody(c.dialect, why)) // an error: the client is gone
	return false
}
