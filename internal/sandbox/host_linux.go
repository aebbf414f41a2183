package sandbox

import (
	"context"
	"net"
	"os"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/ralph-loop/ralph/internal/process"
)

// host is our end while a program is inside: it hears what the launcher says
// and lends the program our proxies.
type host struct {
	wire  wire
	heard chan struct{}
	left  chan struct{}   // closed when the program has ended and left others
	over  context.Context // until those inside are gone
	end   context.CancelFunc
	busy  sync.WaitGroup

	failed error
	ended  *syscall.WaitStatus
}

func hostOf(w wire) *host {
	h := &host{wire: w, heard: make(chan struct{}), left: make(chan struct{})}
	h.over, h.end = context.WithCancel(context.Background())
	go h.hear()
	return h
}

// wait ends what h does, once all that the launcher said has been heard.
func (h *host) wait() {
	h.end()
	<-h.heard
	_ = h.wire.Close()
	h.busy.Wait()
}

func (h *host) hear() {
	defer close(h.heard)
	for {
		what, f, err := h.wire.receive()
		if err != nil {
			return
		}
		h.take(what, f)
	}
}

func (h *host) take(what word, f *os.File) {
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
		h.lend(what.Port, f)
	}
}

// lend lets those inside reach our proxy through a listener of theirs.
func (h *host) lend(port int, f *os.File) {
	l, err := net.FileListener(f)
	if err != nil {
		return // they find nobody there
	}
	to := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	h.busy.Go(func() { forward(h.over, l, to) })
}

// ending is res as it was for the program, which the supervisor stood before.
func (h *host) ending(res process.Result) process.Result {
	if h.ended == nil {
		return res
	}
	res.Exit, res.Signal = h.ended.ExitStatus(), ""
	if h.ended.Signaled() {
		res.Exit, res.Signal = 128+int(h.ended.Signal()), unix.SignalName(h.ended.Signal())
	}
	return res
}
