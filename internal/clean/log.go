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

// LogLine is line fit for the log of the Actions runner, which reads commands
// out of it: ::name::data at the front and ##[name]data anywhere. Both are
// broken wherever they stand. Control characters become visible, and so do
// invisible ones, as the runner's comparison skips those and would find a
// command across them.
func LogLine(line string) string {
	line = escapeUnprintable(line)
	for range 2 { // as the pairs of ":::" overlap
		line = strings.ReplaceAll(line, "::", ": :")
	}
	return strings.ReplaceAll(line, "##[", "## [")
}

func escapeUnprintable(line string) string {
	var out strings.Builder
	for len(line) > 0 {
		r, size := utf8.DecodeRuneInString(line)
		switch {
		case r == '\t':
			out.WriteRune(r)
		case r == '\r':
			out.WriteString(`\r`)
		case r == '\n':
			out.WriteString(`\n`)
		case unicode.IsControl(r):
			fmt.Fprintf(&out, `\x%02x`, r)
		case IsInvisible(r), r == '\u2028', r == '\u2029':
			fmt.Fprintf(&out, `\u{%04x}`, r)
		default:
			out.WriteRune(r)
		}
		line = line[size:]
	}
	return out.String()
}

// LogLines is text whose lines hold nothing that a terminal would obey.
func LogLines(text string) string {
	var lines strings.Builder
	for line := range strings.Lines(text) {
		lines.WriteString(LogLine(strings.TrimSuffix(line, "\n")) + "\n")
	}
	return lines.String()
}

// JSON prints a value for scripts, and for those who look at what they get:
// what takes no ink, or turns a line's direction, is there as its number.
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

// escapeJSON is JSON that says the same and hides nothing from who reads it.
func escapeJSON(text string) string {
	var out bytes.Buffer
	for _, r := range text {
		switch {
		case !IsInvisible(r) && (r < unicode.MaxASCII || !unicode.IsControl(r)):
			out.WriteRune(r)
		case r <= 0xFFFF:
			fmt.Fprintf(&out, `\u%04x`, r)
		default:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		}
	}
	return out.String()
}

// IsInvisible says whether r takes no ink where people read, yet is read by a
// model or skipped by a parser: format and bidi characters, the tag block,
// variation selectors, fillers, soft hyphens. The zero width joiner is among
// them, so a joined emoji falls apart into its members; the few format
// characters that do show (Arabic number signs and their kin) are not.
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

// normalizeNewlines makes every line end a \n, as all that follows counts in lines.
// U+2028 and U+2029 end a line in some readers and not in others.
func normalizeNewlines(text string) string {
	if !strings.ContainsAny(text, "\r\u2028\u2029") {
		return text
	}
	return strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n").Replace(text)
}

// dropUnprintable leaves only characters that people can see, \n and \t.
func dropUnprintable(text string, gone *Removed) string {
	text = normalizeNewlines(text)
	return mapRunes(text, func(r rune, size int) rune {
		switch {
		case r == utf8.RuneError && size == 1:
			gone.Invalid++
			return utf8.RuneError
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r):
			gone.Controls++
			return -1
		case IsInvisible(r):
			gone.Invisible++
			return -1
		default:
			return r
		}
	})
}

// mapRunes is strings.Map for a mapper that must tell a broken byte, which
// has size 1, from a U+FFFD that somebody wrote.
func mapRunes(text string, to func(r rune, size int) rune) string {
	var out strings.Builder
	out.Grow(len(text))
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		if r = to(r, size); r >= 0 {
			out.WriteRune(r)
		}
		text = text[size:]
	}
	return out.String()
}

// truncate is the longest beginning of text that has at most limit bytes and ends
// on a rune's border. Without a limit it is text.
func truncate(text string, limit int) string {
	if limit <= 0 || len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}
