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

// LogLine makes line safe for the log of the Actions runner. The runner reads
// ::name::data at the front and ##[name]data anywhere as commands, so both are
// broken everywhere. Control characters are escaped. So are invisible characters:
// the runner skips them and would find a command across them.
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

// IsInvisible reports whether people do not see r while a model reads it or a
// parser skips it: format and bidi characters, the tag block, variation selectors,
// fillers, soft hyphens. The zero width joiner is one of them, so a joined emoji
// becomes its members. Format characters that are drawn (such as Arabic number
// signs) are not.
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
	return strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n").Replace(text)
}

func dropUnprintable(text string, gone Removed) string {
	text = normalizeNewlines(text)
	return mapRunes(text, func(r rune, size int) rune {
		switch {
		case r == utf8.RuneError && size == 1:
			gone.add("invalid bytes")
			return utf8.RuneError
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r):
			gone.add("control characters")
			return -1
		case IsInvisible(r):
			gone.add("invisible characters")
			return -1
		default:
			return r
		}
	})
}

// mapRunes distinguishes an invalid byte, which has size 1, from a U+FFFD.
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

// truncate cuts between characters; a limit of 0 is none.
func truncate(text string, limit int) string {
	if limit <= 0 || len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}
