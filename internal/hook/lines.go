package hook

import (
	"bytes"
	"io"
)

// lines reads lines of any length; of those that are too long it gives nothing
// but the length.
type lines struct {
	from io.Reader
	held []byte
	done bool
}

// next is the next line, if it has an end.
func (l *lines) next() (line []byte, length int64, whole bool) {
	skipped := int64(0)
	for {
		if at := bytes.IndexByte(l.held, '\n'); at >= 0 {
			line, l.held = l.held[:at], l.held[at+1:]
			if skipped > 0 {
				line = nil
			}
			return line, skipped + int64(at) + 1, true
		}
		if l.done {
			return nil, 0, false
		}
		if len(l.held) > longest {
			skipped += int64(len(l.held))
			l.held = nil
		}
		l.fill()
	}
}

func (l *lines) fill() {
	const step = 256 << 10
	part := make([]byte, max(step, len(l.held)))
	n, err := io.ReadFull(l.from, part)
	l.held = append(l.held, part[:n]...)
	l.done = err != nil
}
