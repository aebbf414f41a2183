package egress_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/box/egress"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
)

// patience is how long a test waits for an expected event.
const patience = time.Minute

// testProxy is a running Proxy, with a resolver and a network that record their
// requests.
type testProxy struct {
	testing.TB
	proxy   *egress.Proxy
	address string
	stop    func() error // ends Serve, and gives what it returned

	mu      sync.Mutex
	hosts   map[string][]string            // what names are resolved to
	dialled func(string) (net.Conn, error) // who answers
	lookups []string
	dials   []string
	refused []egress.Refusal
}

// newTestProxy allows example.com, which has a public address.
func newTestProxy(tb testing.TB, set func(*testProxy)) *testProxy {
	tb.Helper()
	s := &testProxy{TB: tb, hosts: map[string][]string{"example.com.": {"93.184.216.34"}}}
	s.dialled = func(string) (net.Conn, error) { return nil, errors.New("no server is there") }
	s.proxy = &egress.Proxy{
		Allow: names(tb, "example.com"),
		Route: egress.Route{Resolve: s.resolve, Dial: s.dial},
		Refused: func(r egress.Refusal) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.refused = append(s.refused, r)
		},
	}
	if set != nil {
		set(s)
	}
	s.address, s.stop = served(tb, s.proxy.Serve)
	return s
}

// served runs a server until it is stopped or the test ends.
func served(tb testing.TB, serve func(context.Context, net.Listener) error) (address string, stop func() error) {
	tb.Helper()
	l := must.Get(egress.Listen(tb.Context()))(tb)
	ctx, cancel := context.WithCancel(tb.Context())
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, l) }()
	stop = sync.OnceValue(func() error {
		cancel()
		select {
		case err := <-ended:
			return err
		case <-time.After(patience):
			return errors.New("it does not end")
		}
	})
	tb.Cleanup(func() {
		if err := stop(); err != nil {
			tb.Error(err)
		}
	})
	return l.Addr().String(), stop
}

func names(tb testing.TB, entries ...string) []egress.Name {
	tb.Helper()
	all := must.Get(egress.ParseNames(entries))(tb)
	return all
}

func (s *testProxy) resolve(_ context.Context, host string) ([]netip.Addr, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lookups = append(s.lookups, host)
	var all []netip.Addr
	for _, a := range s.hosts[host] {
		all = append(all, netip.MustParseAddr(a))
	}
	if len(all) == 0 {
		return nil, errors.New("no such host on 10.9.8.7:53")
	}
	return all, nil
}

func (s *testProxy) dial(_ context.Context, _, address string) (net.Conn, error) {
	s.mu.Lock()
	s.dials = append(s.dials, address)
	answer := s.dialled
	s.mu.Unlock()
	return answer(address)
}

// to directs every connection to this server.
func (s *testProxy) to(server net.Addr) {
	s.dialled = func(string) (net.Conn, error) { return net.Dial("tcp", server.String()) }
}

// log returns the recorded lookups and connections.
func (s *testProxy) log() (lookups, dials []string, refused []egress.Refusal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lookups, s.dials, s.refused
}

// line is a connection to the proxy.
type line struct {
	net.Conn
	from *bufio.Reader
}

func (s *testProxy) line() *line {
	s.Helper()
	conn := must.Get(net.Dial("tcp", s.address))(s)
	s.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(patience))
	return &line{conn, bufio.NewReader(conn)}
}

func (l *line) Read(p []byte) (int, error) { return l.from.Read(p) }

// say writes a request and reads the header of the answer.
func (l *line) say(request string) (status int, body string) {
	if _, err := io.WriteString(l, request); err != nil {
		return 0, err.Error()
	}
	answer, err := http.ReadResponse(l.from, &http.Request{Method: http.MethodConnect})
	if err != nil {
		return 0, err.Error()
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusOK {
		return answer.StatusCode, ""
	}
	text, _ := io.ReadAll(answer.Body)
	return answer.StatusCode, strings.TrimSpace(string(text))
}

func connect(target string) string {
	return fmt.Sprintf("CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", target, target)
}

// tunnel returns a line with an accepted CONNECT.
func (s *testProxy) tunnel(target string) *line {
	s.Helper()
	l := s.line()
	if status, body := l.say(connect(target)); status != http.StatusOK {
		s.Fatalf("CONNECT %s: %d %s", target, status, body)
	}
	return l
}

// closed fails unless the other side closes the connection without an answer.
func (l *line) closed(t *testing.T) {
	t.Helper()
	rest, err := io.ReadAll(l)
	if late, is := errors.AsType[net.Error](err); is && late.Timeout() || len(rest) > 0 {
		t.Errorf("it is open: %q, %v", rest, err)
	}
}

// hello returns the ClientHello of a TLS client for a server.
func hello(tb testing.TB, server string) []byte {
	tb.Helper()
	ours, theirs := net.Pipe()
	go func() {
		_ = tls.Client(ours, &tls.Config{ServerName: server, InsecureSkipVerify: true}).Handshake()
		ours.Close()
	}()
	buffer := make([]byte, 64<<10)
	n := must.Get(theirs.Read(buffer))(tb)
	theirs.Close()
	return buffer[:n]
}
