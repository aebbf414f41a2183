package egress

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/redact"
	"github.com/ralph-loop/ralph/internal/stream"
)

var (
	errRedirect = errors.New("it answers with a redirect, which is not followed; correct model-base-url")
	errPacked   = errors.New("it compresses its answers against the request, so usage cannot be counted")
	errUpgrade  = errors.New("it answers in another protocol")
)

func (c *call) pass(r *http.Request) {
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	cut := func(why error) {
		cancel(why)
		if errors.Is(why, errTurn) { // the client may never read the answer
			_ = http.NewResponseController(c.w).SetWriteDeadline(past)
		}
	}
	to, err := c.maker.at(c.where, c.query(r))
	if err != nil {
		c.reply(http.StatusBadGateway, "the model's server has no address")
		return
	}
	if !c.hasTurn() { // it must not end the budget
		return
	}
	bill, err := c.m.meter.begin(ctx, c.worstCost(), cut)
	switch {
	case errors.Is(err, errBudget):
		c.spent()
		return
	case err != nil: // the client is gone
		return
	}
	defer c.m.meter.end(bill)
	if !c.hasTurn() { // the turn ended while it waited
		return
	}
	answer := &answerReader{call: c, bill: bill, flow: c.m.flows.open(nameOf(to)), host: to.Host}
	if c.m.Now != nil {
		answer.since = c.m.Now()
	}
	r = r.WithContext(ctx)
	answer.request = bytes.NewReader(c.body)
	answer.flow.up.Add(int64(len(c.body)))
	r.Body, r.ContentLength = io.NopCloser(answer.request), int64(len(c.body))
	r.Trailer, r.TransferEncoding = nil, nil // trailers are not inspected
	proxy := httputil.ReverseProxy{
		Rewrite:        func(p *httputil.ProxyRequest) { c.rewrite(p.Out, to) },
		Transport:      noEarlyHints{c.m.Transport},
		FlushInterval:  -1,
		ErrorLog:       slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
		ModifyResponse: answer.start,
		ErrorHandler:   func(_ http.ResponseWriter, r *http.Request, err error) { answer.handleError(r.Context(), err) },
	}
	proxy.ServeHTTP(c.w, r)
}

// query returns the part of the query to forward. It never contains a key.
func (c *call) query(r *http.Request) string {
	if c.path.may != "" && hasSetting(r, c.path.may) {
		return c.path.may
	}
	return c.path.query
}

func (c *call) rewrite(out *http.Request, to *url.URL) {
	out.URL, out.Host = to, to.Host
	for name := range out.Header {
		if !isAPIHeader(name) || isSensitiveHeader(name) {
			delete(out.Header, name)
		}
	}
	filterBetas(out.Header)
	out.Header.Set("Content-Type", "application/json")
	out.Header.Set("Accept-Encoding", "identity") // otherwise its cost could not be read
	grammars[c.dialect].sign(out.Header, c.maker)
}

// apiHeaders are headers of the APIs and their clients. Other headers could direct a gateway in front of the
// API.
var (
	apiHeaders = set("accept", "accept-language", "content-type", "user-agent", "originator", "version", "session_id", "session-id", "conversation_id",
		"anthropic-version", "anthropic-beta", "anthropic-dangerous-direct-browser-access", "x-app", "x-initiator", "x-client-request-id", "x-request-id", "x-goog-api-client")
	apiHeaderPrefixes = []string{"openai-", "x-stainless-", "x-claude-", "x-codex-", "x-openai-"}
)

func isAPIHeader(name string) bool {
	name = strings.ToLower(name)
	return apiHeaders[name] || slices.ContainsFunc(apiHeaderPrefixes, func(family string) bool { return strings.HasPrefix(name, family) })
}

