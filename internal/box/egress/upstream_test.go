package egress_test

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/box/egress"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
)

// company is a company's proxy: it records its requests and connects to one server
// for all names.
type company struct {
	asked chan *http.Request
	url   *url.URL
}

// newCompany speaks plain HTTP.
func newCompany(t *testing.T, status int, to net.Addr) company {
	t.Helper()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	return companyAt(t, l, "http", status, to)
}

func companyAt(t *testing.T, l net.Listener, scheme string, status int, to net.Addr) company {
	t.Helper()
	t.Cleanup(func() { l.Close() })
	c := company{make(chan *http.Request, 16), &url.URL{Scheme: scheme, Host: l.Addr().String(), User: url.UserPassword("me", "pass-1f2e")}}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go c.serve(conn, status, to)
		}
	}()
	return c
}

func (c company) serve(conn net.Conn, status int, to net.Addr) {
	defer conn.Close()
	from := bufio.NewReader(conn)
	request, err := http.ReadRequest(from)
	if err != nil {
		return
	}
	c.asked <- request
	if status != http.StatusOK {
		_ = (&http.Response{StatusCode: status, ProtoMajor: 1, ProtoMinor: 1, Body: io.NopCloser(strings.NewReader("no, me:pass-1f2e"))}).Write(conn)
		return
	}
	server, err := net.Dial("tcp", to.String())
	if err != nil {
		return
	}
	defer server.Close()
	_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
	go func() { _, _ = io.Copy(server, from); _ = server.(*net.TCPConn).CloseWrite() }()
	_, _ = io.Copy(conn, server)
}

// A company's proxy may speak TLS. It gets the password only with a valid
// certificate. Data of any size passes unchanged.
func TestThroughACompanysProxyOverTLS(t *testing.T) {
	text := strings.Repeat("0123456789abcdef", 1<<16)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }))
	defer server.Close()
	l := must.Get(tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: server.TLS.Certificates}))(t)
	c := companyAt(t, l, "https", http.StatusOK, server.Listener.Addr())
	strange := newTestProxy(t, func(s *testProxy) { s.proxy.Route.Upstream, s.proxy.Route.Dial = c.url, nil })
	hung := strange.tunnel("example.com:443")
	_, _ = hung.Write(hello(t, "example.com"))
	hung.closed(t)
	if len(c.asked) > 0 {
		t.Errorf("a stranger was told %v", (<-c.asked).Header)
	}

	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	s := newTestProxy(t, func(s *testProxy) {
		s.proxy.Route.Upstream, s.proxy.Route.Dial, s.proxy.Route.Roots = c.url, nil, roots
	})
	answer, err := s.client(server).Get("https://example.com/")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if got, err := io.ReadAll(answer.Body); string(got) != text || err != nil || len(c.asked) != 1 {
		t.Errorf("%d bytes of %d, %v, asked %d times", len(got), len(text), err, len(c.asked))
	}
	asked := <-c.asked
	login := http.Request{Header: http.Header{"Authorization": asked.Header["Proxy-Authorization"]}}
	if name, password, _ := login.BasicAuth(); asked.RequestURI != "example.com:443" || name != "me" || password != "pass-1f2e" {
		t.Errorf("asked for %s by %s %s", asked.RequestURI, name, password)
	}
	if lookups, _, _ := s.log(); len(lookups) > 0 {
		t.Errorf("looked up %q, which is the company's to do", lookups)
	}
}

// If a company's proxy refuses a connection, the client is disconnected and does
// not see the password.
func TestRefusedByACompanysProxy(t *testing.T) {
	c := newCompany(t, http.StatusProxyAuthRequired, nil)
	s := newTestProxy(t, func(s *testProxy) { s.proxy.Route.Upstream, s.proxy.Route.Dial = c.url, nil })
	l := s.tunnel("example.com:443")
	_, _ = l.Write(hello(t, "example.com"))
	l.closed(t)
	if len(c.asked) != 1 {
		t.Errorf("the company was asked %d times", len(c.asked))
	}
}

