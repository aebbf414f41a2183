package redact

import (
	"encoding/hex"
	"html"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// place is how far a text was read: forms[from:to] begin with depth bytes that its first at bytes stand for.
type place struct{ at, depth, from, to int }

// form returns the size of the longest form with which s begins. Each character may be as it is or in any escape: what
// encoders escape, and how, differs. open says that more text could make or lengthen one.
func (r *Redactor) form(s []byte) (size int, open bool) {
	if len(s) > 1 && !r.starts[pair(s[0], s[1])] {
		return 0, false
	}
	var few [4]place
	all := append(few[:0], place{to: len(r.forms)})
	if len(s) > 1 && !mayEscape[s[0]] && !mayEscape[s[1]] {
		all[0] = r.pairs[pair(s[0], s[1])]
		all[0].at = 2
	}
	for i := 0; i < len(all); i++ {
		var n int
		var more bool
		all, n, more = r.follow(s, all, all[i])
		size, open = max(size, n), open || more
	}
	return size, open
}

// follow reads s on from p. Where s can be read in two ways, the second is added to all.
func (r *Redactor) follow(s []byte, all []place, p place) (_ []place, size int, open bool) {
	var few [8]reading
	for p.from < p.to {
		if len(r.forms[p.from]) == p.depth {
			size = p.at
			p.from++
			continue
		}
		if p.at == len(s) {
			return all, size, true
		}
		if !mayEscape[s[p.at]] {
			p = r.narrow(p, reading{asItIs(s[p.at]), 1})
			continue
		}
		readings, more := read(s[p.at:], few[:0])
		open = open || more
		now := p
		p.to = p.from
		for _, way := range readings {
			next := r.narrow(now, way)
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
func (r *Redactor) narrow(p place, way reading) place {
	at := p.at + way.size
	for i := 0; i < len(way.text) && p.from < p.to; i++ {
		p = r.next(p, way.text[i])
	}
	p.at = at
	return p
}

// next keeps the forms that go on with b.
func (r *Redactor) next(p place, b byte) place {
	switch p.depth {
	case 0:
		return r.firsts[b]
	case 1:
		if first := r.forms[p.from][0]; r.plain[pair(first, b)] {
			return r.pairs[pair(first, b)]
		}
		return place{}
	}
	p.to = r.reach(p, int(b)+1)
	p.from = r.reach(p, int(b))
	p.depth++
	return p
}

// reach returns the first of p's forms whose next byte is least or more.
func (r *Redactor) reach(p place, least int) int {
	for p.from < p.to {
		middle := (p.from + p.to) / 2
		if f := r.forms[middle]; len(f) > p.depth && int(f[p.depth]) >= least {
			p.to = middle
		} else {
			p.from = middle + 1
		}
	}
	return p.from
}

// reading is what the first size bytes of a text may stand for.
type reading struct {
	text string
	size int
}

// An escape makes at most so many bytes of one.
const (
	longestEscape    = mostBackslashes + len("u0040")
	longestEntity    = 10
	mostBackslashes  = 8 // JSON in JSON in JSON
	mostPercentCodes = 3
)

// read returns each way to read the beginning of s. open says that more text could make another.
func read(s []byte, all []reading) (_ []reading, open bool) {
	all = append(all, reading{asItIs(s[0]), 1})
	switch s[0] {
	case '+':
		return append(all, reading{" ", 1}), false
	case '%':
		return percent(s, all)
	case '\\':
		return backslashes(s, all)
	case '&':
		return entity(s, all)
	case '\'':
		return quotes(s, all)
	}
	return all, false
}

var mayEscape = [256]bool{'+': true, '%': true, '\\': true, '&': true, '\'': true}

var eachByte = func() string {
	var all [256]byte
	for b := range all {
		all[b] = byte(b)
	}
	return string(all[:])
}()

func asItIs(b byte) string { return eachByte[b : int(b)+1] }

// percent reads %40, and %2540, which escapes it once more.
func percent(s []byte, all []reading) (_ []reading, open bool) {
	for at := 1; at <= 2*mostPercentCodes; at += 2 {
		code, whole, part := number(s[at:], 2)
		if !whole {
			return all, part
		}
		all = append(all, reading{asItIs(code[0]), at + 2})
		if code[0] != '%' {
			break
		}
	}
	return all, false
}

// number reads as many digits. part says that s is too short for them.
func number(s []byte, digits int) (code []byte, whole, part bool) {
	n := min(digits, len(s))
	code, err := hex.DecodeString(string(s[:n]) + "0000"[:digits-n])
	return code, err == nil && n == digits, err == nil && n < digits
}

var controls = [256]string{'n': "\n", 'r': "\r", 't': "\t", 'b': "\b", 'f': "\f"}

// backslashes reads what JSON, languages and shells escape. Each JSON around it doubles the backslashes.
func backslashes(s []byte, all []reading) (_ []reading, open bool) {
	n := 1
	for n < min(len(s), mostBackslashes) && s[n] == '\\' {
		n++
	}
	for size := 2; size <= n; size *= 2 {
		all = append(all, reading{`\`, size})
	}
	if n == len(s) {
		return all, true
	}
	switch c := s[n]; {
	case c == '\\' || c < ' ' || c >= utf8.RuneSelf:
	case c == '"' && n&1 == 0: // it ends the string
	case !alnum.has(c):
		all = append(all, reading{asItIs(c), n + 1})
	case n&(n-1) != 0:
	case c == 'x':
		code, whole, part := number(s[n+1:], 2)
		if open = part; whole {
			all = append(all, reading{asItIs(code[0]), n + 3})
		}
	case c == 'u':
		return wide(s, n, all)
	case controls[c] != "":
		all = append(all, reading{controls[c], n + 1})
	}
	return all, open
}

// wide reads \u0040 behind n backslashes, or the two that are one character.
func wide(s []byte, n int, all []reading) (_ []reading, open bool) {
	code, whole, part := number(s[n+1:], 4)
	if !whole {
		return all, part
	}
	text, size := rune(code[0])<<8|rune(code[1]), n+5
	if utf16.IsSurrogate(text) {
		next := s[size:]
		if len(next) < n+5 {
			return all, true
		}
		low, isLow, _ := number(next[n+1:], 4)
		if !isLow {
			return all, false
		}
		text, size = utf16.DecodeRune(text, rune(low[0])<<8|rune(low[1])), 2*size
	}
	return append(all, reading{string(text), size}), false
}

// entity reads a character of HTML or XML.
func entity(s []byte, all []reading) (_ []reading, open bool) {
	n := 1
	for n < min(len(s), longestEntity) && (alnum.has(s[n]) || s[n] == '#') {
		n++
	}
	if n == len(s) {
		return all, n < longestEntity
	}
	name := string(s[:n+1])
	if text := html.UnescapeString(name); s[n] == ';' && text != name {
		all = append(all, reading{text, n + 1})
	}
	return all, false
}

// quotes reads an apostrophe as shells and their tools write it between apostrophes, also in JSON.
func quotes(s []byte, all []reading) (_ []reading, open bool) {
	for _, quoted := range []string{`'\''`, `'\\''`, `'"'"'`, `'\"'\"'`} {
		whole, part := begins(s, quoted)
		if open = open || part; whole {
			all = append(all, reading{"'", len(quoted)})
		}
	}
	return all, open
}
