package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/ralph-loop/ralph/internal/lib/process"
)

type message struct {
	Port   int    `json:",omitempty"` // a listener of this port comes with it
	Filter bool   `json:",omitempty"` // the filter's listener comes with it
	Failed string `json:",omitempty"` // why the program could not become
	Kind   int    `json:",omitempty"` // of that failure: its place in programFailures, from 1
	Ended  *int   `json:",omitempty"` // the program's wait status
	Left   bool   `json:",omitempty"` // and it left others behind
}

// programFailures are failures of the program itself, as if there were no sandbox. Others are ours.
var programFailures = []error{
	process.ErrFolder, process.ErrInterpreter, process.ErrNotFound, fs.ErrPermission, process.ErrExecFormat,
}

func failure(err error) message {
	kind := slices.IndexFunc(programFailures, func(kind error) bool { return errors.Is(err, kind) })
	return message{Failed: err.Error(), Kind: kind + 1}
}

func (w message) err() error {
	if w.Kind < 1 || w.Kind > len(programFailures) {
		return errors.New(w.Failed)
	}
	return relayedError{w.Failed, programFailures[w.Kind-1]}
}

// relayedError keeps the kind of a failure in the launcher.
type relayedError struct {
	words string
	kind  error
}

func (r relayedError) Error() string { return r.words }
func (r relayedError) Unwrap() error { return r.kind }

type wire struct{ *net.UnixConn }

// newWires makes both ends; theirs is to be inherited.
func newWires() (ours wire, theirs *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return wire{}, nil, fmt.Errorf("connect to the launcher: %w", err)
	}
	theirs = os.NewFile(uintptr(fds[1]), "launcher")
	ours, err = wireOf(os.NewFile(uintptr(fds[0]), "launcher"))
	if err != nil {
		_ = theirs.Close()
	}
	return ours, theirs, err
}

// wireOf takes f over.
func wireOf(f *os.File) (wire, error) {
	defer func() { _ = f.Close() }()
	c, err := net.FileConn(f)
	if err != nil {
		return wire{}, fmt.Errorf("connect to the launcher: %w", err)
	}
	u, ok := c.(*net.UnixConn)
	if !ok {
		_ = c.Close()
		return wire{}, errors.New("connect to the launcher: no local socket")
	}
	return wire{u}, nil
}

// send works under a filter: it needs no goroutine of the runtime's poller.
func (w wire) send(what message, fd int) error {
	text, err := json.Marshal(what)
	if err != nil {
		return fmt.Errorf("tell who started us: %w", err)
	}
	var rights []byte
	if fd >= 0 {
		rights = unix.UnixRights(fd)
	}
	if _, _, err := w.WriteMsgUnix(text, rights, nil); err != nil {
		return fmt.Errorf("tell who started us: %w", err)
	}
	return nil
}

func (w wire) isClosed() bool {
	raw, err := w.SyscallConn()
	if err != nil {
		return true
	}
	over := true
	err = raw.Control(func(fd uintptr) {
		at := []unix.PollFd{{Fd: int32(fd)}} //nolint:gosec // a descriptor
		_, err := unix.Poll(at, 0)
		for errors.Is(err, unix.EINTR) { // by a signal of Go's own scheduler, although it does not wait
			_, err = unix.Poll(at, 0)
		}
		over = err != nil || at[0].Revents != 0
	})
	return over || err != nil
}

func (w wire) receive() (message, *os.File, error) {
	buf := make([]byte, 64<<10)
	rights := make([]byte, unix.CmsgSpace(4))
	n, rn, _, _, err := w.ReadMsgUnix(buf, rights)
	if err != nil {
		return message{}, nil, err
	}
	f, err := fileFromRights(rights[:rn])
	if err != nil || n == 0 {
		return message{}, nil, errors.Join(err, io.EOF)
	}
	var what message
	if err := json.Unmarshal(buf[:n], &what); err != nil {
		return message{}, f, fmt.Errorf("understand the launcher: %w", err)
	}
	return what, f, nil
}

func fileFromRights(rights []byte) (*os.File, error) {
	if len(rights) == 0 {
		return nil, nil
	}
	list, err := unix.ParseSocketControlMessage(rights)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	fds, err := unix.ParseUnixRights(&list[0])
	if err != nil || len(fds) == 0 {
		return nil, err
	}
	return os.NewFile(uintptr(fds[0]), "from inside"), nil
}
