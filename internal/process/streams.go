package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// streams are the pipes between a program and its Command's reader and writers.
type streams struct {
	theirs []*os.File    // the program's descriptors 0, 1, 2 …
	borrow []*os.File    // those of them that we opened for it
	broken chan struct{} // closed when a writer returned an error
	cut    bool          // an output had to be closed before its end
	once   sync.Once
	input  *input
	output []*output
}

func openStreams(c Command) (*streams, error) {
	s := &streams{broken: make(chan struct{})}
	err := s.open(c)
	if err != nil {
		s.lent()
		s.abandon()
		return nil, fmt.Errorf("open its streams: %w", err)
	}
	s.theirs = append(s.theirs, c.Files...)
	return s, nil
}

func (s *streams) open(c Command) error {
	if err := s.addInput(c.Stdin); err != nil {
		return err
	}
	if err := s.addOutput("output", c.Stdout); err != nil {
		return err
	}
	if c.Stderr != nil && same(c.Stderr, c.Stdout) {
		s.theirs = append(s.theirs, s.theirs[1])
		return nil
	}
	return s.addOutput("errors", c.Stderr)
}

// same is os/exec's test: writers of a type that cannot be compared differ.
func same(a, b io.Writer) bool {
	defer func() { _ = recover() }()
	return a == b
}

func (s *streams) addInput(from io.Reader) error {
	if f, ok := from.(*os.File); ok && f != nil {
		s.theirs = append(s.theirs, f)
		return nil
	}
	if from == nil {
		return s.addNull(os.O_RDONLY)
	}
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	s.theirs, s.borrow = append(s.theirs, r), append(s.borrow, r)
	s.input = &input{w: w, from: from, done: make(chan struct{})}
	return nil
}

func (s *streams) addOutput(name string, to io.Writer) error {
	if f, ok := to.(*os.File); ok && f != nil {
		s.theirs = append(s.theirs, f)
		return nil
	}
	if to == nil {
		return s.addNull(os.O_WRONLY)
	}
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	widen(w)
	s.theirs, s.borrow = append(s.theirs, w), append(s.borrow, w)
	fail := func() { s.once.Do(func() { close(s.broken) }) }
	s.output = append(s.output, &output{r: r, to: to, name: name, done: make(chan struct{}), fail: fail})
	return nil
}

func (s *streams) addNull(mode int) error {
	f, err := os.OpenFile(os.DevNull, mode, 0)
	if err != nil {
		return err
	}
	s.theirs, s.borrow = append(s.theirs, f), append(s.borrow, f)
	return nil
}

// lent closes the program's ends on our side, once it has its own.
func (s *streams) lent() {
	for _, f := range s.borrow {
		_ = f.Close()
	}
}

// abandon closes our ends when there is no program.
func (s *streams) abandon() {
	if s.input != nil {
		_ = s.input.w.Close()
	}
	for _, o := range s.output {
		_ = o.r.Close()
	}
}

func (s *streams) flow() {
	if s.input != nil {
		go s.input.copy()
	}
	for _, o := range s.output {
		go o.copy()
	}
}

// held tells whether anybody still has an output open for writing.
func (s *streams) held() bool {
	for _, o := range s.output {
		if o.held() {
			return true
		}
	}
	return false
}

// finish waits for the copying to end and reports what went wrong in it.
func (s *streams) finish() error {
	var errs []error
	for _, o := range s.output {
		s.cut = o.finish() || s.cut
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
	fail func() // says that to returned an error
}

func (in *input) copy() {
	defer close(in.done)
	_, err := io.Copy(in.w, in.from)
	_ = in.w.Close() // the program's end of file
	// A program need not read all that it is given.
	if err != nil && !errors.Is(err, unix.EPIPE) && !errors.Is(err, os.ErrClosed) {
		in.err = fmt.Errorf("feed its input: %w", err)
	}
}

// pages are what outputs are read into: a git is started every few milliseconds,
// and most print less than the page that io.Copy would make for each.
var pages = sync.Pool{New: func() any { return new([64 << 10]byte) }}

func (o *output) copy() {
	defer close(o.done)
	page := pages.Get().(*[64 << 10]byte)
	defer pages.Put(page)
	_, err := io.CopyBuffer(o, struct{ io.Reader }{o.r}, page[:]) // a File would take a page of its own
	if err != nil && !errors.Is(err, os.ErrClosed) && o.err == nil {
		o.err = fmt.Errorf("read its %s: %w", o.name, err)
	}
}

// Write takes everything even when the caller's writer has failed: a full pipe
// without a reader would keep the program from handling SIGTERM.
func (o *output) Write(p []byte) (int, error) {
	if o.err == nil {
		o.pass(p)
	}
	return len(p), nil
}

func (o *output) pass(p []byte) {
	n, err := o.to.Write(p)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	if err != nil {
		o.err = fmt.Errorf("write its %s: %w", o.name, err)
		o.fail()
	}
}

// held asks the pipe itself: unlike an end of file, a hang-up shows before what
// lies in the pipe has been read.
func (o *output) held() bool {
	raw, err := o.r.SyscallConn()
	if err != nil {
		return false
	}
	open := false
	err = raw.Control(func(fd uintptr) {
		p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}} //nolint:gosec // a descriptor fits
		_, err := unix.Poll(p, 0)
		for errors.Is(err, unix.EINTR) { // a signal is no answer
			_, err = unix.Poll(p, 0)
		}
		open = err == nil && p[0].Revents&unix.POLLHUP == 0
	})
	return err == nil && open
}

// finish waits for the end of the output: as long as the caller's writer needs
// when all who could write are gone, for a second when somebody whom we cannot
// reach still holds the pipe. It reports whether the output was cut off so.
func (o *output) finish() (cut bool) {
	defer func() { _ = o.r.Close() }()
	if !o.held() {
		<-o.done
		return false
	}
	t := time.NewTimer(time.Second)
	defer t.Stop()
	select {
	case <-o.done:
		return false
	case <-t.C:
	}
	cut = o.held()
	if cut {
		_ = o.r.Close()
	}
	<-o.done
	return cut
}

// finish abandons a reader that does not end: there is no way to wake it, and
// its data is no longer needed.
func (in *input) finish() error {
	if in == nil {
		return nil
	}
	_ = in.w.Close()
	t := time.NewTimer(time.Second)
	defer t.Stop()
	select {
	case <-in.done:
		return in.err
	case <-t.C:
		return nil
	}
}
