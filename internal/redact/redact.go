// Package redact hides secrets in text and in streams. It knows a secret by
// its value, in every form that programs print values in, and by the shape of
// well-known tokens. It does not know where secrets come from, and it keeps
// no more of a stream than could still become one.
package redact

import (
	"bytes"
	"io"
	"slices"
	"strings"
)

// Mask stands where a secret stood.
const Mask = "***"

// Redactor hides its secrets. Several goroutines may use it.
type Redactor struct {
	plain   table
	packed  table
	rests   table
	shapes  *[256][]shape // by their first byte
	starts  starts        // of all but rests
	indents starts        // of rests
	longest int
}

// A shorter value would hide ordinary words, and could be guessed anyway.
const shortest = 6

// New also hides what has the shape of a token. Values below 6 characters are ignored.
func New(secrets ...string) *Redactor {
	return (&Redactor{shapes: &shapes, starts: shapeStarts}).with(secrets)
}

// Values makes a Redactor that leaves alone what is only shaped like a token.
func Values(secrets ...string) *Redactor { return (&Redactor{shapes: new([256][]shape)}).with(secrets) }

func (r *Redactor) with(secrets []string) *Redactor {
	var plain, packed, rests []string
	for _, secret := range secrets {
		for _, value := range values(secret) {
			whole, ends := packs(value)
			plain, packed, rests = append(plain, value, inWide(value)), append(packed, whole...), append(rests, ends...)
		}
	}
	r.plain, r.packed, r.rests = newTable(plain, false), newTable(packed, true), newTable(rests, true)
	for _, f := range slices.Concat(r.plain.forms, r.packed.forms) {
		r.starts.addEscaped(f)
		r.longest = max(r.longest, len(f)*(longestEscape+longestBreak))
	}
	for _, f := range r.rests.forms {
		r.indents.addEscaped(f)
	}
	return r
}

// String is s with each secret replaced by ***.
func (r *Redactor) String(s string) string { return string(r.mask([]byte(s))) }

// Bytes is String for bytes; b stays as it is.
func (r *Redactor) Bytes(b []byte) []byte { return bytes.Clone(r.mask(b)) }

func (r *Redactor) mask(b []byte) []byte {
	found, _ := r.find(b, 0)
	out, _ := shown(b, found, 0, len(b))
	return out
}

// shown also returns how far hidden text reaches. Without hidden text it is a part of b itself.
func shown(b []byte, found []match, at, end int) (out []byte, reach int) {
	for _, m := range found {
		if m.from >= end {
			break
		}
		if m.to <= at {
			continue
		}
		// Secrets that overlap are one to the reader.
		if m.from >= at {
			out = append(append(out, b[at:m.from]...), Mask...)
		}
		at = m.to
	}
	switch {
	case at >= end:
		return out, at
	case out == nil:
		return b[at:end], end
	}
	return append(out, b[at:end]...), end
}

// Holds reports a value in b, in any form. A mere shape does not count: it may be an example.
func (r *Redactor) Holds(b []byte) bool {
	for at := range b {
		if at+1 < len(b) && !r.mayBegin(b, at) {
			continue
		}
		if n, _ := r.value(b, at); n > 0 {
			return true
		}
	}
	return false
}

// Writer hides secrets in what is written to it, wherever the borders between
// writes fall. What could be the beginning of a secret waits for what comes
// next, or for Close. Closing does not close w.
func (r *Redactor) Writer(w io.Writer) io.WriteCloser {
	return &writer{redactor: r, to: w}
}

// Reader hides secrets in what is read through it, as Writer does.
func (r *Redactor) Reader(from io.Reader) io.Reader {
	hidden := &reader{from: from, page: make([]byte, 32<<10)}
	hidden.to = r.Writer(&hidden.out)
	return hidden
}

type match struct{ from, to int }

// find returns every match that begins at from or later, in the order of their
// beginnings, and how much of s depends on nothing that comes next. It looks at each
// place anew, not behind the match before, so that a stream gives the same matches
// wherever it was cut.
func (r *Redactor) find(s []byte, from int) (found []match, settled int) {
	t := &text{s: s}
	settled = len(s)
	farthest := len(s) - max(r.longest, longestShape)
	for at := from; at < len(s); at++ {
		if at+1 < len(s) && !r.mayBegin(s, at) {
			continue
		}
		here, open := r.matches(t, at)
		found = append(found, here...)
		if at >= farthest && settled == len(s) && open {
			settled = at
		}
	}
	return found, settled
}

// matches also reports whether more text could make or lengthen one.
func (r *Redactor) matches(t *text, at int) (found []match, open bool) {
	n, open := r.value(t.s, at)
	if n > 0 {
		found = append(found, match{at, at + n})
	}
	for _, shape := range r.shapes[t.s[at]] {
		skip, size, more := shape(t, at)
		if size > 0 {
			found = append(found, match{at + skip, at + skip + size})
		}
		open = open || more
	}
	return found, open
}

// mayBegin reports, by two bytes, whether something can begin at at.
func (r *Redactor) mayBegin(s []byte, at int) bool {
	two := pair(s[at], s[at+1])
	return r.starts[two] || r.indents[two] && beginsLine(s, at)
}

// value returns the size of the longest secret that begins at at.
func (r *Redactor) value(s []byte, at int) (size int, open bool) {
	tables := []*table{&r.plain, &r.packed}
	if beginsLine(s, at) {
		tables = append(tables, &r.rests)
	}
	for _, t := range tables {
		n, more := t.form(s[at:])
		size, open = max(n, size), open || more
	}
	return size, open
}

// writer holds the end back while it could be the beginning of a secret.
type writer struct {
	redactor *Redactor
	to       io.Writer
	held     []byte // begins with the last bytes passed on
	passed   int    // how much of held was passed on
	masked   int    // how much of what follows passed is part of a secret whose *** was written
}

func (w *writer) Write(p []byte) (int, error) {
	w.held = append(w.held, p...)
	found, settled := w.redactor.find(w.held, w.passed)
	if err := w.pass(found, settled); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close writes what was held back. It can be called again.
func (w *writer) Close() error {
	found, _ := w.redactor.find(w.held, w.passed)
	return w.pass(found, len(w.held))
}

// pass writes what is held as far as end, and keeps the rest. A secret that
// reaches over end has its *** written now; the rest of it is remembered as
// masked.
func (w *writer) pass(found []match, end int) error {
	if end <= w.passed {
		return nil
	}
	out, at := shown(w.held, found, w.passed+w.masked, end)
	var err error
	if len(out) > 0 {
		_, err = w.to.Write(out)
	}
	w.passed, w.masked = min(end, mostBehind), at-end
	w.held = append(w.held[:0], w.held[end-w.passed:]...)
	return err
}

type reader struct {
	from io.Reader
	to   io.WriteCloser // writes to out, which cannot fail
	out  bytes.Buffer
	page []byte
	err  error
}

func (r *reader) Read(p []byte) (int, error) {
	for r.out.Len() == 0 && r.err == nil {
		var n int
		n, r.err = r.from.Read(r.page)
		_, _ = r.to.Write(r.page[:n])
		if r.err != nil {
			_ = r.to.Close()
		}
	}
	if r.out.Len() == 0 {
		return 0, r.err
	}
	return r.out.Read(p)
}

// Lines returns the lines of a secret that a runner can look for.
func Lines(secret string) []string {
	var lines []string
	for line := range strings.Lines(secret) {
		if line = strings.TrimSpace(line); len(line) >= 4 {
			lines = append(lines, line)
		}
	}
	return lines
}
