package clean

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// writer writes one line of harmless Markdown, which may stand in a table.
//
// It has to know what GitHub takes for code, because mentions in code stay. So backticks are written only in pairs on
// one line, and only the writer itself writes markup between the two (a tag, a link, the end of a cell).
type writer struct {
	out       []byte
	inAddress bool // the current word can be an address
}

func (w *writer) prose(text string) {
	runs := make(map[int][]int) // the places of the runs of backticks, by their size
	for _, run := range ticks.FindAllStringIndex(text, -1) {
		runs[run[1]-run[0]] = append(runs[run[1]-run[0]], run[0])
	}
	for i := 0; i < len(text); {
		if text[i] == '`' {
			i += w.code(text, i, runs)
		} else {
			i += w.next(text, i)
		}
	}
}

func (w *writer) next(text string, i int) int {
	rest := text[i:]
	switch c := rest[0]; c {
	case '\\':
		return w.backslash(rest)
	case '<':
		return w.angle(rest)
	case '[', '!', ']':
		return w.bracket(rest)
	case '@', '#', '-':
		return w.reference(text, i)
	case 'h', 'H', 'w', 'W':
		return w.address(text, i)
	default:
		return w.character(rest)
	}
}

func (w *writer) character(rest string) int {
	c := rest[0]
	switch {
	case c == '&' && harmlessReference.MatchString(rest): // an agent's Vec&lt;T&gt;
		w.letter(c)
	case c == '&' && reference.MatchString(rest):
		w.out = append(w.out, "&amp;"...)
	case c == '$' && !w.beginsAmount(rest): // $`…`$ is a formula, in which the backticks would pair differently
		w.entity(c)
	case c == '~' && strings.HasPrefix(rest, "~~~"):
		w.out = append(w.out, "&#126;&#126;&#126;"...)
		return 3
	case c == '|':
		w.out = append(w.out, `\|`...)
	default:
		w.letter(c)
	}
	return 1
}

var (
	reference         = regexp.MustCompile(`^&(?:#[0-9]+|#[xX][0-9a-fA-F]+|[A-Za-z][A-Za-z0-9]*);`)
	harmlessReference = regexp.MustCompile(`^&(?:lt|gt|amp|quot|nbsp);`)
)

// beginsAmount reports whether a dollar sign, as in $5.10, can end no formula: a formula's last sign
// follows a character that is no space.
func (w *writer) beginsAmount(rest string) bool {
	begins := len(w.out) == 0 || bytes.HasSuffix(w.out, []byte(" "))
	return begins && len(rest) > 1 && isDigit(rest[1])
}

func (w *writer) code(text string, i int, runs map[int][]int) int {
	mark := ticks.FindString(text[i:])
	size := len(mark)
	closers := runs[size]
	next, _ := slices.BinarySearch(closers, i+size)
	isClosed := next < len(closers)
	inside := ""
	if isClosed {
		inside = text[i+size : closers[next]]
	}
	// Parsers disagree about \\| in a table cell.
	isAmbiguous := strings.Contains(inside, "|") && strings.Contains(inside, `\`)
	if !isClosed || isAmbiguous {
		for range size {
			w.entity('`')
		}
		return size
	}
	w.span(mark, inside)
	return size + len(inside) + size
}

var ticks = regexp.MustCompile("`+")

// A space before a code span separates it from another span or an address.
func (w *writer) span(mark, inside string) {
	if w.inAddress || bytes.HasSuffix(w.out, []byte("`")) {
		w.out = append(w.out, ' ')
		w.inAddress = false
	}
	w.out = append(w.out, mark+strings.ReplaceAll(inside, "|", `\|`)+mark...)
}

func (w *writer) letter(c byte) {
	w.out = append(w.out, c)
	switch c {
	case ' ', '\t':
		w.inAddress = false
	case '/':
		w.inAddress = w.inAddress || bytes.HasSuffix(w.out, []byte("://"))
	case '.':
		tail := w.out[max(0, len(w.out)-4):]
		w.inAddress = w.inAddress || bytes.EqualFold(tail, []byte("www."))
	}
}

// backslash drops escapes that GitHub or this writer does not need.
func (w *writer) backslash(rest string) int {
	next := rest[1:]
	switch {
	case next == "":
	case strings.IndexByte("`[]!\\", next[0]) >= 0:
		w.entity(next[0])
		return 2
	case next[0] == '-' && len(next) > 1 && isDigit(next[1]):
		w.span("`", "-")
		return 2
	case strings.IndexByte("*_{}()+.>~|-\"'", next[0]) >= 0:
		w.out = append(w.out, rest[:2]...)
		return 2
	case strings.IndexByte("@#<&$", next[0]) >= 0:
		return 1
	}
	w.entity('\\')
	return 1
}

func (w *writer) entity(c byte) { w.out = fmt.Appendf(w.out, "&#%d;", c) }

var autolink = regexp.MustCompile(`^<(https?://[^\s<>` + "`" + `]+)>`)

func (w *writer) angle(rest string) int {
	if m := autolink.FindStringSubmatch(rest); m != nil {
		w.prose(m[1])
		return len(m[0])
	}
	w.out = append(w.out, "&lt;"...)
	return 1
}
