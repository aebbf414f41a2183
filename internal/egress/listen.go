package egress

import (
	"context"
	"fmt"
	"net"
)

// Door is a listener at a port of loopback, for a Proxy or a Model to serve.
type Door struct {
	net.Listener

	Port int
}

// Listen opens a Door at whatever port is free.
func Listen(ctx context.Context) (Door, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return Door{}, fmt.Errorf("listen on loopback: %w", err)
	}
	at, is := l.Addr().(*net.TCPAddr)
	if !is {
		return Door{}, fmt.Errorf("listen on loopback: at %s", l.Addr())
	}
	return Door{Listener: l, Port: at.Port}, nil
}
