package tally

import (
	"bytes"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

const (
	maxRead = 256 << 20
	maxLine = 64 << 10 // no runner names a test in a longer one
)

// Reader collects the tests of an output that is written to it. It never fails.
type Reader struct {
	Root string // the check's working directory, which is cut from test names

	readers []namedReader
	line    []byte
	skip    bool // the current line is longer than maxLine
	read    int64
	cut     bool
}

type namedReader struct {
	runner string
	reader
}

type reader interface {
	line(text string)
	end() *results // called once
}

// Write reads a part of the output.
func (r *Reader) Write(part []byte) (int, error) {
	if r.readers == nil {
		r.readers = []namedReader{
			{"go", &goTest{}},
			{"tap", &tap{}},
			{"pytest", &pytest{}},
			{"unittest", &unittest{}},
			{"jest", &jest{}},
			{"vitest", &vitest{}},
			{"mocha", &mocha{}},
			{"node", &nodeSpec{}},
			{"cargo", &cargo{}},
			{Summary, &summary{}},
		}
	}
	size := len(part)
	if r.read += int64(size); r.read > maxRead {
		r.cut = true
		return size, nil
	}
	for len(part) > 0 {
		line, rest, whole := bytes.Cut(part, []byte{'\n'})
		r.grow(line)
		if whole {
			r.flush()
		}
		part = rest
	}
	return size, nil
}

func (r *Reader) grow(part []byte) {
	if r.skip = r.skip || len(r.line)+len(part) > maxLine; !r.skip {
		r.line = append(r.line, part...)
	}
}

// flush passes the current line to the readers.
func (r *Reader) flush() {
	if !r.skip {
		text := plain(r.line)
		for _, reader := range r.readers {
			reader.line(text)
		}
	}
	r.line, r.skip = r.line[:0], false
}

// Tally returns the tests of the whole output. Nothing may be written afterwards.
func (r *Reader) Tally() Tally {
	if len(r.line) > 0 {
		r.flush()
	}
	tally := Tally{Cut: r.cut}
	for _, reader := range r.readers {
		results := reader.end()
		if !results.recognized {
			continue
		}
		tally.add(reader.runner, results, strings.TrimSuffix(r.Root, "/")+"/")
	}
	r.readers = nil
	tally.index()
	return tally
}

func (t *Tally) add(runner string, s *results, root string) {
	t.Runners = append(t.Runners, runner)
	one := Tally{Tests: s.tests, Passed: s.counts[Passed], Failed: s.counts[Failed], Skipped: s.counts[Skipped]}
	one.count()
	for _, test := range one.Tests {
		if root != "/" {
			test.Name = strings.ReplaceAll(test.Name, root, "")
		}
		t.Tests = append(t.Tests, test)
	}
	t.Passed, t.Failed, t.Skipped = t.Passed+one.Passed, t.Failed+one.Failed, t.Skipped+one.Skipped
	t.Packages += s.packages
	// A runner that counts more failures than it names leaves some out.
	t.Cut = t.Cut || s.cut || one.Failed > len(one.Names(Failed, Broken))
}

var colour = pattern.Of("\x1b\\[[0-9;?]*[A-Za-z]|\x1b\\][^\x07\x1b]*(?:\x07|\x1b\\\\)")

// plain returns a line as a terminal shows it: without colours and overwritten text.
func plain(line []byte) string {
	text := strings.TrimRight(string(line), "\r")
	if strings.IndexByte(text, '\x1b') >= 0 {
		text = colour.ReplaceAllString(text, "")
	}
	if i := strings.LastIndexByte(text, '\r'); i >= 0 {
		text = text[i+1:]
	}
	return text
}
