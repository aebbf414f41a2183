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

// boundedListener closes connections beyond its limit before anything is read from them.
type boundedListener struct {
	net.Listener

	open chan struct{} // holds one for each open connection
}

func (l boundedListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		select {
		case l.open <- struct{}{}:
			return &boundedConn{conn, sync.OnceFunc(func() { <-l.open })}, nil
		default:
			_ = conn.Close()
		}
	}
}

type boundedConn struct {
	net.Conn

	leave func()
}

func (c *boundedConn) Close() error {
	defer c.leave()
	return c.Conn.Close()
}

// CloseWrite half-closes the connection.
func (c *boundedConn) CloseWrite() error { return closeWrite(c.Conn) }

// serve returns when every request has ended. It has conns connections at most, and a request's head arrives within
// header. It logs nothing: agents could write to the log.
func serve(ctx context.Context, l net.Listener, h http.Handler, conns int, header time.Duration) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var inside sync.RWMutex // requests are its readers
	server := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if inside.TryRLock() { // else the server ends
				defer inside.RUnlock()
				h.ServeHTTP(w, r)
			}
		}),
		ReadHeaderTimeout: header,
		IdleTimeout:       30 * time.Second,
		MaxHeaderBytes:    32 << 10,
		ErrorLog:          slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	err := server.Serve(boundedListener{l, make(chan struct{}, conns)})
	cancel() // ends hijacked connections too
	_ = server.Close()
	inside.Lock() // when the last request has ended
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
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
	at, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		return Listener{}, fmt.Errorf("listen on loopback: at %s", l.Addr())
	}
	return Listener{Listener: l, Port: at.Port}, nil
}
