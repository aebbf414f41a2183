package clean

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// LogLine makes line safe for the log of the Actions runner. The runner reads ::name::data at the front and
// ##[name]data anywhere as commands, so both are broken. Control characters are escaped. So are invisible characters:
// the runner skips them and would find a command across them. What else it skips at the front is not known, but no
// letter: the names of tests have their :: after one.
func LogLine(line string) string {
	line = strings.ReplaceAll(EscapeUnprintable(line), "\n", `\n`)
	at := strings.IndexFunc(line, isLetter)
	if at < 0 {
		at = len(line)
	}
	front, rest := line[:at], line[at:]
	for range 2 { // as the pairs of ":::" overlap
		front = strings.ReplaceAll(front, "::", ": :")
	}
	return strings.ReplaceAll(front+rest, "##[", "## [")
}

func isLetter(r rune) bool { return ('a' <= r && r <= 'z') || ('A' <= r && r <= 'Z') }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// EscapeUnprintable shows control and invisible characters as numbers. Tabs and newlines stay.
func EscapeUnprintable(text string) string {
	var out strings.Builder
	out.Grow(len(text))
	for _, r := range text {
		switch {
		case r == '\t' || r == '\n':
			out.WriteRune(r)
		case r == '\r':
			out.WriteString(`\r`)
		case unicode.IsControl(r):
			fmt.Fprintf(&out, `\x%02x`, r)
		case IsInvisible(r), r == '\u2028', r == '\u2029':
			fmt.Fprintf(&out, `\u{%04x}`, r)
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

// LogLines is LogLine for each line of text.
func LogLines(text string) string {
	var lines strings.Builder
	for line := range strings.Lines(text) {
		lines.WriteString(LogLine(strings.TrimSuffix(line, "\n")) + "\n")
	}
	return lines.String()
}

// JSON prints a value for scripts and people. Invisible characters are escaped.
func JSON(to io.Writer, value any) error {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return err
	}
	_, err := io.WriteString(to, escapeJSON(out.String()))
	return err
}

// escapeJSON escapes characters that people cannot see; the value stays the same.
func escapeJSON(text string) string {
	var out bytes.Buffer
	for _, r := range text {
		if !IsInvisible(r) && (r < unicode.MaxASCII || !unicode.IsControl(r)) {
			out.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&out, `\u%04x`, unit)
		}
	}
	return out.String()
}

// IsInvisible reports whether people do not see r while a model reads it or a parser skips it: format and bidi
// characters, the tag block, variation selectors, fillers, soft hyphens. The zero width joiner is one of them, so a
// joined emoji becomes its members. Format characters that are drawn (such as Arabic number signs) are not.
func IsInvisible(r rune) bool {
	if r < 0xAD {
		return false
	}
	switch r {
	case 0x2800, 0x1D159: // braille blank, musical null notehead: drawn empty
		return true
	}
	if unicode.Is(unicode.Prepended_Concatenation_Mark, r) {
		return false
	}
	return unicode.Is(unicode.Cf, r) ||
		unicode.Is(unicode.Variation_Selector, r) ||
		unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
}

// Later steps count lines. Some readers end a line at U+2028 and U+2029.
func normalizeNewlines(text string) string {
	if !strings.ContainsAny(text, "\r\u2028\u2029") {
		return text
	}
	return strings.NewReplacer("\u2028", "\n", "\u2029", "\n").Replace(lineEnds.Replace(text))
}

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// OneLine returns text with one space for white space and control characters.
func OneLine(text string) string {
	words := strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
	return strings.Join(words, " ")
}

// Visible returns text without control and invisible characters, apart from tabs and newlines.
func Visible(text string) string { return dropUnprintable(text, Removed{}) }

func dropUnprintable(text string, removed Removed) string {
	text = normalizeNewlines(text)
	var out strings.Builder
	out.Grow(len(text))
	for i, r := range text {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD"):
			removed.add("invalid bytes")
		case r == '\n' || r == '\t':
		case unicode.IsControl(r):
			removed.add("control characters")
			continue
		case IsInvisible(r):
			removed.add("invisible characters")
			continue
		}
		out.WriteRune(r)
	}
	return out.String()
}

// Truncate returns the first bytes of a text, cut between characters. A limit of 0 is none.
func Truncate(text string, limit int) string {
	if limit <= 0 || len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}
