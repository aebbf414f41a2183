package egress_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/box/egress"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
)

// client sends requests through the test's proxy, like a program in the sandbox.
func (s *testProxy) client(of *httptest.Server) *http.Client {
	s.Helper()
	transport := of.Client().Transport.(*http.Transport).Clone()
	transport.Proxy = http.ProxyURL(&url.URL{Scheme: "http", Host: s.address})
	transport.DialContext = nil
	s.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: patience}
}

func TestWhatIsAllowedPasses(t *testing.T) {
	body := strings.Repeat("x", 3<<20)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(w, r.Body)
	}))
	defer server.Close()
	s := newTestProxy(t, func(s *testProxy) { s.to(server.Listener.Addr()) })
	client := s.client(server)
	for _, address := range []string{"https://example.com/", "https://EXAMPLE.com:443/"} {
		answer, err := client.Post(address, "text/plain", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(answer.Body)
		if answer.Body.Close(); err != nil || string(got) != body {
			t.Errorf("%s: %d bytes, %v", address, len(got), err)
		}
	}
	lookups, dials, refused := s.log()
	if lookups[0] != "example.com." || dials[0] != "93.184.216.34:443" || len(refused) > 0 {
		t.Errorf("looked up %q, dialled %q, refused %v", lookups, dials, refused)
	}
	client.CloseIdleConnections()
	if err := s.stop(); err != nil { // until then bytes may have arrived that are not counted
		t.Error(err)
	}
	got := s.proxy.Traffic()
	if len(got) != 1 || got[0].Name.String() != "example.com:443" || got[0].Tunnels != int64(len(dials)) || got[0].Up < 6<<20 || got[0].Down < 6<<20 {
		t.Errorf("Traffic = %+v", got)
	}
}

// Row 7 of the threat model: a refused request causes no name lookup and no
// connection. Status 400 comes from the library.
func TestRefusedBeforeLookedUp(t *testing.T) {
	s := newTestProxy(t, func(s *testProxy) { s.proxy.Allow = names(t, "example.com", "other.example:8443") })
	targets := []string{
		"attacker.example:443", "example.com.attacker.example:443", "attackerexample.com:443", "sub.example.com:443", "com:443",
		"example.com:80", "example.com:8443", "other.example:443", "example.com:0443", "example.com:", "example.com",
		"93.184.216.34:443", "169.254.169.254:443", "example.com@attacker.example:443", "attacker.example@example.com:443",
		"https://example.com/", "attacker.example:443 HTTP/1.1\r\nHost: example.com:443\r\nX: y",
	}
	for _, host := range misnamed {
		targets = append(targets, host+":443")
	}
	for _, target := range targets {
		status, body := s.line().say(fmt.Sprintf("CONNECT %s HTTP/1.1\r\nHost: example.com:443\r\n\r\n", target))
		if status != http.StatusForbidden && status != http.StatusBadRequest {
			t.Errorf("CONNECT %s: %d %s", target, status, body)
		}
	}
	for _, request := range []string{
		"GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n",
		"GET https://example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: example.com\r\n\r\n",
		"POST http://169.254.169.254/ HTTP/1.1\r\nHost: example.com\r\nContent-Length: 0\r\n\r\n",
	} {
		if status, body := s.line().say(request); status != http.StatusForbidden {
			t.Errorf("%q: %d %s", request, status, body)
		}
	}
	if lookups, dials, _ := s.log(); len(lookups)+len(dials) > 0 {
		t.Errorf("looked up %q, dialled %q", lookups, dials)
	}
}

func TestRefusalNamesItsRemedy(t *testing.T) {
	s := newTestProxy(t, func(s *testProxy) { s.hosts["example.com."] = []string{"10.0.0.1"} })
	long := strings.Repeat("x", 5000)
	for _, target := range []string{"new.example:443", "new.example:8443", "NEW.example.:443", "new.example:443", "other.example:81", "example.com:443", "1.2.3.4:443", long + ":443"} {
		if status, body := s.line().say(connect(target)); status != http.StatusForbidden || !strings.HasPrefix(body, "ralph: ") {
			t.Errorf("CONNECT %s: %d %q", target, status, body)
		}
	}
	_, _, refused := s.log()
	want := []egress.Refusal{
		{What: "new.example:443", Why: "it is not on the allow list", Input: "allow-domains: new.example"},
		{What: "other.example:81", Why: "it is not on the allow list", Input: "allow-domains: other.example:81"},
		{What: "example.com:443", Why: "it has a private address", Input: "github.privateHosts: example.com"},
		{What: `"1.2.3.4:443"`, Why: "it is an address, not a name"},
		{What: `"` + long[:80] + `\u2026"`, Why: "it is not a host name"},
	}
	if diff := cmp.Diff(want, refused); diff != "" {
		t.Errorf("told (-want +got), one a host:\n%s", diff)
	}
}

