package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
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
