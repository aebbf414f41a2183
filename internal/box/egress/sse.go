package egress

import "bytes"

// maxFrame limits what is read of an event or an answer. Larger ones pass unread. Few answers are open at a time.
const maxFrame = 16 << 20

// splitter splits a stream into events. A body that is not a stream counts as one event.
type splitter struct {
	events bool
	take   func(data []byte)

	kept     []byte // of an incomplete event
	begun    bool   // the last line has begun
	tooLarge bool   // the event
}

func (s *splitter) write(p []byte) {
	if !s.events {
		s.keep(p)
		return
	}
	for line := range bytes.Lines(p) {
		s.begun = s.begun || len(bytes.Trim(line, "\r\n")) > 0
		s.keep(line)
		if !bytes.HasSuffix(line, []byte("\n")) {
			return
		}
		if !s.begun { // an empty line ends an event
			s.end()
		}
		s.begun = false
	}
}

// keep keeps more of an event, or nothing of one that is too large.
func (s *splitter) keep(p []byte) {
	switch {
	case s.tooLarge:
	case len(s.kept)+len(p) > maxFrame:
		s.tooLarge = true
		s.kept = nil
	default:
		s.kept = append(s.kept, p...)
	}
}

// end passes an event on, unless it is too large.
func (s *splitter) end() {
	if data := s.data(); len(data) > 0 {
		s.take(data)
	}
	s.kept = nil
	s.tooLarge = false
}

// data returns the data of an event, and writes it over what is kept.
func (s *splitter) data() []byte {
	if !s.events {
		return s.kept
	}
	data := s.kept[:0]
	for line := range bytes.Lines(s.kept) {
		if value, ok := bytes.CutPrefix(bytes.TrimRight(line, "\r\n"), []byte("data:")); ok {
			data = append(data, value...)
		}
	}
	return data
}
