package process

import "unicode/utf8"

// Head is a Writer that keeps the first N bytes.
type Head struct {
	N int

	kept    []byte
	dropped int64
}

// Write never fails.
func (h *Head) Write(p []byte) (int, error) {
	free := max(0, min(len(p), h.N-len(h.kept)))
	h.kept = append(h.kept, p[:free]...)
	h.dropped += int64(len(p) - free)
	return len(p), nil
}

// Bytes is what was kept, to the byte.
func (h *Head) Bytes() []byte { return h.kept }

// Dropped is how many bytes came after what was kept.
func (h *Head) Dropped() int64 { return h.dropped }

// String is what was kept, without a rune that was cut at its end.
func (h *Head) String() string {
	b := h.kept
	if h.dropped == 0 {
		return string(b)
	}
	for i := 1; i <= min(utf8.UTFMax-1, len(b)); i++ {
		if last := b[len(b)-i:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				b = b[:len(b)-i]
			}
			break
		}
	}
	return string(b)
}

// Tail is a Writer that keeps the last N bytes.
type Tail struct {
	N int

	kept    []byte // up to 2N, so that keeping costs a copy every N bytes
	written int64
}

// Write never fails.
func (t *Tail) Write(p []byte) (int, error) {
	t.written += int64(len(p))
	n := len(p)
	p = lastOf(p, t.N)
	if len(t.kept)+len(p) > 2*t.N {
		t.kept = t.kept[:copy(t.kept, lastOf(t.kept, t.N-len(p)))]
	}
	t.kept = append(t.kept, p...)
	return n, nil
}

// Bytes is what was kept, to the byte.
func (t *Tail) Bytes() []byte { return lastOf(t.kept, t.N) }

// Dropped is how many bytes came before what is kept.
func (t *Tail) Dropped() int64 { return t.written - int64(len(t.Bytes())) }

// String is what was kept, without a rune that was cut at its beginning.
func (t *Tail) String() string {
	b := t.Bytes()
	if t.Dropped() == 0 {
		return string(b)
	}
	for range utf8.UTFMax - 1 {
		if len(b) == 0 || utf8.RuneStart(b[0]) {
			break
		}
		b = b[1:]
	}
	return string(b)
}

func lastOf(b []byte, n int) []byte {
	return b[max(0, len(b)-max(0, n)):]
}
