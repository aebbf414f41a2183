package sandbox_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ralph-loop/ralph/internal/box/sandbox"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
)

// Connections from inside take descriptors of ours: only so many are open at a time, and more of them wait.
func TestConnectionsOutAreBounded(t *testing.T) {
	listen := func() net.Listener {
		l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
		return l
	}
	inside, server := listen(), listen()
	defer func() { _ = server.Close() }()
	var count sync.Mutex
	open, most := 0, 0
	go func() {
		for {
			c, err := server.Accept()
			if err != nil {
				return
			}
			count.Lock()
			open++
			most = max(most, open)
			count.Unlock()
			go func() {
				_, _ = io.CopyN(c, c, 1)
				_, _ = io.Copy(io.Discard, c) // until the client closes
				count.Lock()
				open--
				count.Unlock()
				_ = c.Close()
			}()
		}
	}()
	ctx, end := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		sandbox.Forward(ctx, inside, server.Addr().String())
	}()
	connect := func() (all []net.Conn) {
		for range sandbox.MostForwarded {
			c := must.Get(net.Dial("tcp", inside.Addr().String()))(t)
			must.Get(c.Write([]byte("x")))(t)
			all = append(all, c)
		}
		return all
	}
	served := func(all []net.Conn) {
		for _, c := range all {
			must.Get(io.ReadFull(c, make([]byte, 1)))(t)
		}
	}
	closed := func(all []net.Conn) {
		for _, c := range all {
			_ = c.Close()
		}
	}
	first := connect()
	served(first)
	second := connect()
	closed(first)
	served(second)
	closed(second)
	end()
	<-done
	count.Lock()
	defer count.Unlock()
	if most > sandbox.MostForwarded {
		t.Errorf("%d were open at a time", most)
	}
}

// Where a launcher cannot be ended, ralph does not wait for what it may still say.
func TestAliveIsNotWaitedFor(t *testing.T) {
	w := sandbox.Config{Level: sandbox.Notify}
	var held *os.File
	res, err := w.Run(func(_ context.Context, c process.Command) (process.Result, error) {
		wire := must.Get(unix.Dup(int(c.Files[len(c.Files)-1].Fd())))(t) // the launcher's
		held = os.NewFile(uintptr(wire), "held")
		return process.Result{Exit: 137}, process.ErrAlive
	})(t.Context(), process.Command{Argv: []string{"program"}})
	_ = held.Close()
	if !errors.Is(err, process.ErrAlive) || res.Exit != 137 {
		t.Errorf("Run = %+v, %v", res, err)
	}
}
