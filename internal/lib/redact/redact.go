// Package redact hides secrets in text and in streams. It takes the values of secrets and finds them as they are and in
// common encodings, and tokens of well-known shapes. It does not know where secrets come from, and it keeps no more of
// a stream than could still become one.
package redact

import (
	"bytes"
	"cmp"
	"io"
	"slices"
	"strings"
)

// Mask stands where a secret stood.
const Mask = "***"

// Redactor hides its secrets. Several goroutines may use it.
type Redactor struct {
	forms  map[uint16][]string // by their first two bytes
	shapes map[uint16][]shape  // likewise
	starts [1 << 16]bool       // the keys of both, as an agent prints a gigabyte
	firsts [256]bool           // the first bytes of both
}

// New returns a Redactor that also hides what has the shape of a token. Values
// below 6 characters are ignored: they would hide ordinary words.
func New(secrets ...string) *Redactor {
	r := Values(secrets...)
	r.shapes = shapes()
	for two := range r.shapes {
		r.add(two)
	}
	return r
}

// Values returns a Redactor that leaves alone what is only shaped like a token.
func Values(secrets ...string) *Redactor {
	r := &Redactor{forms: map[uint16][]string{}}
	for _, secret := range secrets {
		for _, form := range formsOf(secret) {
			two := pair(form[0], form[1])
			r.forms[two] = append(r.forms[two], form)
			r.add(two)
		}
	}
	for _, forms := range r.forms {
		slices.SortFunc(forms, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	}
	return r
}

func (r *Redactor) add(two uint16) {
	r.starts[two] = true
	r.firsts[two>>8] = true
}

func pair(first, second byte) uint16 { return uint16(first)<<8 | uint16(second) }

// String is s with each secret replaced by ***.
func (r *Redactor) String(s string) string { return string(r.mask([]byte(s))) }

// Bytes is String for bytes; b stays as it is.
func (r *Redactor) Bytes(b []byte) []byte { return bytes.Clone(r.mask(b)) }

func (r *Redactor) mask(b []byte) []byte {
	found, _ := r.find(b, 0, 0)
	out, _ := shown(b, found, 0, len(b))
	return out
}

// shown also returns how far hidden text reaches. Without hidden text it is a part of b itself.
func shown(b []byte, found []match, at, end int) ([]byte, int) {
	var out []byte
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
	for at := range len(b) - 1 {
		if !r.starts[pair(b[at], b[at+1])] {
			continue
		}
		if n, _ := r.value(b[at:]); n > 0 {
			return true
		}
	}
	return false
}

// Writer hides secrets in what is written to it, wherever the borders between writes fall. What could be the beginning
// of a secret waits for what comes next, or for Close. Closing does not close w.
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

// find returns every match that begins at from or later, in the order of their beginnings, and how much of s depends on
// nothing that comes next. Before hidden, and within a match, it looks for values only.
func (r *Redactor) find(s []byte, from, hidden int) ([]match, int) {
	var found []match
	settled := len(s)
	for at := from; at < len(s); at++ {
		if at+1 < len(s) && !r.starts[pair(s[at], s[at+1])] {
			continue
		}
		size, open := r.value(s[at:])
		if size > 0 {
			found = append(found, match{at, at + size})
		}
		if open {
			settled = min(settled, at)
		}
		if at >= hidden {
			m, open := r.shaped(s, at)
			if m.to > 0 {
				found = append(found, m)
			}
			if open {
				settled = min(settled, at)
			}
		}
		if len(found) > 0 {
			hidden = max(hidden, found[len(found)-1].to)
		}
	}
	return found, settled
}

// value returns the size of the longest secret with which s begins. open says that more text could make or lengthen
// one.
func (r *Redactor) value(s []byte) (size int, open bool) {
	if len(s) == 1 {
		return 0, r.firsts[s[0]]
	}
	mayGrow := false
	for _, form := range r.forms[pair(s[0], s[1])] {
		n := min(len(form), len(s))
		switch {
		case form[:n] != string(s[:n]):
		case n == len(form):
			return n, mayGrow // the longest that is whole
		default:
			mayGrow = true
		}
	}
	return 0, mayGrow
}

// shaped returns the token that begins at a place: a zero match if there is none. open is as in value.
func (r *Redactor) shaped(s []byte, at int) (token match, open bool) {
	if at+1 == len(s) {
		return match{}, false
	}
	var m match
	mayGrow := false
	inWord := at > 0 && isAlphanumeric(s[at-1]) // the sk- of "task-list" begins no token
	for _, shape := range r.shapes[pair(s[at], s[at+1])] {
		if inWord && !shape.inWord {
			continue
		}
		from, to, more := shape.match(s[at:])
		if to > 0 {
			m = match{at + from, max(at+to, m.to)}
		}
		mayGrow = mayGrow || more
	}
	return m, mayGrow
}

func isAlphanumeric(b byte) bool {
	switch {
	case '0' <= b && b <= '9', 'A' <= b && b <= 'Z', 'a' <= b && b <= 'z':
		return true
	}
	return false
}

// writer holds the end back while it could be the beginning of a secret.
type writer struct {
	redactor *Redactor
	to       io.Writer
	held     []byte // begins with the last byte passed on
	passed   int    // how much of held was passed on
	masked   int    // how much of what follows passed is part of a secret whose *** was written
}

func (w *writer) Write(p []byte) (int, error) {
	w.held = append(w.held, p...)
	found, settled := w.redactor.find(w.held, w.passed, w.passed+w.masked)
	if err := w.pass(found, settled); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close writes what was held back. It can be called again.
func (w *writer) Close() error {
	found, _ := w.redactor.find(w.held, w.passed, w.passed+w.masked)
	return w.pass(found, len(w.held))
}

// pass writes what is held as far as end, and keeps the rest. A secret that reaches over end has its *** written now;
// the rest of it is remembered as masked.
func (w *writer) pass(found []match, end int) error {
	if end <= w.passed {
		return nil
	}
	out, at := shown(w.held, found, w.passed+w.masked, end)
	var err error
	if len(out) > 0 {
		_, err = w.to.Write(out)
	}
	w.passed = 1
	w.masked = at - end
	w.held = append(w.held[:0], w.held[end-1:]...)
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
		line = strings.TrimSpace(line)
		if len(line) >= 4 {
			lines = append(lines, line)
		}
	}
	return lines
}
