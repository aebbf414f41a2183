package tally

import (
	"bytes"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

const (
	mostRead = 256 << 20
	longLine = 64 << 10
	longest  = 16 << 20
)

// Reader takes an output as it is written and tells its tests at the end. It never fails.
type Reader struct {
	Root string // the folder the check ran in; names are told without it.

	readers []namedReader
	line    []byte
	skip    bool // the line under way is longer than any that is read
	read    int64
	cut     bool
}

type namedReader struct {
	runner string
	reader
}

type reader interface {
	line(text string)
	end() *sheet // what it came to; called once
}

// Write takes a part of the output.
func (r *Reader) Write(part []byte) (int, error) {
	if r.readers == nil {
		r.readers = []namedReader{
			{"go", &goEvents{}},
			{"go", &goText{}},
			{"junit", &junit{}},
			{"tap", &tap{}},
			{"pytest", &pytest{}},
			{"unittest", &unittest{}},
			{"jest", &jest{}},
			{"vitest", &vitest{}},
			{"mocha", &mocha{}},
			{"node", &nodeSpec{}},
			{"cargo", &cargo{}},
		}
	}
	size := len(part)
	if r.read += int64(size); r.read > mostRead {
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
	if r.skip || len(r.line)+len(part) > longest {
		r.skip, r.cut, r.line = true, true, nil
		return
	}
	r.line = append(r.line, part...)
}

// flush hands the line under way to those who read lines of its length.
func (r *Reader) flush() {
	text := plain(r.line)
	r.line, r.skip = r.line[:0], false
	for _, reader := range r.readers {
		_, takes := reader.reader.(interface{ whole() })
		if takes || len(text) <= longLine {
			reader.line(text)
		}
	}
}

// Tally is what all of it came to. Nothing may be written afterwards.
func (r *Reader) Tally() Tally {
	if len(r.line) > 0 {
		r.flush()
	}
	tally := Tally{Cut: r.cut}
	for _, reader := range r.readers {
		sheet := reader.end()
		if !sheet.seen {
			continue
		}
		tally.take(reader.runner, sheet, strings.TrimSuffix(r.Root, "/")+"/")
	}
	r.readers = nil
	return tally
}

func (t *Tally) take(runner string, s *sheet, root string) {
	if !slices.Contains(t.Runners, runner) {
		t.Runners = append(t.Runners, runner)
	}
	one := Tally{Tests: s.tests, Passed: s.told[Passed], Failed: s.told[Failed], Skipped: s.told[Skipped]}
	one.count()
	for _, test := range one.Tests {
		if root != "/" {
			test.Name = strings.ReplaceAll(test.Name, root, "")
		}
		t.Tests = append(t.Tests, test)
	}
	t.Passed, t.Failed, t.Skipped = t.Passed+one.Passed, t.Failed+one.Failed, t.Skipped+one.Skipped
	// A runner that counts more failures than it names keeps some to itself.
	t.Cut = t.Cut || s.cut || one.Failed > len(one.Names(Failed, Broken))
}

var colour = pattern.Of("\x1b\\[[0-9;?]*[A-Za-z]|\x1b\\][^\x07\x1b]*(?:\x07|\x1b\\\\)")

// plain is a line as a terminal would leave it: without colours and what was written over.
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