func TestRefusalsAreNotManyForEver(t *testing.T) {
	s := newTestProxy(t, nil)
	for i := range 120 {
		s.line().say(connect(fmt.Sprintf("h%d.example:443", i)))
	}
	_, _, refused := s.log()
	if len(refused) != 51 || refused[49].What != "h49.example:443" || refused[50].What != "many more" {
		t.Errorf("told %d times, and last %v", len(refused), refused[len(refused)-1])
	}
}

// An address that does not answer leaves time for the others.
func TestAddressesThatAreNotDialled(t *testing.T) {
	for _, test := range []struct {
		addresses []string
		home      bool // a person named it as private
		dialled   string
	}{
		{addresses: []string{"10.0.0.1"}},
		{addresses: []string{"127.0.0.1"}},
		{addresses: []string{"169.254.169.254"}},
		{addresses: []string{"::ffff:127.0.0.1"}},
		{addresses: []string{"64:ff9b::7f00:1"}},
		{addresses: []string{"fe80::1%eth0"}},
		{addresses: nil},
		{addresses: []string{"10.0.0.1", "93.184.216.34", "::1"}, dialled: "93.184.216.34:443"},
		{addresses: []string{"::ffff:93.184.216.34"}, dialled: "93.184.216.34:443"},
		{addresses: []string{"2606:4700::1111", "93.184.216.34"}, dialled: "[2606:4700::1111]:443 93.184.216.34:443"},
		{home: true, addresses: []string{"10.0.0.1"}, dialled: "10.0.0.1:443"},
		{home: true, addresses: []string{"127.0.0.1"}, dialled: "127.0.0.1:443"},
		{home: true, addresses: []string{"93.184.216.34"}, dialled: "93.184.216.34:443"},
		{home: true, addresses: []string{"169.254.169.254"}},
		{home: true, addresses: []string{"::ffff:169.254.169.254"}},
		{home: true, addresses: []string{"0.0.0.0"}},
	} {
		t.Run(fmt.Sprint(test.addresses, test.home), func(t *testing.T) {
			s := newTestProxy(t, func(s *testProxy) {
				s.hosts = map[string][]string{"example.com.": test.addresses}
				if test.home {
					s.hosts = map[string][]string{"example.com": test.addresses}
					s.proxy.Allow, s.proxy.Route.Private = nil, names(t, "example.com")
				}
			})
			l := s.line()
			status, body := l.say(connect("example.com:443"))
			if test.dialled == "" {
				if status != http.StatusForbidden && status != http.StatusBadGateway || strings.Contains(body, "10.9.8.7") {
					t.Errorf("answer %d %s", status, body)
				}
			} else {
				_, _ = l.Write(hello(t, "example.com"))
				l.closed(t) // no server is there
			}
			_, dials, _ := s.log()
			if got := strings.Join(dials, " "); got != test.dialled {
				t.Errorf("dialled %q, want %q", got, test.dialled)
			}
		})
	}
}

// A name is resolved once: a later change of its address has no effect.
func TestRebinding(t *testing.T) {
	s := newTestProxy(t, nil)
	l := s.tunnel("example.com:443")
	s.mu.Lock()
	s.hosts["example.com."] = []string{"127.0.0.1"}
	s.mu.Unlock()
	_, _ = l.Write(hello(t, "example.com"))
	l.closed(t)
	lookups, dials, _ := s.log()
	if len(lookups) != 1 || len(dials) != 1 || dials[0] != "93.184.216.34:443" {
		t.Errorf("looked up %q, dialled %q", lookups, dials)
	}
}

// listener records what arrives.
func listener(t *testing.T) (net.Addr, <-chan string) {
	t.Helper()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { l.Close() })
	got := make(chan string, 16)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				b, _ := io.ReadAll(conn)
				got <- string(b)
			}()
		}
	}()
	return l.Addr(), got
}

// Who names another server in TLS than in its CONNECT is disconnected before the proxy dials.
func TestHelloThatIsRefused(t *testing.T) {
	attacker, got := listener(t)
	s := newTestProxy(t, func(s *testProxy) { s.to(attacker) })
	l := s.tunnel("example.com:443")
	_, _ = l.Write(hello(t, "attacker.example"))
	l.closed(t)
	must.Do(t, s.stop())
	_, dials, refused := s.log()
	if len(dials) > 0 || len(got) > 0 {
		t.Errorf("dialled %q, and %d were heard", dials, len(got))
	}
	if len(refused) != 1 || !strings.Contains(refused[0].Why, "TLS") || len(refused[0].Why) > 60 {
		t.Errorf("told %+v", refused)
	}
}

// A ClientHello arrives unchanged, also one that comes in pieces: the first with the CONNECT, the last with what follows.
func TestHelloInPieces(t *testing.T) {
	server, got := listener(t)
	s := newTestProxy(t, func(s *testProxy) { s.to(server) })
	l, said := s.line(), string(split(hello(t, "EXAMPLE.com"), 7))
	if status, body := l.say(connect("example.com:443") + said[:10]); status != http.StatusOK {
		t.Fatal(status, body)
	}
	sent := said + "more"
	_, _ = io.WriteString(l, sent[10:])
	_ = l.Conn.(*net.TCPConn).CloseWrite()
	if arrived := <-got; arrived != sent {
		t.Errorf("%d bytes arrived of %d", len(arrived), len(sent))
	}
	l.closed(t)
	if traffic := s.proxy.Traffic(); traffic[0].Up != int64(len(sent)) {
		t.Errorf("counted %+v, want %d up", traffic, len(sent))
	}
}

