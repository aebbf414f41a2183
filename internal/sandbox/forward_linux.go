package sandbox

import (
	"context"
	"io"
	"net"
	"sync"
)

// forward takes the connections of a listener inside to one address outside,
// until ctx ends.
func forward(ctx context.Context, inside net.Listener, to string) {
	var busy sync.WaitGroup
	defer busy.Wait()
	defer context.AfterFunc(ctx, func() { _ = inside.Close() })()
	for {
		c, err := inside.Accept()
		if err != nil {
			return
		}
		busy.Go(func() { carry(ctx, c, to) })
	}
}

// carry copies both ways. Each way ends by itself: who has sent all may still
// be waiting for the answer.
func carry(ctx context.Context, in net.Conn, to string) {
	defer func() { _ = in.Close() }()
	out, err := new(net.Dialer).DialContext(ctx, "tcp", to)
	if err != nil {
		return
	}
	defer func() { _ = out.Close() }()
	defer context.AfterFunc(ctx, func() { _ = in.Close(); _ = out.Close() })()
	var busy sync.WaitGroup
	busy.Go(func() { oneWay(out, in) })
	oneWay(in, out)
	busy.Wait()
}

func oneWay(to, from net.Conn) {
	_, err := io.Copy(to, from)
	if c, ok := to.(*net.TCPConn); ok && err == nil {
		_ = c.CloseWrite()
		return
	}
	_ = to.Close() // the other cannot be told: it is over for both
	_ = from.Close()
}
