package redact

import "io"

// writer holds back the end of what was written to it as long as that could
// be the beginning of a secret.
type writer struct {
	redactor *Redactor
	to       io.Writer
	held     []byte // begins with the last byte passed on, which shapes look at
	passed   int    // how much of held was passed on: 0 or 1
	masked   int    // how much of what follows passed is part of a secret whose *** was written
}

func (w *writer) Write(p []byte) (int, error) {
	w.held = append(w.held, p...)
	s := string(w.held)
	if err := w.pass(s, w.settled(s)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close writes what was held back. It can be called again.
func (w *writer) Close() error {
	s := string(w.held)
	return w.pass(s, len(s))
}

// settled is how far into s nothing depends on what comes next.
func (w *writer) settled(s string) int {
	farthest := max(w.redactor.longest, longestShape)
	for at := max(w.passed, len(s)-farthest); at < len(s); at++ {
		if w.redactor.open(s, at) {
			return at
		}
	}
	return len(s)
}

// pass writes s as far as end, and keeps the rest. A secret that reaches over
// end has its *** written now; the rest of it is remembered as masked.
func (w *writer) pass(s string, end int) error {
	if end <= w.passed {
		return nil
	}
	var out []byte
	at := w.passed + w.masked
	for _, m := range w.redactor.find(s, w.passed) {
		if m.from >= end {
			break
		}
		if m.to <= at {
			continue
		}
		if m.from >= at {
			out = append(out, s[at:m.from]...)
			out = append(out, Mask...)
		}
		at = m.to
	}
	if at < end {
		out = append(out, s[at:end]...)
		at = end
	}
	w.held = append(w.held[:0], s[end-1:]...)
	w.passed, w.masked = 1, at-end
	if len(out) == 0 {
		return nil
	}
	_, err := w.to.Write(out)
	return err
}
