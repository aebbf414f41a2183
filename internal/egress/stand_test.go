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

	"github.com/ralph-loop/ralph/internal/egress"
)

// patience is how long a test waits for what it knows must come.
const patience = time.Minute

// stand is a Proxy that serves, and the world around it: a resolver and a
// network that keep what they were asked.
type stand struct {
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

// newStand allows example.com, which has a public address.
func newStand(tb testing.TB, set func(*stand)) *stand {
	tb.Helper()
	s := &stand{TB: tb, hosts: map[string][]string{"example.com.": {"93.184.216.34"}}}
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

// served runs a server until it is stopped, or the test is over.
func served(tb testing.TB, serve func(context.Context, net.Listener) error) (address string, stop func() error) {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
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
	all, err := egress.ParseNames(entries)
	if err != nil {
		tb.Fatal(err)
	}
	return all
}

func (s *stand) resolve(_ context.Context, host string) ([]netip.Addr, error) {
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

func (s *stand) dial(_ context.Context, _, address string) (net.Conn, error) {
	s.mu.Lock()
	s.dials = append(s.dials, address)
	answer := s.dialled
	s.mu.Unlock()
	return answer(address)
}

// to has every connection end at this server's.
func (s *stand) to(server net.Addr) {
	s.dialled = func(string) (net.Conn, error) { return net.Dial("tcp", server.String()) }
}

// log is what the world was asked.
func (s *stand) log() (lookups, dials []string, refused []egress.Refusal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lookups, s.dials, s.refused
}

// line is a connection to the proxy.
type line struct {
	net.Conn
	from *bufio.Reader
}

func (s *stand) line() *line {
	s.Helper()
	conn, err := net.Dial("tcp", s.address)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(patience))
	return &line{conn, bufio.NewReader(conn)}
}

func (l *line) Read(p []byte) (int, error) { return l.from.Read(p) }

// say writes a request and reads the head of the answer.
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

// tunnel is a line that the proxy said yes to.
func (s *stand) tunnel(target string) *line {
	s.Helper()
	l := s.line()
	if status, body := l.say(connect(target)); status != http.StatusOK {
		s.Fatalf("CONNECT %s: %d %s", target, status, body)
	}
	return l
}

// closed fails unless the other side hangs up without a word.
func (l *line) closed(t *testing.T) {
	t.Helper()
	rest, err := io.ReadAll(l)
	if late, is := errors.AsType[net.Error](err); is && late.Timeout() || len(rest) > 0 {
		t.Errorf("it is open: %q, %v", rest, err)
	}
}

// hello is what a TLS client says first to that server.
func hello(tb testing.TB, server string) []byte {
	tb.Helper()
	ours, theirs := net.Pipe()
	go func() {
		_ = tls.Client(ours, &tls.Config{ServerName: server, InsecureSkipVerify: true}).Handshake()
		ours.Close()
	}()
	buffer := make([]byte, 64<<10)
	n, err := theirs.Read(buffer)
	if err != nil {
		tb.Fatal(err)
	}
	theirs.Close()
	return buffer[:n]
}
