// Package process runs a program and ends it with all its descendants: when Run returns they are gone, or the error
// names those that are not. One that left its session while other programs run goes with the last of these. A program
// inherits nothing: no environment, no terminal, no open file that its Command does not name.
package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"
	"unicode/utf8"
)

// ErrStopped is for a Run that the Runner's Hard channel ended or prevented.
var ErrStopped = errors.New("stopped at once")

// ErrNoGrace in the cause of a context leaves programs that it ends no time for more work.
var ErrNoGrace = errors.New("without grace")

// ErrAlive is for processes that could not be ended. On Linux, the end of each later Run tries again.
var ErrAlive = errors.New("still alive after SIGKILL")

// Command is a program to run. It inherits nothing.
type Command struct {
	Argv        []string // a name without a slash is looked up in the PATH of Env
	Dir         string
	Env         []string // the whole environment; nil is an empty one
	Stdin       io.Reader
	Stdout      io.Writer     // an error of it ends the program
	Stderr      io.Writer     // can be the same as Stdout: then one stream, in order
	Timeout     time.Duration // 0: no limit of its own
	Grace       time.Duration // between SIGTERM and SIGKILL; 0: 5 s
	CancelGrace time.Duration // the same if ctx ends it; 0: Grace
	Memory      uint64        // limit of private memory of each process in bytes, on Linux; 0: no limit

	// Linger is called when the program has ended by itself and left processes behind: how long they may run, and how
	// often to check. Then they are asked to end and have the grace. nil: they are killed at once.
	Linger func() (limit, interval time.Duration)

	// Ended is closed when the program has ended, if Argv starts a process that runs the program and stays while the
	// program's processes are left. nil: Argv is the program.
	Ended <-chan struct{}

	// UID is a user that runs only this program. On Linux, processes that cannot be
	// ended otherwise are killed with all that this user runs. 0: no such user.
	UID int

	Files []*os.File // the program's descriptors 3 and up
	// Sys has namespaces and credentials. The session is ours, and so is the death signal if none is set.
	Sys *syscall.SysProcAttr
}

// Result is how a program ended.
type Result struct {
	Exit     int    // exit code, or 128 plus the signal that ended it
	Signal   string // the signal that ended it, as "SIGKILL"
	TimedOut bool   // it was ended because of Timeout
	Took     time.Duration
	Swept    int // descendants that had to be ended
}

// Runner starts programs, several at once if wanted. The zero value works.
type Runner struct {
	Now  func() time.Time // fills Result.Took; nil leaves it zero
	Hard <-chan struct{}  // closed: end all without grace
}

// Run runs c to its end. A program that ran is a Result with any exit code. The error says that it could not start,
// that ctx ended it (with a Result), that its input or output failed, or that some of its processes are still alive.
func (r *Runner) Run(ctx context.Context, c Command) (Result, error) {
	if len(c.Argv) == 0 {
		return Result{}, errors.New("run: no program named")
	}
	began := r.now()
	res, err := r.run(ctx, c)
	res.Took = r.now().Sub(began)
	if err != nil {
		return res, fmt.Errorf("run %s: %w", filepath.Base(c.Argv[0]), err)
	}
	return res, nil
}

func (r *Runner) run(ctx context.Context, c Command) (Result, error) {
	if ctx.Err() != nil {
		return Result{}, contextError(ctx)
	}
	if IsClosed(r.Hard) {
		return Result{}, ErrStopped
	}
	ch, err := start(c)
	if err != nil {
		return Result{}, err
	}
	timedOut, why := ch.wait(ctx, c, r.Hard)
	switch {
	case !ch.ended:
		ch.stop(ctx, c, r.Hard)
	case c.Linger != nil:
		why = ch.linger(ctx, c, r.Hard)
	}
	res, err := ch.finish()
	res.TimedOut = timedOut
	return res, errors.Join(why, err)
}

func (r *Runner) now() time.Time {
	if r.Now == nil {
		return time.Time{}
	}
	return r.Now()
}

func graceOf(ctx context.Context, c Command) time.Duration {
	switch {
	case errors.Is(context.Cause(ctx), ErrNoGrace):
		return 100 * time.Millisecond
	case ctx.Err() != nil && c.CancelGrace != 0:
		return c.CancelGrace
	case c.Grace == 0:
		return 5 * time.Second
	}
	return c.Grace
}

// contextError keeps context.Canceled visible behind a caller's cause.
func contextError(ctx context.Context) error {
	err, why := ctx.Err(), context.Cause(ctx)
	if errors.Is(why, err) {
		return why
	}
	return fmt.Errorf("%w: %w", err, why)
}

// IsClosed reports whether a signal was given.
func IsClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// Head is a Writer that keeps the first N bytes.
type Head struct {
	N int

	kept    []byte
	dropped int64
}

// Write never fails.
func (h *Head) Write(p []byte) (int, error) {
	free := max(0, min(len(p), h.N-len(h.kept)))
	h.kept = append(h.kept, p[:free]...)
	h.dropped += int64(len(p) - free)
	return len(p), nil
}

// Dropped returns how many bytes came after the kept ones.
func (h *Head) Dropped() int64 { return h.dropped }

// String returns what was kept, without an incomplete character at its end.
func (h *Head) String() string {
	b := h.kept
	for n := 1; n < utf8.UTFMax && h.dropped > 0; n++ {
		if r, size := utf8.DecodeLastRune(b); r != utf8.RuneError || size != 1 {
			break
		}
		b = b[:len(b)-1]
	}
	return string(b)
}

// Tail is a Writer that keeps the last N bytes.
type Tail struct {
	N int

	kept    []byte // up to 2N bytes, so that a copy is needed only every N bytes
	written int64
}

// Write never fails.
func (t *Tail) Write(p []byte) (int, error) {
	t.written += int64(len(p))
	n := len(p)
	p = lastBytes(p, t.N)
	if len(t.kept)+len(p) > 2*t.N {
		t.kept = t.kept[:copy(t.kept, lastBytes(t.kept, t.N-len(p)))]
	}
	t.kept = append(t.kept, p...)
	return n, nil
}

// Bytes returns what was kept.
func (t *Tail) Bytes() []byte { return lastBytes(t.kept, t.N) }

// Dropped returns how many bytes came before the kept ones.
func (t *Tail) Dropped() int64 { return t.written - int64(len(t.Bytes())) }

// String returns what was kept, without an incomplete character at its beginning.
func (t *Tail) String() string {
	b := t.Bytes()
	for n := 1; n < utf8.UTFMax && t.Dropped() > 0 && len(b) > 0 && !utf8.RuneStart(b[0]); n++ {
		b = b[1:]
	}
	return string(b)
}

func lastBytes(b []byte, n int) []byte {
	return b[max(0, len(b)-max(0, n)):]
}