// isSensitiveHeader reports whether a header may carry a credential, name an account or a region, or change the request.
func isSensitiveHeader(name string) bool {
	name = strings.ToLower(name)
	for _, part := range []string{
		"auth", "key", "token", "cookie", "secret", "credential", "password", "signature",
		"organization", "project", "account", "tenant", "billing", "residency",
		"proxy", "forward", "override", "rewrite", "original-url", "expect", "via", "real-ip", "content-encoding",
	} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

// betas are Anthropic's beta features that only change the answer to a request.
// Others reach other servers, store something, or have costs that the answer does
// not count (longer contexts, advisers, other models, compaction).
var betas = set("claude-code", "oauth", "interleaved-thinking", "redact-thinking", "dev-full-thinking", "thinking-token-count", "thinking-binding-controls",
	"thinking-display-updates", "summarize-connector-text", "effort", "task-budgets", "per-turn-control", "context-management", "context-hint",
	"model-context-window-exceeded", "mid-conversation-system", "mid-conversation-system-clear-at", "mid-conversation-tool-changes",
	"prompt-caching", "prompt-caching-scope", "extended-cache-ttl", "cache-diagnosis", "token-counting", "structured-outputs", "output-128k", "pdfs",
	"advanced-tool-use", "tool-search-tool", "tool-examples", "inline-tools", "token-efficient-tools", "fine-grained-tool-streaming")

// filterBetas removes unknown beta features. The date of a feature does not matter.
func filterBetas(h http.Header) {
	const name = "Anthropic-Beta"
	var known []string
	for beta := range strings.SplitSeq(strings.Join(h.Values(name), ","), ",") {
		if beta = strings.TrimSpace(beta); betas[dateSuffix.ReplaceAllString(beta, "")] {
			known = append(known, beta)
		}
	}
	if h.Del(name); len(known) > 0 {
		h.Set(name, strings.Join(known, ","))
	}
}

// noEarlyHints hides early hints from the proxy: they are not inspected.
type noEarlyHints struct{ http.RoundTripper }

func (u noEarlyHints) RoundTrip(r *http.Request) (*http.Response, error) {
	return u.RoundTripper.RoundTrip(r.WithContext(withoutValues{r.Context()})) //nolint:contextcheck // it ends with the request's context
}

// withoutValues is a context without the values of another, with which it ends.
type withoutValues struct{ context.Context }

func (withoutValues) Value(any) any { return nil }

type answerReader struct {
	*call
	bill    *bill
	flow    *flow
	host    string        // of the real server
	request *bytes.Reader // empty when the transport has taken all of it
	read    reading
	split   splitter
	arrived int64
	whole   bool // the answer is complete
	since   time.Time
	from    io.ReadCloser
	head    *http.Response
}

// start checks the header of an answer, and wraps its body.
func (a *answerReader) start(response *http.Response) error {
	packed := func(encoding string) bool { return encoding != "" && encoding != "identity" }
	switch {
	case response.StatusCode == http.StatusSwitchingProtocols:
		return errUpgrade
	case response.StatusCode >= 300 && response.StatusCode < 400:
		return errRedirect
	case slices.ContainsFunc(response.Header.Values("Content-Encoding"), packed):
		return errPacked
	}
	if response.StatusCode == http.StatusUnauthorized && !a.path.free {
		a.endRefusedTurn(response)
	}
	removeSecrets(response.Header, a.m.keys)
	a.read.dialect, a.read.answers = a.dialect, a.answers
	stream := strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream")
	a.split = splitter{events: stream, take: a.read.take, memory: a.m.kept}
	a.from, a.head, response.Trailer = response.Body, response, nil
	response.Body = struct {
		io.Reader
		io.Closer
	}{a.m.keys.Reader(a), a}
	return nil
}

// endRefusedTurn ends the turn of an agent whose key is refused, with the provider's reason.
func (a *answerReader) endRefusedTurn(response *http.Response) {
	body, _ := io.ReadAll(io.LimitReader(response.Body, maxRefusalBody)) // a part has no reason
	response.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(body), response.Body), response.Body}
	var refusal struct {
		Error struct{ Message string }
	}
	_ = json.Unmarshal(body, &refusal) // without a reason the status has to do
	a.m.endTurn(stream.Result{
		Reason: a.host + " refuses the key, status", Status: response.StatusCode,
		Text: a.m.keys.String(refusal.Error.Message),
	})
}

const maxRefusalBody = 16 << 10

// secrets returns the makers' keys. Other tokens may stay in an answer.
func secrets(makers []Maker) []string {
	var all []string
	for _, maker := range makers {
		all = append(all, string(maker.Key))
	}
	return all
}

// removeSecrets removes keys, cookies and the original content length from the header of an answer.
func removeSecrets(h http.Header, keys *redact.Redactor) {
	for _, name := range []string{"Set-Cookie", "Alt-Svc", "Content-Length", "Proxy-Authenticate", "Www-Authenticate"} {
		h.Del(name)
	}
	for name, values := range h {
		if keys.Holds([]byte(name + "\n" + strings.Join(values, "\n"))) {
			delete(h, name)
		}
	}
}