// split splits a ClientHello of one record into records of n bytes.
func split(record []byte, n int) []byte {
	var out []byte
	for rest := record[5:]; len(rest) > 0; {
		k := min(n, len(rest))
		out = append(out, 22, 3, 1, byte(k>>8), byte(k))
		out = append(out, rest[:k]...)
		rest = rest[k:]
	}
	return out
}

// Every request, ClientHello and tunnel has a time limit.
func TestSlowOnesAreLetGo(t *testing.T) {
	const soon = 100 * time.Millisecond
	request, tls := connect("example.com:443"), string(hello(t, "example.com"))
	for name, test := range map[string]struct {
		limits egress.Limits
		sent   string
	}{
		"a request":      {egress.Limits{Header: soon}, request[:len(request)-2]},
		"a hello":        {egress.Limits{Hello: soon}, request},
		"half a hello":   {egress.Limits{Hello: soon}, request + tls[:9]},
		"an idle tunnel": {egress.Limits{Idle: soon}, request + tls},
		"a long tunnel":  {egress.Limits{Total: soon}, request + tls},
	} {
		t.Run(name, func(t *testing.T) {
			silent, _ := listener(t)
			s := newTestProxy(t, func(s *testProxy) { s.to(silent); s.proxy.Limits = test.limits })
			l := s.line()
			_, _ = io.WriteString(l, test.sent)
			_, err := io.Copy(io.Discard, l)
			if late, is := errors.AsType[net.Error](err); is && late.Timeout() {
				t.Error("it is let sit there")
			}
		})
	}
}

// When the proxy ends, all its connections end.
func TestServeEndsTunnels(t *testing.T) {
	silent, _ := listener(t)
	s := newTestProxy(t, func(s *testProxy) { s.to(silent) })
	waiting, through := s.tunnel("example.com:443"), s.tunnel("example.com:443")
	_, _ = through.Write(hello(t, "example.com"))
	must.Do(t, s.stop())
	waiting.closed(t)
	through.closed(t)
	if conn, err := net.Dial("tcp", s.address); err == nil {
		conn.Close()
		t.Error("it still listens")
	}
}

// A client that half-closes its side still gets the answer.
func TestAnswerAfterTheLastWord(t *testing.T) {
	server := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer server.Close()
	go func() {
		conn, err := server.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = io.Copy(io.Discard, conn)
		_, _ = io.WriteString(conn, "goodbye")
	}()
	s := newTestProxy(t, func(s *testProxy) { s.to(server.Addr()) })
	l := s.tunnel("example.com:443")
	_, _ = l.Write(hello(t, "example.com"))
	_ = l.Conn.(*net.TCPConn).CloseWrite()
	if got, err := io.ReadAll(l); string(got) != "goodbye" || err != nil {
		t.Errorf("answer %q, %v", got, err)
	}
}

// Permit allows hosts while a proxy serves.
func TestPermit(t *testing.T) {
	s := newTestProxy(t, func(s *testProxy) { s.hosts["late.example."] = []string{"93.184.216.34"} })
	if status, _ := s.line().say(connect("late.example:443")); status != http.StatusForbidden {
		t.Errorf("before: %d", status)
	}
	s.proxy.Permit(names(t, "late.example"))
	s.proxy.Permit(names(t, "later.example:8443"))
	for target, want := range map[string]int{"late.example:443": http.StatusOK, "late.example:8443": http.StatusForbidden, "example.com:443": http.StatusOK} {
		if status, body := s.line().say(connect(target)); status != want {
			t.Errorf("then %s: %d %s", target, status, body)
		}
	}
}

// Without a list, every host is allowed by name. IP addresses and private hosts
// are not.
func TestAnyHostByItsName(t *testing.T) {
	s := newTestProxy(t, func(s *testProxy) {
		s.proxy.Allow, s.proxy.Any = nil, true
		s.hosts = map[string][]string{"public.example.": {"93.184.216.34"}, "home.example.": {"10.0.0.1"}, "meta.example.": {"169.254.169.254"}}
	})
	for target, want := range map[string]int{
		"public.example:443": http.StatusOK, "public.example:8443": http.StatusOK, "home.example:443": http.StatusForbidden,
		"meta.example:80": http.StatusForbidden, "93.184.216.34:443": http.StatusForbidden, "localhost:443": http.StatusBadGateway,
	} {
		if status, body := s.line().say(connect(target)); status != want {
			t.Errorf("CONNECT %s: %d %s, want %d", target, status, body, want)
		}
	}
	lookups, dials, _ := s.log()
	if len(dials) > 0 {
		t.Errorf("looked up %q, dialled %q before a word of TLS", lookups, dials)
	}
}
