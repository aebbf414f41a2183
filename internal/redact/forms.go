package redact

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A line of a key may be printed alone. Shorter lines are words like any other.
const shortestLine = 12

// values returns the secret, and each of its lines.
func values(secret string) []string {
	secret = strings.TrimSpace(secret)
	if utf8.RuneCountInString(secret) < shortest {
		return nil
	}
	all := []string{secret}
	lines := strings.Split(secret, "\n")
	if len(lines) == 1 {
		return all
	}
	all = append(all, strings.ReplaceAll(secret, "\n", "\r\n"))
	for _, line := range lines {
		line = strings.TrimSpace(line)
		// -----BEGIN … is the same in every key and no secret.
		if len(line) >= shortestLine && !strings.HasPrefix(line, "-----") {
			all = append(all, line)
		}
	}
	return all
}

// packs are value in hexadecimal and base64. Rests are their ends, which may begin a line.
func packs(value string) (whole, rests []string) {
	whole = slices.Concat(inHex(value), inBase64(value), inBase64(inWide(value)))
	for _, form := range whole {
		for n := 1; n < leastOfLine && len(form)-n >= shortestLine; n++ {
			rests = append(rests, form[n:])
		}
	}
	return whole, rests
}

// inHex is value in hexadecimal, also byte by byte.
func inHex(value string) (all []string) {
	for _, format := range []string{"%x", "%X", "% x", "% X"} {
		form := fmt.Sprintf(format, value)
		all = append(all, form, strings.ReplaceAll(form, " ", ":"))
	}
	return all
}

// inWide is UTF-16 without its first byte, for both byte orders.
func inWide(value string) string {
	var wide []byte
	for _, unit := range utf16.Encode([]rune(value)) {
		wide = binary.BigEndian.AppendUint16(wide, unit)
	}
	return string(wide[1:])
}

// inBase64 is value in base64, also in the middle of something longer: there
// it begins at any of three places in a group, and only the characters that
// depend on value alone can be known.
func inBase64(value string) []string {
	var all []string
	for _, alphabet := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		parts, ends := within(alphabet, value)
		_, lines := within(alphabet, value+"\n")
		all = append(append(append(all, parts...), ends...), lines...)
		whole := alphabet.EncodeToString([]byte(value))
		for _, part := range append(parts, inLines(whole, 64), inLines(whole, 76)) {
			if part != "" {
				twice, _ := within(alphabet, part) // settings of a cluster are packed twice
				all = append(all, twice...)
			}
		}
	}
	return all
}

// inLines breaks lines as base64 (76) and openssl (64) do; empty: it is shorter.
func inLines(text string, width int) (lines string) {
	if len(text) <= width {
		return ""
	}
	for len(text) > width {
		lines, text = lines+text[:width]+"\n", text[width:]
	}
	return lines + text
}

// within returns what stands for value in the middle and at the end.
func within(alphabet *base64.Encoding, value string) (parts, ends []string) {
	for before := range 3 {
		text := alphabet.EncodeToString(append(make([]byte, before), value...))
		first := (before*8 + 5) / 6
		last := (before + len(value)) * 8 / 6
		parts = append(parts, text[first:last])
		ends = append(ends, text[first:], strings.TrimRight(text[first:], "="))
	}
	return parts, ends
}

// starts are the pairs of bytes with which a secret may begin: an agent prints a gigabyte.
type starts [1 << 16]bool

var shapeStarts = func() (s starts) {
	for _, t := range tokens {
		s.add(t.prefix)
	}
	for _, prefix := range []string{webBegin, pemBegin, "au", "aU", "Au", "AU"} {
		s.add(prefix)
	}
	return s
}()

func (x *starts) add(text string) { x[pair(text[0], text[1])] = true }

// addEscaped adds the ways in which a form begins: its first two characters may be escaped.
func (x *starts) addEscaped(form string) {
	first := form[:1]
	for _, second := range []string{form[1:2], `\`, "%", "&", "+", "\n", "\r", "\x1b"} {
		x.add(first + second)
	}
	for _, escape := range []string{"%2", fmt.Sprintf("%%%x", first[0]>>4), fmt.Sprintf("%%%X", first[0]>>4), `\\`, `\x`, `\u`, `\U`, `\0`, `\1`, `\2`, `\3`, `\` + first, first + first, `'"`, `'\`, "&#"} {
		x.add(escape)
	}
	if alnum.has(first[0]) {
		return
	}
	for letter := range byte(26) { // of the name of a sign in HTML
		x.add("&" + string('a'+letter))
		x.add("&" + string('A'+letter))
	}
}

func pair(first, second byte) uint16 { return uint16(first)<<8 | uint16(second) }
