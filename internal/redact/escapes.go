package redact

import (
	"bytes"
	"encoding/hex"
	"html"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// reading is what the first size bytes of a text may stand for.
type reading struct {
	text string
	size int
}

// An escape makes at most so many bytes of one.
const (
	longestEscape    = mostBackslashes + len("u0040")
	longestEntity    = 10
	longestBreak     = (2 + 32) * (mostBackslashes + 1)
	mostBackslashes  = 8 // JSON in JSON in JSON
	mostPercentCodes = 3
)

// read returns each way to read the beginning of s. Within a form a colour may be nothing, and the end of a line if breaks
// says so. open says that more text could make another.
func read(s []byte, within, breaks bool, all []reading) (_ []reading, open bool) {
	all = append(all, reading{asItIs(s[0]), 1})
	switch s[0] {
	case '+':
		return append(all, reading{" ", 1}), false
	case '%':
		return percent(s, all)
	case '\\':
		return backslashes(s, within, breaks, all)
	case '&':
		return entity(s, all)
	case '\'':
		return quotes(s, all)
	case '"', '$': // doubled in CSV, SQL and make
		if len(s) > 1 && s[1] == s[0] {
			all = append(all, reading{asItIs(s[0]), 2})
		}
	case escape:
		if within {
			return coloured(s, all)
		}
	case '\r', '\n':
		if breaks {
			return broken(s, all)
		}
	}
	return all, false
}

var mayEscape = [256]bool{'"': true, '$': true, escape: true, '\r': true, '\n': true, '+': true, '%': true, '\\': true, '&': true, '\'': true}

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
func backslashes(s []byte, within, breaks bool, all []reading) (_ []reading, open bool) {
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
	if within && strings.IndexByte("ux0e", s[n]) >= 0 {
		all, open = coloured(s, all)
	}
	switch c := s[n]; {
	case c == '\\' || c < ' ' || c >= utf8.RuneSelf:
	case c == '"' && n&1 == 0: // it ends the string
	case !alnum.has(c):
		all = append(all, reading{asItIs(c), n + 1})
	case n&(n-1) == 0:
		all, more := letter(s, n, breaks, all)
		return all, open || more
	}
	return all, open
}

// letter reads the letter behind n backslashes, with the digits that belong to it.
func letter(s []byte, n int, breaks bool, all []reading) (_ []reading, open bool) {
	switch c := s[n]; {
	case c == 'x':
		code, whole, part := number(s[n+1:], 2)
		if open = part; whole {
			all = append(all, reading{asItIs(code[0]), n + 3}, reading{string(rune(code[0])), n + 3})
		}
	case c == 'u' && n+1 < len(s) && s[n+1] == '{', c == 'U', c >= '0' && c <= '3':
		return codePoint(s, n, all)
	case c == 'u':
		return wide(s, n, all)
	case controls[c] != "":
		all = append(all, reading{controls[c], n + 1})
		if breaks && (c == 'n' || c == 'r') {
			return broken(s, all)
		}
	}
	return all, open
}

// lineBreak is the end of a line with the indent of the next, as they are or in JSON.
var lineBreak = regexp.MustCompile(`^(?:\r?\n|(?:\\{1,8}r)?\\{1,8}n)(?:[ \t]|\\{1,8}t){0,32}`)

// colour is what terminals take as a colour, as it is or in JSON and other strings.
var colour = regexp.MustCompile(`^(?:\x1b|\\{1,8}(?:u001[bB]|x1[bB]|033|e))(?:\[[0-9;:]{0,40}[A-Za-z]|\(B)`)

const (
	escape        = '\x1b'
	longestColour = mostBackslashes + len("u001b[") + 40 + 1
)

// coloured reads a colour as nothing: grep and others show with one what they found.
func coloured(s []byte, all []reading) (_ []reading, open bool) {
	n := len(colour.Find(s))
	if n == 0 {
		return all, len(s) < longestColour
	}
	return append(all, reading{"", n}), false
}

// broken reads the end of a line as nothing: encoders, mails and terminals break lines.
func broken(s []byte, all []reading) (_ []reading, open bool) {
	n := len(lineBreak.Find(s))
	if n == 0 {
		return all, len(s) < longestBreak
	}
	return append(all, reading{"", n}), len(bytes.TrimLeft(s[n:], `\`)) == 0
}

// codePoint reads \u{40}, \U00000040 and the octal \100 behind n backslashes.
func codePoint(s []byte, n int, all []reading) (_ []reading, open bool) {
	found := codePoints.FindSubmatch(s[n:])
	if found == nil {
		return all, len(s)-n < len("U00000040")
	}
	if octal, err := strconv.ParseUint(string(found[2]), 8, 8); err == nil {
		return append(all, reading{asItIs(byte(octal)), n + len(found[0])}), false
	}
	digits := string(found[1]) + string(found[3])
	if text, _, _, err := strconv.UnquoteChar(`\U`+"00000000"[len(digits):]+digits, 0); err == nil {
		all = append(all, reading{string(text), n + len(found[0])})
	}
	return all, false
}

var codePoints = regexp.MustCompile(`^(?:u\{([0-9a-fA-F]{1,6})\}|([0-3][0-7]{2})|U([0-9a-fA-F]{8}))`)

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
	for _, quoted := range []string{`''`, `'\''`, `'\\''`, `'"'"'`, `'\"'\"'`} {
		whole, part := begins(s, quoted)
		if open = open || part; whole {
			all = append(all, reading{"'", len(quoted)})
		}
	}
	return all, open
}
