package egress

import "bytes"

// largestFrame limits what is read of an answer. Larger frames pass unread.
const largestFrame = 16 << 20

// splitter finds the events of a stream, or a whole answer, in pieces.
type splitter struct {
	events bool
	take   func(data []byte)

	line  []byte
	data  []byte
	spoil bool // too much of it; skipped to its end
	more  bool // the line has something that was not kept
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
	if len(s.line)+len(s.data)+len(p) > largestFrame {
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
