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
	page     []int  // for places
}

func (w *writer) Write(p []byte) (int, error) {
	w.held = append(w.held, p...)
	places := w.places()
	if err := w.pass(places, w.settled(places)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close writes what was held back. It can be called again.
func (w *writer) Close() error { return w.pass(w.places(), len(w.held)) }

// places are those in held, behind what was passed on, where a secret may begin.
func (w *writer) places() []int {
	w.page = w.redactor.starts.places(w.page[:0], w.held, w.passed)
	return w.page
}

// settled is how much of what is held depends on nothing that comes next.
func (w *writer) settled(places []int) int {
	farthest := len(w.held) - max(w.redactor.longest, longestShape)
	for _, at := range places {
		if at >= farthest && w.redactor.open(w.held, at) {
			return at
		}
	}
	return len(w.held)
}

// pass writes what is held as far as end, and keeps the rest. A secret that
// reaches over end has its *** written now; the rest of it is remembered as
// masked.
func (w *writer) pass(places []int, end int) error {
	if end <= w.passed {
		return nil
	}
	out, at := shown(w.held, w.redactor.find(w.held, places), w.passed+w.masked, end)
	var err error
	if len(out) > 0 {
		_, err = w.to.Write(out)
	}
	w.held = append(w.held[:0], w.held[end-1:]...)
	w.passed, w.masked = 1, at-end
	return err
}
