package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/ralph-loop/ralph/internal/lib/process"
)

// openNetwork starts loopback in a new namespace, and passes out the listeners.
func (p *launch) openNetwork() error {
	if p.Level != Namespace || p.off(network) {
		return nil
	}
	if err := loopbackUp(); err != nil {
		return fmt.Errorf("set loopback up: %w", err)
	}
	for port := range p.Ports {
		if err := p.sendListener(port); err != nil {
			return fmt.Errorf("listen at port %d inside: %w", port, err)
		}
	}
	return nil
}

func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	req, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	req.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, req)
}

func (p *launch) sendListener(port int) error {
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp4", address)
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }()
	raw, err := l.(*net.TCPListener).SyscallConn()
	if err != nil {
		return err
	}
	var sent error
	err = raw.Control(func(fd uintptr) { sent = p.wire.send(message{Port: port}, int(fd)) })
	return errors.Join(err, sent)
}

// mostForwarded limits the open connections to a port, as each takes descriptors of ralph's. More of them wait.
const mostForwarded = 256

// forwardAll takes connections inside to one address outside, until ctx ends.
func forwardAll(ctx context.Context, inside net.Listener, to string) {
	var busy sync.WaitGroup
	defer busy.Wait()
	defer context.AfterFunc(ctx, func() { _ = inside.Close() })()
	for room := make(chan struct{}, mostForwarded); ; {
		select {
		case room <- struct{}{}:
		case <-ctx.Done():
			return
		}
		c, err := inside.Accept()
		if err != nil {
			return
		}
		busy.Go(func() {
			forwardOne(ctx, c, to)
			<-room
		})
	}
}

// forwardOne copies both ways. Each way ends by itself: one side may still wait for the answer.
func forwardOne(ctx context.Context, in net.Conn, to string) {
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

type outerSide struct {
	wire    wire
	targets map[int]netip.AddrPort // where its ports lead
	left    chan struct{}          // closed when the program has ended and left others
	ctx     context.Context        // until those inside are gone
	end     context.CancelFunc
	busy    sync.WaitGroup

	failed error
	ended  *syscall.WaitStatus
}

func newOuterSide(w wire, to map[int]netip.AddrPort) *outerSide {
	h := &outerSide{wire: w, targets: to, left: make(chan struct{})}
	h.ctx, h.end = context.WithCancel(context.Background())
	h.busy.Go(h.readMessages)
	return h
}

// wait ends what h does, once all that the launcher said has been heard. A launcher that is still alive is not
// waited for.
func (h *outerSide) wait(alive bool) {
	if alive {
		_ = h.wire.Close()
	}
	h.end()
	h.busy.Wait()
	_ = h.wire.Close()
}

func (h *outerSide) readMessages() {
	for {
		what, f, err := h.wire.receive()
		if err != nil {
			return
		}
		h.handleMessage(what, f)
	}
}

func (h *outerSide) handleMessage(what message, f *os.File) {
	if f != nil {
		defer func() { _ = f.Close() }()
	}
	switch {
	case what.Failed != "":
		h.failed = what.err()
	case what.Ended != nil:
		ws := syscall.WaitStatus(*what.Ended) //nolint:gosec // it was one
		h.ended = &ws
		if what.Left {
			close(h.left)
		}
	case what.Port != 0 && f != nil:
		h.forwardPort(what.Port, f)
	}
}

func (h *outerSide) forwardPort(port int, f *os.File) {
	to, known := h.targets[port]
	l, err := net.FileListener(f)
	if err != nil || !known {
		return // nothing answers there
	}
	h.busy.Go(func() { forwardAll(h.ctx, l, to.String()) })
}

// endResult removes what the supervisor added to the result.
func (h *outerSide) endResult(res process.Result) process.Result {
	if h.ended != nil {
		own := process.ResultOf(*h.ended)
		res.Exit = own.Exit
		res.Signal = own.Signal
	}
	return res
}
