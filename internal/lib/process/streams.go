package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

type streams struct {
	childFiles []*os.File    // descriptors 0, 1, 2 … of the program
	opened     []*os.File    // the childFiles that we opened
	own        []*os.File    // our ends of the pipes
	failed     chan struct{} // closed when a writer has returned an error
	once       sync.Once
	input      *input
	output     []*output
}

func openStreams(c Command) (*streams, error) {
	s := &streams{failed: make(chan struct{})}
	err := s.open(c)
	if err != nil {
		closeAll(slices.Concat(s.opened, s.own))
		return nil, fmt.Errorf("open its streams: %w", err)
	}
	s.childFiles = append(s.childFiles, c.Files...)
	return s, nil
}

func (s *streams) open(c Command) error {
	if err := s.addInput(c.Stdin); err != nil {
		return err
	}
	if err := s.addOutput("output", c.Stdout); err != nil {
		return err
	}
	if c.Stderr != nil && isSameWriter(c.Stderr, c.Stdout) {
		s.childFiles = append(s.childFiles, s.childFiles[1])
		return nil
	}
	return s.addOutput("errors", c.Stderr)
}

// isSameWriter is os/exec's test: writers of an incomparable type differ.
func isSameWriter(a, b io.Writer) bool {
	defer func() { _ = recover() }()
	return a == b
}

func (s *streams) addInput(from io.Reader) error {
	if f, ok := from.(*os.File); ok && f != nil {
		s.childFiles = append(s.childFiles, f)
		return nil
	}
	if from == nil {
		return s.addNull(os.O_RDONLY)
	}
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	s.addPipe(r, w)
	s.input = &input{w: w, from: from, done: make(chan struct{})}
	return nil
}

// addPipe adds the program's end and ours.
func (s *streams) addPipe(theirs, ours *os.File) {
	s.childFiles = append(s.childFiles, theirs)
	s.opened = append(s.opened, theirs)
	s.own = append(s.own, ours)
}

func (s *streams) addOutput(name string, to io.Writer) error {
	if f, ok := to.(*os.File); ok && f != nil {
		s.childFiles = append(s.childFiles, f)
		return nil
	}
	if to == nil {
		return s.addNull(os.O_WRONLY)
	}
	r, w, err := newPipe()
	if err != nil {
		return err
	}
	s.addPipe(w, r)
	fail := func() { s.once.Do(func() { close(s.failed) }) }
	s.output = append(s.output, &output{r: r, to: to, name: name, done: make(chan struct{}), fail: fail})
	return nil
}

func (s *streams) addNull(mode int) error {
	f, err := os.OpenFile(os.DevNull, mode, 0)
	if err != nil {
		return err
	}
	s.childFiles = append(s.childFiles, f)
	s.opened = append(s.opened, f)
	return nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}

func (s *streams) start() {
	if s.input != nil {
		go s.input.copy()
	}
	for _, o := range s.output {
		go o.copy()
	}
}

func (s *streams) finish() error {
	var errs []error
	for _, o := range s.output {
		o.finish()
		errs = append(errs, o.err)
	}
	return errors.Join(append(errs, s.input.finish())...)
}

type input struct {
	w    *os.File
	from io.Reader
	done chan struct{}
	err  error
}

type output struct {
	r    *os.File
	to   io.Writer
	name string
	done chan struct{}
	err  error
	fail func() // called when to returned an error
}

func (in *input) copy() {
	defer close(in.done)
	_, err := io.Copy(in.w, in.from)
	_ = in.w.Close() // the program's end of file
	// A program need not read all its input.
	if err != nil && !errors.Is(err, unix.EPIPE) && !errors.Is(err, os.ErrClosed) {
		in.err = fmt.Errorf("feed its input: %w", err)
	}
}

func (o *output) copy() {
	defer close(o.done)
	_, err := io.Copy(o, o.r)
	if err != nil && !errors.Is(err, os.ErrClosed) && o.err == nil {
		o.err = fmt.Errorf("read its %s: %w", o.name, err)
	}
}

// Write reads on after an error: a full pipe would keep the program from handling SIGTERM.
func (o *output) Write(p []byte) (int, error) {
	if o.err == nil {
		o.forward(p)
	}
	return len(p), nil
}

func (o *output) forward(p []byte) {
	n, err := o.to.Write(p)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	if err != nil {
		o.err = fmt.Errorf("write its %s: %w", o.name, err)
		o.fail()
	}
}

// A hang-up shows before the data has been read, an end of file only afterwards.
func (o *output) hasWriters() bool {
	raw, err := o.r.SyscallConn()
	if err != nil {
		return false
	}
	open := false
	err = raw.Control(func(fd uintptr) {
		p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}} //nolint:gosec // a descriptor fits
		_, err := unix.Poll(p, 0)
		for errors.Is(err, unix.EINTR) { // a signal interrupted the call
			_, err = unix.Poll(p, 0)
		}
		open = err == nil && p[0].Revents&unix.POLLHUP == 0
	})
	return err == nil && open
}

// finish waits for the end of the output: without a limit if no process can write
// any more, for a second if one that we cannot end still has the pipe open.
func (o *output) finish() {
	defer func() { _ = o.r.Close() }()
	if !o.hasWriters() {
		<-o.done
		return
	}
	select {
	case <-o.done:
		return
	case <-time.After(time.Second):
	}
	if o.hasWriters() {
		_ = o.r.Close()
	}
	<-o.done
}

// finish gives up on a reader that does not end: it cannot be interrupted.
func (in *input) finish() error {
	if in == nil {
		return nil
	}
	_ = in.w.Close()
	select {
	case <-in.done:
		return in.err
	case <-time.After(time.Second):
		return nil
	}
}