// Refused and private hosts do not reach the company's proxy.
func TestNotThroughACompanysProxy(t *testing.T) {
	home, got := listener(t)
	c := newCompany(t, http.StatusOK, home)
	s := newTestProxy(t, func(s *testProxy) {
		s.proxy.Route.Upstream, s.proxy.Route.Private = c.url, names(t, "git.example.com")
		s.hosts["git.example.com"] = []string{"10.0.0.7"}
		s.to(home)
	})
	s.line().say(connect("attacker.example:443"))
	_, _ = s.tunnel("example.com:443").Write(hello(t, "attacker.example"))
	l, said := s.tunnel("git.example.com:443"), string(hello(t, "git.example.com"))
	_, _ = io.WriteString(l, said)
	_ = l.Conn.(*net.TCPConn).CloseWrite()
	if arrived := <-got; arrived != said {
		t.Errorf("%d bytes arrived of %d", len(arrived), len(said))
	}
	if _, dials, _ := s.log(); len(c.asked) > 0 || strings.Join(dials, " ") != "10.0.0.7:443" {
		t.Errorf("the company was asked %d times, dialled %q", len(c.asked), dials)
	}
}

func TestParseUpstream(t *testing.T) {
	for address, want := range map[string]string{
		"http://proxy.example:3128": "http://proxy.example:3128", "proxy.example:3128": "http://proxy.example:3128",
		"https://a:b@proxy.example/": "https://a:b@proxy.example/",
	} {
		if got, err := egress.ParseUpstream(address); err != nil || got.String() != want {
			t.Errorf("ParseUpstream(%q) = %v, %v", address, got, err)
		}
	}
	for _, address := range []string{"", "http://", "http://:3128", "http://proxy.example:99999", "socks5://a:pass-1f2e@h", "http://a:pass-1f2e@h/x", "http://a:pass-1f2e@%zz"} {
		_, err := egress.ParseUpstream(address)
		if err == nil || fault.Hint(err) == "" || strings.Contains(err.Error()+fault.Hint(err), "pass-1f2e") {
			t.Errorf("ParseUpstream(%q): %v", address, err)
		}
	}
}

// The transport trusts the company's certificates and uses the company's proxy,
// but connects to servers of this machine directly.
func TestTransport(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Host+" "+r.Header.Get("Accept-Encoding"))
	}))
	defer server.Close()
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	c := newCompany(t, http.StatusOK, server.Listener.Addr())
	transport := egress.Route{Upstream: c.url, Roots: roots}.Transport()
	defer transport.CloseIdleConnections()
	get := func(address string) string {
		request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil))(t)
		answer, err := transport.RoundTrip(request)
		if err != nil {
			return err.Error()
		}
		defer answer.Body.Close()
		body, _ := io.ReadAll(answer.Body)
		return string(body)
	}
	if got := get("https://example.com/"); got != "example.com " || len(c.asked) != 1 {
		t.Errorf("got %q, and the company was asked %d times", got, len(c.asked))
	}
	if got := get(server.URL); got != server.Listener.Addr().String()+" " || len(c.asked) != 1 {
		t.Errorf("got %q, and the company was asked %d times", got, len(c.asked))
	}
	strict := egress.Route{}.Transport()
	defer strict.CloseIdleConnections()
	transport = strict
	if got := get(server.URL); !strings.Contains(got, "x509") {
		t.Errorf("a stranger's certificate: %q", got)
	}
}

// The end of the run does not wait for a proxy that never answers.
func TestSilentCompany(t *testing.T) {
	silent, _ := listener(t)
	s := newTestProxy(t, func(s *testProxy) {
		s.proxy.Route.Upstream = &url.URL{Scheme: "http", Host: "proxy.example:3128"}
		s.to(silent)
	})
	l := s.tunnel("example.com:443")
	_, _ = l.Write(hello(t, "example.com"))
	if err := s.stop(); err != nil {
		t.Error(err)
	}
	l.closed(t)
}
