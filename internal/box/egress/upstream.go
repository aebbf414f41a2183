package egress

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/lib/fault"
)

// ParseUpstream reads the URL of a company's proxy. Errors do not contain its password.
func ParseUpstream(address string) (*url.URL, error) {
	if !strings.Contains(address, "://") {
		address = "http://" + address // as in most programs
	}
	u, err := url.Parse(address)
	if err != nil || !isValidProxy(u) {
		return nil, fault.Usage("cannot read the address of the company's proxy",
			"set HTTPS_PROXY to http://host:port or http://name:password@host:port", nil)
	}
	return u, nil
}

func isValidProxy(u *url.URL) bool {
	if u.Scheme != "http" && u.Scheme != "https" {
		return false
	}
	if u.Hostname() == "" || strings.Trim(u.Path, "/") != "" {
		return false
	}
	_, err := strconv.ParseUint(cmp.Or(u.Port(), "443"), 10, 16)
	return err == nil
}

var errUpstream = errors.New("the company's proxy did not connect it")

func (r Route) tunnel(ctx context.Context, n Name) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*dialTime)
	defer cancel()
	conn, err := r.dialUpstream(ctx)
	if err != nil {
		return nil, errUpstream // without its address, which may hold a password
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	tunnel, err := r.ask(conn, n)
	if !stop() && err == nil {
		err = ctx.Err() // it was closed at the last moment
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return tunnel, nil
}

func (r Route) dialUpstream(ctx context.Context) (net.Conn, error) {
	proxy := nameOf(r.Upstream)
	conn, err := r.dial(ctx, "tcp", proxy.address())
	if err != nil || r.Upstream.Scheme != "https" {
		return conn, err
	}
	safe := tls.Client(conn, r.trust(proxy.Host))
	if err := safe.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return safe, nil
}

// ask sends a CONNECT and reads the answer. The server's first bytes may follow it.
func (r Route) ask(conn net.Conn, n Name) (net.Conn, error) {
	request := &http.Request{
		Method: http.MethodConnect,
		URL:    &url.URL{Opaque: n.String()},
		Host:   n.String(),
		Header: http.Header{},
	}
	if user := r.Upstream.User; user != nil {
		password, _ := user.Password()
		login := http.Request{Header: http.Header{}}
		login.SetBasicAuth(user.Username(), password)
		request.Header.Set("Proxy-Authorization", login.Header.Get("Authorization"))
	}
	if err := request.Write(conn); err != nil {
		return nil, errUpstream
	}
	const largestAnswer = 64 << 10
	limited := &io.LimitedReader{R: conn, N: largestAnswer}
	reader := bufio.NewReader(limited)
	answer, err := http.ReadResponse(reader, request)
	if err != nil {
		return nil, errUpstream
	}
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%w: it says %d", errUpstream, answer.StatusCode)
	}
	_ = answer.Body.Close() // it is empty
	limited.N = 1 << 62     // the tunnel follows
	return &prefixedConn{Conn: conn, from: reader}, nil
}

type prefixedConn struct {
	net.Conn
	from io.Reader
}

func (a *prefixedConn) Read(p []byte) (int, error) { return a.from.Read(p) }

// CloseWrite half-closes the connection.
func (a *prefixedConn) CloseWrite() error { return closeWrite(a.Conn) }

// closeWrite half-closes a connection, or closes it if that is impossible.
func closeWrite(c net.Conn) error {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return c.Close()
}
