package egress

import (
	"bytes"
	"io"
	"slices"
)

// veil hides keys in what is read through it, wherever the pieces end. Only
// what could be the beginning of one waits for what follows. It hides values
// and no shapes: a model that writes about tokens is to be read as it wrote.
type veil struct {
	from   io.Reader
	keys   [][]byte // the longest first
	starts [256]bool

	held []byte // read, and not yet known to be harmless
	out  []byte // harmless, and not yet asked for
	err  error
}

func newVeil(from io.Reader, keys []Secret) *veil {
	v := &veil{from: from}
	for _, key := range keys {
		if key != "" {
			v.keys = append(v.keys, []byte(key))
			v.starts[key[0]] = true
		}
	}
	slices.SortFunc(v.keys, func(a, b []byte) int { return len(b) - len(a) })
	return v
}

func (v *veil) Read(p []byte) (int, error) {
	for len(v.out) == 0 && v.err == nil && len(p) > 0 {
		v.fill(len(p))
	}
	n := copy(p, v.out)
	v.out = v.out[n:]
	if len(v.out) > 0 || v.err == nil {
		return n, nil
	}
	return n, v.err
}

// fill reads some more and lets go of what is harmless.
func (v *veil) fill(most int) {
	at := len(v.held)
	v.held = slices.Grow(v.held, most)
	n, err := v.from.Read(v.held[at : at+most])
	v.held, v.err = v.held[:at+n], err
	v.out = v.out[:0]
	rest := v.held
	for len(rest) > 0 {
		harmless := slices.IndexFunc(rest, func(b byte) bool { return v.starts[b] })
		if harmless < 0 {
			harmless = len(rest)
		}
		v.out, rest = append(v.out, rest[:harmless]...), rest[harmless:]
		if len(rest) == 0 || err == nil && v.open(rest) {
			break
		}
		if key := v.match(rest); key > 0 {
			v.out, rest = append(v.out, mask...), rest[key:]
		} else {
			v.out, rest = append(v.out, rest[0]), rest[1:]
		}
	}
	v.held = append(v.held[:0], rest...)
}

// match is the length of the longest key that b begins with.
func (v *veil) match(b []byte) int {
	for _, key := range v.keys {
		if bytes.HasPrefix(b, key) {
			return len(key)
		}
	}
	return 0
}

// open tells whether b could become a key, or a longer one than it is.
func (v *veil) open(b []byte) bool {
	return slices.ContainsFunc(v.keys, func(key []byte) bool { return len(key) > len(b) && bytes.HasPrefix(key, b) })
}
