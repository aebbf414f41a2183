package egress

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/core/stream"
	"github.com/ralph-loop/ralph/internal/lib/redact"
)

var (
	errRedirect = errors.New("it answers with a redirect, which is not followed; correct model-base-url")
	errPacked   = errors.New("it compresses its answers against the request, so usage cannot be counted")
	errUpgrade  = errors.New("it answers in another protocol")
)

func (c *call) pass(r *http.Request) {
	to, err := c.maker.at(c.path, c.query(r))
	if err != nil {
		c.reply(http.StatusBadGateway, "the model's server has no address")
		return
	}
	t := c.m.join()
	if t == nil {
		c.refuse(Refusal{What: "a request", Why: errTurn.Error()})
		return
	}
	defer t.open.Done()
	if !c.endpoint.free {
		err = c.m.meter.begin(r.Context(), t.cut)
		if err != nil {
			c.reply(http.StatusForbidden, err.Error()) // unread if the client is gone
			return
		}
		defer c.m.meter.end()
	}
	ctx, end := c.lifetime(r.Context(), t)
	defer end()
	c.forward(r.WithContext(ctx), to, t)
}

// lifetime is the time of a request: it ends with the turn. A client that leaves does not end it soon. Otherwise an
// agent that leaves before the usage is reported would pay for no answer.
func (c *call) lifetime(client context.Context, t *turn) (ctx context.Context, end func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(client))
	stopCut := context.AfterFunc(t.cut, func() {
		cancel()
		_ = http.NewResponseController(c.w).SetWriteDeadline(past) // the client may never read the answer
	})
	stopLeft := context.AfterFunc(client, func() { time.AfterFunc(c.m.Limits.Left, cancel) })
	return ctx, func() {
		stopLeft()
		stopCut()
		cancel()
	}
}

func (c *call) forward(r *http.Request, to *url.URL, t *turn) {
	answer := &answerReader{
		call:    c,
		turn:    t,
		bill:    &bill{model: c.model},
		flow:    c.m.flows.open(nameOf(to)),
		host:    to.Host,
		request: bytes.NewReader(c.body),
	}
	answer.flow.up.Add(int64(len(c.body)))
	r.Body = io.NopCloser(answer.request)
	r.ContentLength = int64(len(c.body))
	r.Trailer = nil // it is not inspected
	r.TransferEncoding = nil
	proxy := httputil.ReverseProxy{
		Rewrite:        func(p *httputil.ProxyRequest) { c.rewrite(p.Out, to) },
		Transport:      noEarlyHints{c.m.Transport},
		FlushInterval:  -1,
		ErrorLog:       slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
		ModifyResponse: answer.start,
		ErrorHandler: func(_ http.ResponseWriter, r *http.Request, err error) {
			answer.handleError(r.Context(), err)
		},
	}
	proxy.ServeHTTP(c.w, r)
}

// query returns the part of the query to forward. It never contains a key.
func (c *call) query(r *http.Request) string {
	name, value, _ := strings.Cut(c.endpoint.may, "=")
	if name != "" && slices.Equal(r.URL.Query()[name], []string{value}) {
		return c.endpoint.may
	}
	return c.endpoint.query
}

func (c *call) rewrite(out *http.Request, to *url.URL) {
	out.URL = to
	out.Host = to.Host
	for name := range out.Header {
		if !isAPIHeader(name) {
			delete(out.Header, name)
		}
	}
	out.Header.Set("Content-Type", "application/json")
	out.Header.Set("Accept-Encoding", "identity") // otherwise its cost could not be read
	grammars[c.dialect].sign(out.Header, c.maker)
}

// apiHeaders are headers of the APIs and their clients that name no account. Others could direct a gateway in front of
// the API.
var (
	apiHeaders = set("accept", "accept-language", "content-type", "user-agent", "originator", "version",
		"session_id", "session-id", "conversation_id",
		"anthropic-version", "anthropic-beta", "anthropic-dangerous-direct-browser-access", "openai-beta",
		"x-app", "x-initiator", "x-client-request-id", "x-request-id", "x-goog-api-client")
	apiHeaderPrefixes = []string{"x-stainless-", "x-claude-", "x-codex-"}
)

func isAPIHeader(name string) bool {
	name = strings.ToLower(name)
	hasPrefix := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
	return apiHeaders[name] || slices.ContainsFunc(apiHeaderPrefixes, hasPrefix)
}

// noEarlyHints hides early hints from the proxy: they are not inspected.
type noEarlyHints struct{ http.RoundTripper }

func (u noEarlyHints) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx := withoutValues{r.Context()}
	return u.RoundTripper.RoundTrip(r.WithContext(ctx)) //nolint:contextcheck // it ends with the request's context
}

// withoutValues is a context without the values of another, with which it ends.
type withoutValues struct{ context.Context }

func (withoutValues) Value(any) any { return nil }

type answerReader struct {
	*call
	turn    *turn
	bill    *bill
	flow    *flow
	host    string        // of the real server
	request *bytes.Reader // empty when the transport has taken all of it
	read    reading
	split   splitter
	arrived int64
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
	if !a.endpoint.free {
		a.m.lastStatus.Store(int32(response.StatusCode)) //nolint:gosec // three digits
	}
	if response.StatusCode == http.StatusUnauthorized && !a.endpoint.free {
		a.endRefusedTurn(response)
	}
	removeSecrets(response.Header, a.m.keys)
	a.read.dialect = a.dialect
	isStream := strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream")
	a.split = splitter{events: isStream, take: a.read.take}
	a.from = response.Body
	a.head = response
	response.Trailer = nil
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
	a.turn.fail(stream.Result{
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
	n, err := a.from.Read(p)
	a.arrived += int64(n)
	a.flow.down.Add(int64(n))
	a.split.write(p[:n])
	if err != nil {
		a.head.Trailer = nil // it is not inspected
	}
	a.charge(a.read.sofar())
	return n, err
}

func (a *answerReader) charge(used stream.Usage) {
	if !a.endpoint.free {
		a.m.meter.set(a.bill, used)
	}
}

// Close reads what the client left, and charges the answer: by the provider's count, or else by its bytes.
func (a *answerReader) Close() error {
	_, _ = io.Copy(io.Discard, struct{ io.Reader }{a})
	a.split.end()
	used := a.read.sofar()
	if a.head.StatusCode < http.StatusMultipleChoices && !a.read.hasInput() {
		used.Input = a.input
		if !a.split.events {
			used.Output = max(used.Output, a.arrived/bytesPerToken)
		}
	}
	a.charge(used)
	return a.from.Close()
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
	case ctx.Err() != nil:
		a.charge(stream.Usage{Input: a.input}) // the server may have begun an answer
		a.reply(http.StatusForbidden, errTurn.Error())
	case errors.Is(err, errPacked):
		a.charge(stream.Usage{Input: a.input})
		a.refuse(Refusal{What: "the model's server", Why: err.Error()})
	case errors.Is(err, errRedirect), errors.Is(err, errUpgrade):
		a.refuse(Refusal{What: "the model's server", Why: err.Error()})
	case why != "":
		a.turn.fail(stream.Result{Reason: "cannot reach " + a.host, Text: a.m.keys.String(why), Busy: true})
		a.reply(http.StatusBadGateway, "cannot reach "+a.host)
	default:
		if a.request.Len() == 0 {
			a.charge(stream.Usage{Input: a.input}) // as above
		}
		a.m.refusals.report("the model's server", Refusal{
			What: "the model's server", Why: a.m.keys.String(fmt.Sprintf("it is not reached: %s", err)),
		})
		a.reply(http.StatusBadGateway, "the model's server is not reached")
	}
}
