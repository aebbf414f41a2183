package egress

import "bytes"

// maxFrame limits what is read of an event or an answer. Larger ones pass unread.
const maxFrame = 16 << 20

// splitter splits a stream into events. A body that is not a stream counts as one event.
type splitter struct {
	events bool
	take   func(data []byte)

	line  []byte
	data  []byte
	spoil bool // the event is too large: the rest is skipped
	more  bool // the line is not empty, but was not kept
}

func (s *splitter) write(p []byte) {
	if !s.events {
		s.keep(&s.data, p)
		return
	}
	for {
		before, after, found := bytes.Cut(p, []byte("\n"))
		s.keep(&s.line, before)
		s.more = s.more || s.spoil && len(bytes.TrimSuffix(before, []byte("\r"))) > 0
		if !found {
			return
		}
		s.endLine()
		p = after
	}
}

func (s *splitter) close() {
	if s.events {
		s.endLine()
	}
	s.endFrame()
}

func (s *splitter) keep(to *[]byte, p []byte) {
	if len(s.line)+len(s.data)+len(p) > maxFrame {
		s.spoil = true
	}
	if !s.spoil {
		*to = append(*to, p...)
	}
}

// endLine handles a line of data, and the empty line that ends an event.
func (s *splitter) endLine() {
	line := bytes.TrimSuffix(s.line, []byte("\r"))
	data, is := bytes.CutPrefix(line, []byte("data:"))
	switch {
	case is:
		s.keep(&s.data, data)
	case len(line) == 0 && !s.more:
		s.endFrame()
	}
	s.line, s.more = s.line[:0], false
}

func (s *splitter) endFrame() {
	if len(s.data) > 0 && !s.spoil {
		s.take(s.data)
	}
	s.data, s.spoil = s.data[:0], false
}
