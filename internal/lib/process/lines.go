package process

import (
	"bytes"
	"cmp"
)

// maxLine: agents print a whole file as one line of JSON.
const maxLine = 8 << 20

// Lines is a Writer that calls Each for each line. Its memory is limited by Max.
type Lines struct {
	Max int  // bytes of a line without its end; 0: 8 MiB
	NUL bool // the end of each line is a NUL, as git -z prints it

	// Each gets a line without its end and must not keep it. Of a line longer
	// than Max it gets the first Max bytes, with cut true.
	Each func(line []byte, cut bool)

	part     []byte // an incomplete line
	skipping bool   // until the end of a line that was cut
}

// Write never fails.
func (l *Lines) Write(p []byte) (int, error) {
	n := len(p)
	mark := byte('\n')
	if l.NUL {
		mark = 0
	}
	for len(p) > 0 {
		end := bytes.IndexByte(p, mark)
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

// Close passes on a last line without an end. Lines can be written to again.
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
	free := cmp.Or(max(l.Max, 0), maxLine) - len(l.part)
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
}
