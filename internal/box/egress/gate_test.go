package egress_test

import (
	"errors"
	"net"
	"net/http"
	"runtime"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/box/egress"
)

// Silent clients count too: connections beyond the limit are closed at once. A
// client that leaves makes room for another.
func TestIdleConnectionsAreBounded(t *testing.T) {
	s := newTestProxy(t, func(s *testProxy) { s.proxy.Limits = egress.Limits{Conns: 2, Header: time.Hour} })
	first, second := s.line(), s.line()
	s.line().closed(t)
	_ = first.Close()
	for over := time.After(patience); ; {
		if status, _ := s.line().say(connect("missing.example:443")); status == http.StatusForbidden {
			break
		}
		select {
		case <-over:
			t.Fatal("no connection is let in any more")
		default:
		}
	}
	_ = second.Close()
}

// Serve returns when the last client has left, and not before.
func TestServeWaitsForThoseInside(t *testing.T) {
	dialling, release := make(chan bool), make(chan bool)
	s := newTestProxy(t, func(s *testProxy) {
		s.dialled = func(string) (net.Conn, error) {
			close(dialling)
			<-release // deaf to a client that stops waiting
			return nil, errors.New("no server is there")
		}
	})
	l := s.tunnel("example.com:443")
	_, _ = l.Write(hello(t, "example.com"))
	<-dialling
	ended := make(chan error, 1)
	go func() { ended <- s.stop() }()
	l.closed(t) // so it was told to end
	for range 10_000 {
		runtime.Gosched()
		if len(ended) > 0 {
			t.Fatal("it ended while a connection was being made")
		}
	}
	close(release)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
