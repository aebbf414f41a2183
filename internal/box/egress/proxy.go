package egress

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// Proxy tunnels TLS to allowed hosts. It decides on each CONNECT by exact name and port, before it resolves the name.
// It reads only the ClientHello of a connection, for the server name.
type Proxy struct {
	Allow   []Name // in addition to Route.Private
	Any     bool   // allow every host by name, as on a laptop without an allow list
	Route   Route
	Refused func(Refusal) // may be nil
	Limits  Limits

	refusals reporter
	flows    trafficLog

	mu   sync.RWMutex
	more []Name // added by Permit
}

// Permit adds names to the list, even while the Proxy serves.
func (p *Proxy) Permit(names []Name) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.more = append(p.more, names...)
}

func (p *Proxy) allows(n Name) bool {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.Any || slices.Contains(p.Allow, n) || slices.Contains(p.more, n) || p.Route.isPrivate(n)
}

// Limits are limits for the clients of a Proxy. Zero means the default.
type Limits struct {
	Conns  int           // open connections; default: 256
	Header time.Duration // until a request arrives; default: 10 s
	Hello  time.Duration // until its ClientHello arrives; default: 10 s
	Idle   time.Duration // of a connection without traffic; default: 10 min
	Total  time.Duration // of any connection; default: 6 h
}

func (l Limits) withDefaults() Limits {
	return Limits{
		Conns:  cmp.Or(l.Conns, 256),
		Header: cmp.Or(l.Header, 10*time.Second),
		Hello:  cmp.Or(l.Hello, 10*time.Second),
		Idle:   cmp.Or(l.Idle, 10*time.Minute),
		Total:  cmp.Or(l.Total, 6*time.Hour),
	}
}

// Serve serves connections until ctx ends, and closes open ones. Call it once.
func (p *Proxy) Serve(ctx context.Context, l net.Listener) error {
	p.Limits = p.Limits.withDefaults()
	p.refusals.emit = p.Refused
	return serve(ctx, l, http.HandlerFunc(p.handle), p.Limits.Conns, p.Limits.Header)
}

// Traffic returns the traffic so far, by host, at any time.
func (p *Proxy) Traffic() []Traffic { return p.flows.sums() }

func (p *Proxy) handle(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodConnect {
		p.refuse(w, r.Host, Refusal{What: quoted(r.Host), Why: "only TLS through CONNECT is allowed"})
		return
	}
	n, err := parseTarget(r.RequestURI)
	if err != nil {
		p.refuse(w, r.RequestURI, Refusal{What: quoted(r.RequestURI), Why: err.Error()})
		return
	}
	if !p.allows(n) {
		p.refuse(w, n.Host, Refusal{
			What:  n.String(),
			Why:   "it is not on the allow list",
			Input: "allow-domains: " + n.Entry(),
		})
		return
	}
	at, err := p.Route.find(r.Context(), n)
	switch {
	case errors.Is(err, errPrivate), errors.Is(err, errLocal):
		p.refuse(w, n.Host, Refusal{
			What:  n.String(),
			Why:   err.Error(),
			Input: "github.privateHosts: " + n.Entry(),
		})
	case errors.Is(err, errReserved):
		p.refuse(w, n.Host, Refusal{What: n.String(), Why: err.Error()})
	case err != nil:
		answer(w, http.StatusBadGateway, fmt.Sprintf("%s is not reached: %s", n, err))
	default:
		p.connect(w, r, n, at)
	}
}

func (p *Proxy) refuse(w http.ResponseWriter, host string, r Refusal) {
	p.refusals.report(host, r)
	answer(w, http.StatusForbidden, r.String())
}

// String returns r on one line.
func (r Refusal) String() string {
	s := r.What + " is refused: " + r.Why
	if r.Input != "" {
		s += "; this would allow it: " + r.Input
	}
	return s
}

func answer(w http.ResponseWriter, status int, line string) {
	w.Header().Set("Connection", "close")
	http.Error(w, "ralph: "+line, status)
}

// connect hijacks the connection, checks the server name of its ClientHello, and then dials.
func (p *Proxy) connect(w http.ResponseWriter, r *http.Request, n Name, at []netip.Addr) {
	ctx, cancel := context.WithTimeout(r.Context(), p.Limits.Total)
	defer cancel()
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		answer(w, http.StatusHTTPVersionNotSupported, "CONNECT needs HTTP/1.1")
		return
	}
	defer func() { _ = conn.Close() }()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	// Use the library's reader only for buffered bytes: beyond them, it would cancel ctx when the client half-closes.
	early, _ := buffered.Peek(buffered.Reader.Buffered())
	client := &prefixedConn{Conn: conn, from: io.MultiReader(bytes.NewReader(early), conn)}
	hello, err := p.listen(ctx, client, n)
	if err != nil {
		if ctx.Err() == nil && !errors.Is(err, errSilent) {
			p.refusals.report(n.Host, Refusal{What: n.String(), Why: err.Error()})
		}
		return
	}
	server, err := p.Route.reach(ctx, n, at)
	if err != nil {
		return // the client has its 200 already
	}
	defer func() { _ = server.Close() }()
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	p.flows.open(n).pump(tunnelEnds{client, server}, hello, p.Limits.Idle)
}

// listen accepts the tunnel, and returns the client's ClientHello.
func (p *Proxy) listen(ctx context.Context, client *prefixedConn, n Name) ([]byte, error) {
	late := time.AfterFunc(p.Limits.Hello, func() { _ = client.Close() })
	defer late.Stop()
	if _, err := io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return nil, errSilent
	}
	return readHello(ctx, client, n.Host)
}
