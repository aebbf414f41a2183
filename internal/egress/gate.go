package egress

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// gate counts calls. A closed gate admits none, and close waits for the last one.
type gate struct {
	mu     sync.Mutex
	inside int
	shut   bool
	gone   sync.WaitGroup
}

func (g *gate) enter(most int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut || g.inside >= most {
		return false
	}
	g.inside++
	g.gone.Add(1)
	return true
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inside--
	g.gone.Done()
}

func (g *gate) close() {
	g.mu.Lock()
	g.shut = true
	g.mu.Unlock()
	g.gone.Wait()
}

type bounds struct {
	conns  int           // open at once
	header time.Duration // for a request's head to arrive
}

// serve returns when every connection has ended. It logs nothing: agents could write to the log.
func serve(ctx context.Context, l net.Listener, h http.Handler, b bounds) error {
	inside, conns := new(gate), new(gate)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	server := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !inside.enter(b.conns) {
				http.Error(w, "too many at once", http.StatusServiceUnavailable)
				return
			}
			defer inside.leave()
			h.ServeHTTP(w, r)
		}),
		ReadHeaderTimeout: b.header,
		IdleTimeout:       30 * time.Second,
		MaxHeaderBytes:    32 << 10,
		ErrorLog:          slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ConnState:         func(c net.Conn, s http.ConnState) { conns.watch(c, s, b.conns) },
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	err := server.Serve(l)
	cancel() // ends hijacked connections too
	_ = server.Close()
	inside.close()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// watch closes connections beyond the limit before anything is read from them.
func (g *gate) watch(c net.Conn, s http.ConnState, most int) {
	switch s {
	case http.StateNew:
		g.mu.Lock()
		g.inside++
		full := g.inside > most
		g.mu.Unlock()
		if full {
			_ = c.Close()
		}
	case http.StateHijacked, http.StateClosed:
		g.mu.Lock()
		g.inside--
		g.mu.Unlock()
	case http.StateActive, http.StateIdle:
	}
}

// Listener is a loopback listener for a Proxy or a Model.
type Listener struct {
	net.Listener

	Port int
}

// At returns the address of the listener.
func (l Listener) At() netip.AddrPort { return netip.AddrPortFrom(loopback, uint16(l.Port)) } //nolint:gosec // a port

var loopback = netip.AddrFrom4([4]byte{127, 0, 0, 1})

// Listen opens a Listener at a free port.
func Listen(ctx context.Context) (Listener, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return Listener{}, fmt.Errorf("listen on loopback: %w", err)
	}
	at, is := l.Addr().(*net.TCPAddr)
	if !is {
		return Listener{}, fmt.Errorf("listen on loopback: at %s", l.Addr())
	}
	return Listener{Listener: l, Port: at.Port}, nil
}
