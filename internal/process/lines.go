package process

import "bytes"

// maxLine is the longest line that Lines keeps when not told otherwise. Agents
// print a whole file as one line of JSON.
const maxLine = 16 << 20

// Lines is a Writer that hands on what it gets line by line, with memory
// bounded by Max however long a line is.
type Lines struct {
	Max int // bytes of a line, its end not counted; 0 stands for 16 MiB

	// Each gets a line without its "\n"; it must not keep it. A line longer
	// than Max comes once, as its first Max bytes, with cut true.
	Each func(line []byte, cut bool)

	part     []byte // of a line whose end has not come yet
	skipping bool   // the rest of a line that was cut
}

// Write never fails.
func (l *Lines) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		end := bytes.IndexByte(p, '\n')
		if end < 0 {
			l.add(p)
			break
		}
		l.add(p[:end])
		l.end()
		p = p[end+1:]
	}
	return n, nil
}

// Close hands on a last line that has no end. Lines can be written to again.
func (l *Lines) Close() error {
	if len(l.part) > 0 {
		l.end()
	}
	l.skipping = false
	return nil
}

func (l *Lines) add(p []byte) {
	if l.skipping {
		return
	}
	free := l.limit() - len(l.part)
	l.part = append(l.part, p[:min(len(p), free)]...)
	if len(p) > free {
		l.deliver(true)
		l.skipping = true
	}
}

func (l *Lines) end() {
	if !l.skipping {
		l.deliver(false)
	}
	l.skipping = false
}

func (l *Lines) deliver(cut bool) {
	if l.Each != nil {
		l.Each(l.part, cut)
	}
	l.part = l.part[:0]
	if cap(l.part) > 1<<20 {
		l.part = nil // one long line must not be paid for to the end of the run
	}
}

func (l *Lines) limit() int {
	if l.Max <= 0 {
		return maxLine
	}
	return l.Max
}
