package redact

import (
	"bytes"
	"slices"
	"strings"
)

// table finds forms. Each of their characters may be as it is or in any escape: what encoders escape, and how, differs.
type table struct {
	forms  []string // sorted
	breaks bool     // lines may end within a form
	firsts [256]place
	pairs  map[uint16]place // by the first two bytes
	starts starts           // has the keys of pairs
}

// A form is not looked for across the end of a line that has less of it: most lines would have to wait for the next.
const leastOfLine = 4

// Before a rest comes an indent: so much of it is looked at.
const mostBehind = 64

// place is how far a text was read: forms[from:to] begin with depth bytes that its first at bytes stand for. The last of
// these stand for nothing, skipped times.
type place struct{ at, depth, from, to, skipped int }

// Between two letters are at most so many colours and ends of lines: each look has an end.
const mostSkipped = 8

func newTable(forms []string, breaks bool) table {
	slices.Sort(forms)
	t := table{forms: slices.Compact(forms), breaks: breaks, pairs: make(map[uint16]place)}
	for i, f := range t.forms {
		first, second := f[0], pair(f[0], f[1])
		if i == 0 || t.forms[i-1][0] != first {
			t.firsts[first] = place{depth: 1, from: i}
		}
		if !t.starts[second] {
			t.pairs[second] = place{depth: 2, from: i}
			t.starts.add(f)
		}
		t.firsts[first].to = i + 1
		t.pairs[second] = place{depth: 2, from: t.pairs[second].from, to: i + 1}
	}
	return t
}

// form returns the size of the longest form with which s begins. open says that more text could make or lengthen one.
func (t *table) form(s []byte) (size int, open bool) {
	var few [4]place
	all := append(few[:0], place{to: len(t.forms)})
	if len(s) > 1 && !mayEscape[s[0]] && !mayEscape[s[1]] {
		if !t.starts[pair(s[0], s[1])] { // most are of another table
			return 0, false
		}
		all[0] = t.pairs[pair(s[0], s[1])]
		all[0].at = 2
	}
	for i := 0; i < len(all); i++ {
		var n int
		var more bool
		all, n, more = t.follow(s, all, all[i])
		size, open = max(size, n), open || more
	}
	mayDouble := size > 0 && size == len(s) && strings.IndexByte(`"$`, s[size-1]) >= 0
	return size, open || mayDouble
}

// follow reads s on from p. Where s can be read in two ways, the second is added to all.
func (t *table) follow(s []byte, all []place, p place) (_ []place, size int, open bool) {
	var few [8]reading
	for p.from < p.to {
		if len(t.forms[p.from]) == p.depth {
			size = p.at
			p.from++
			continue
		}
		if p.at == len(s) {
			return all, size, true
		}
		if !mayEscape[s[p.at]] {
			p = t.narrow(p, reading{asItIs(s[p.at]), 1})
			continue
		}
		maySkip := p.depth > 0 && p.skipped < mostSkipped
		readings, more := read(s[p.at:], maySkip, maySkip && t.breaks && p.depth >= leastOfLine, few[:0])
		open = open || more
		now := p
		p.to = p.from
		for _, way := range readings {
			next := t.narrow(now, way)
			switch {
			case next.from == next.to:
			case p.from == p.to:
				p = next
			case !slices.Contains(all, next):
				all = append(all, next)
			}
		}
	}
	return all, size, open
}

// narrow keeps the forms that go on with what was read.
func (t *table) narrow(p place, way reading) place {
	at, skipped := p.at+way.size, p.skipped+1
	for i := 0; i < len(way.text) && p.from < p.to; i++ {
		p, skipped = t.next(p, way.text[i]), 0
	}
	p.at, p.skipped = at, skipped
	return p
}

// next keeps the forms that go on with b.
func (t *table) next(p place, b byte) place {
	switch p.depth {
	case 0:
		return t.firsts[b]
	case 1:
		if first := t.forms[p.from][0]; t.starts[pair(first, b)] {
			return t.pairs[pair(first, b)]
		}
		return place{}
	}
	p.to = t.reach(p, int(b)+1)
	p.from = t.reach(p, int(b))
	p.depth++
	return p
}

// reach returns the first of p's forms whose next byte is least or more.
func (t *table) reach(p place, least int) int {
	for p.from < p.to {
		middle := (p.from + p.to) / 2
		if f := t.forms[middle]; len(f) > p.depth && int(f[p.depth]) >= least {
			p.to = middle
		} else {
			p.from = middle + 1
		}
	}
	return p.from
}

// beginsLine reports whether s[at:] may be the beginning of a line, behind its indent, also in JSON.
func beginsLine(s []byte, at int) bool {
	if at == 0 || strings.IndexByte(" \t\ntn", s[at-1]) < 0 {
		return false
	}
	line := bytes.TrimRight(s[max(0, at-mostBehind):at], " \t\\t")
	return bytes.HasSuffix(line, []byte("\n")) || bytes.HasSuffix(line, []byte(`\n`))
}
