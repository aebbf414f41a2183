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

// Proxy lets TLS through to the hosts that it allows: by CONNECT, to an exact
// name and port, decided before the name is looked up. It looks into no
// connection further than to the name that its TLS asks for.
type Proxy struct {
	Allow   []Name // beside Route.Private
	Any     bool   // every host by its name, as on a laptop that was asked for no list
	Route   Route
	List    string        // what its list is called where it is set; empty: allow-domains
	Refused func(Refusal) // may be nil
	Limits  Limits

	crier  reporter
	ledger trafficLog

	mu   sync.RWMutex
	more []Name // permitted since
}

// Permit adds to the list of a Proxy that may serve already.
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

// Limits are what those inside may take of a Proxy. Zero stands for the usual.
type Limits struct {
	Conns  int           // open at once; 256
	Header time.Duration // for a request to arrive; 10 s
	Hello  time.Duration // for its TLS to say whom it wants; 10 s
	Idle   time.Duration // for a connection in which nothing moves; 10 min
	Total  time.Duration // for any connection; 6 h
}

func (l Limits) orUsual() Limits {
	usual := Limits{Conns: 256, Header: 10 * time.Second, Hello: 10 * time.Second, Idle: 10 * time.Minute, Total: 6 * time.Hour}
	return Limits{
		Conns: cmp.Or(l.Conns, usual.Conns), Header: cmp.Or(l.Header, usual.Header), Hello: cmp.Or(l.Hello, usual.Hello),
		Idle: cmp.Or(l.Idle, usual.Idle), Total: cmp.Or(l.Total, usual.Total),
	}
}

// Serve is called once. It returns when all connections have ended.
func (p *Proxy) Serve(ctx context.Context, l net.Listener) error {
	p.Limits = p.Limits.orUsual()
	p.crier.tell = p.Refused
	return serve(ctx, l, http.HandlerFunc(p.handle), bounds{conns: p.Limits.Conns, header: p.Limits.Header})
}

// Traffic is what passed so far, by host. It may be asked at any time.
func (p *Proxy) Traffic() []Traffic { return p.ledger.sums() }

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
		p.refuse(w, n.Host, Refusal{What: n.String(), Why: "it is not on the allow list", Input: cmp.Or(p.List, "allow-domains") + ": " + n.Entry()})
		return
	}
	at, err := p.Route.find(r.Context(), n)
	switch {
	case errors.Is(err, errPrivate), errors.Is(err, errNear):
		p.refuse(w, n.Host, Refusal{What: n.String(), Why: err.Error(), Input: "private-hosts: " + n.Entry()})
	case errors.Is(err, errNever):
		p.refuse(w, n.Host, Refusal{What: n.String(), Why: err.Error()})
	case err != nil:
		answer(w, http.StatusBadGateway, fmt.Sprintf("%s is not reached: %s", n, err))
	default:
		p.connect(w, r, n, at)
	}
}

func (p *Proxy) refuse(w http.ResponseWriter, host string, r Refusal) {
	p.crier.report(host, r)
	answer(w, http.StatusForbidden, r.String())
}

// String is r in a line.
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

// connect takes the connection over, reads which host its TLS names, and only then dials.
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
	// Past what is buffered, the library's reader would end ctx with the first
	// side that has said all it has to say.
	early, _ := buffered.Peek(buffered.Reader.Buffered())
	client := &prefixedConn{Conn: conn, from: io.MultiReader(bytes.NewReader(early), conn)}
	said, err := p.listen(ctx, client, n)
	if err != nil {
		if ctx.Err() == nil && !errors.Is(err, errSilent) {
			p.crier.report(n.Host, Refusal{What: n.String(), Why: reason(err)})
		}
		return
	}
	server, err := p.Route.reach(ctx, n, at)
	if err != nil {
		return // it was told 200 already; all that is left is to hang up
	}
	defer func() { _ = server.Close() }()
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	p.ledger.open(n).pump(ends{client, server}, said, p.Limits.Idle)
}

// listen accepts the tunnel, and returns what the client then sends.
func (p *Proxy) listen(ctx context.Context, client *prefixedConn, n Name) ([]byte, error) {
	late := time.AfterFunc(p.Limits.Hello, func() { _ = client.Close() })
	defer late.Stop()
	if _, err := io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return nil, errSilent
	}
	return readHello(ctx, client, n.Host)
}

func reason(err error) string {
	for _, known := range []error{errNoSNI, errSNI} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return errNotTLS.Error()
}