// Read reads the answer for the client, and for the meter.
func (a *answerReader) Read(p []byte) (int, error) {
	if a.bill.stopped.Load() {
		return 0, errBudget
	}
	n, err := a.from.Read(p)
	a.arrived += int64(n)
	a.flow.down.Add(int64(n))
	a.split.write(p[:n])
	if err != nil {
		a.whole, a.head.Trailer = errors.Is(err, io.EOF), nil // the trailer is not inspected
	}
	a.charge(a.read.sofar())
	return n, err
}

func (a *answerReader) charge(now progress) {
	if !a.path.free {
		a.m.meter.set(a.bill, now)
	}
}

// Close charges the answer: by the maker's count, or else by its bytes.
func (a *answerReader) Close() error {
	a.split.end()
	now := a.read.sofar()
	stream := a.split.events && a.dialect != OpenAI // says at its end that this is the end
	cut := !a.read.ended && (!a.whole || stream)
	if a.head.StatusCode == http.StatusBadRequest && !a.maker.isOwn() { // Azure bills what its content filter refuses
		now.Input = max(now.Input, a.bill.order.likely)
	}
	if a.head.StatusCode >= 300 && !timeouts[a.head.StatusCode] || !cut && a.read.known {
		a.charge(now)
		return a.from.Close()
	}
	if !a.read.known && !a.split.events {
		now.Output = min(a.arrived/bytesPerToken, a.most)
	}
	a.chargeUnfinished(now)
	return a.from.Close()
}

// timeouts are the answers of a gateway that gave up waiting for the model.
var timeouts = map[int]bool{http.StatusRequestTimeout: true, http.StatusGatewayTimeout: true, 499: true, 524: true}

// chargeUnfinished charges an answer that was cut off before its count, by the
// bytes so far. The budget is charged the maximum possible: hidden thinking is
// billed too. Some servers write the complete answer after the client is gone.
func (a *answerReader) chargeUnfinished(now progress) {
	if !now.inputKnown {
		now.Input = a.bill.order.likely
	}
	a.charge(now)
	thought := a.most
	switch {
	case a.path.free, a.streams && a.m.Now == nil:
		return
	case a.streams && a.maker.isOwn() && grammars[a.dialect].stops:
		seconds := int64(math.Ceil(a.m.Now().Sub(a.since).Seconds()))
		thought = min(seconds*tokensPerSecond*a.answers, a.most)
	}
	a.m.meter.chargeMost(a.bill, max(thought, now.Output))
}

// unreachable returns why there was no connection; empty: there was one.
func unreachable(err error) string {
	op, _ := errors.AsType[*net.OpError](err)
	switch {
	case op == nil:
		return ""
	case op.Op == "proxyconnect":
		return "the company's proxy: " + op.Err.Error()
	case op.Op != "dial":
		return ""
	}
	if lookup, ok := errors.AsType[*net.DNSError](op); ok {
		return lookup.Err // without the resolver's address
	}
	return op.Err.Error()
}

func (a *answerReader) handleError(ctx context.Context, err error) {
	why := unreachable(err)
	switch {
	case ctx.Err() != nil: // the server may have begun an answer
		a.chargeUnfinished(progress{})
		a.spent() // unread if the client is gone
	case errors.Is(err, errRedirect), errors.Is(err, errPacked), errors.Is(err, errUpgrade):
		if errors.Is(err, errPacked) {
			a.chargeUnfinished(progress{})
		}
		a.refuse(Refusal{What: "the model's server", Why: err.Error()})
	case why != "":
		a.m.endTurn(stream.Result{Reason: "cannot reach " + a.host, Text: a.m.keys.String(why), Busy: true})
		a.reply(http.StatusBadGateway, "cannot reach "+a.host)
	default:
		if a.request.Len() == 0 {
			a.chargeUnfinished(progress{}) // the server may have begun an answer
		}
		a.m.refusals.report("the model's server", Refusal{What: "the model's server", Why: a.m.keys.String(fmt.Sprintf("it is not reached: %s", err))})
		a.reply(http.StatusBadGateway, "the model's server is not reached")
	}
}
