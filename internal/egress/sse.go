package egress

import (
	"bytes"

	"github.com/ralph-loop/ralph/internal/process"
)

// maxFrame limits what is read of an event or an answer. Larger ones pass unread.
const maxFrame = 16 << 20

// splitter splits a stream into events. A body that is not a stream counts as one event.
type splitter struct {
	events bool
	take   func(data []byte)

	lines process.Lines
	data  []byte
	spoil bool // the event is too large
}

func (s *splitter) write(p []byte) {
	if !s.events {
		s.keep(p)
		return
	}
	s.lines.Max, s.lines.Each = maxFrame, s.line
	_, _ = s.lines.Write(p) // never fails
}

func (s *splitter) close() {
	_ = s.lines.Close()
	s.endFrame()
}

func (s *splitter) keep(p []byte) {
	if s.spoil = s.spoil || len(s.data)+len(p) > maxFrame; !s.spoil {
		s.data = append(s.data, p...)
	}
}

// line handles a line of data, and the empty line that ends an event.
func (s *splitter) line(line []byte, cut bool) {
	line = bytes.TrimSuffix(line, []byte("\r"))
	data, is := bytes.CutPrefix(line, []byte("data:"))
	switch {
	case cut:
		s.spoil = true
	case is:
		s.keep(data)
	case len(line) == 0:
		s.endFrame()
	}
}

func (s *splitter) endFrame() {
	if len(s.data) > 0 && !s.spoil {
		s.take(s.data)
	}
	s.data, s.spoil = s.data[:0], false
}
