package clean

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// LogLine is line fit for the log of the Actions runner, which reads commands
// out of it: ::name::data at the front and ##[name]data anywhere. Both are
// broken wherever they stand. Control characters become visible, and so do
// invisible ones, as the runner's comparison skips those and would find a
// command across them.
func LogLine(line string) string {
	line = mapVisible(line)
	if strings.Contains(line, "::") {
		line = broken(line)
	}
	return strings.ReplaceAll(line, "##[", "## [")
}

// broken leaves addresses of IPv6 whole, as they stand before a port: what is in
// the brackets is at no line's front, and the brackets themselves are seen to.
func broken(line string) string {
	var out strings.Builder
	for line != "" {
		text, rest, _ := strings.Cut(line, "[")
		out.WriteString(apart(text))
		if line = line[len(text):]; line == "" {
			break
		}
		size := 1 + len(rest) - len(strings.TrimLeft(rest, "0123456789abcdefABCDEF:."))
		if len(line) == size || line[size] != ']' {
			size = 1
		}
		out.WriteString(line[:size])
		line = line[size:]
	}
	return out.String()
}

// apart does it twice, as the pairs of ":::" overlap.
func apart(text string) string {
	for range 2 {
		text = strings.ReplaceAll(text, "::", ": :")
	}
	return text
}

func mapVisible(line string) string {
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
		case Invisible(r), r == '\u2028', r == '\u2029':
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
