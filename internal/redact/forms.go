package redact

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A line of a key may be printed alone. Shorter lines are words like any other.
const shortestLine = 12

// forms returns the secret as programs may print it, without escapes, and each of its lines.
func forms(secret string) []string {
	secret = strings.TrimSpace(secret)
	if utf8.RuneCountInString(secret) < shortest {
		return nil
	}
	all := written(secret)
	lines := strings.Split(secret, "\n")
	if len(lines) == 1 {
		return all
	}
	all = append(all, written(strings.ReplaceAll(secret, "\n", "\r\n"))...)
	for _, line := range lines {
		line = strings.TrimSpace(line)
		// -----BEGIN … is the same in every key and no secret.
		if len(line) >= shortestLine && !strings.HasPrefix(line, "-----") {
			all = append(all, written(line)...)
		}
	}
	return all
}

func written(value string) []string {
	lower := hex.EncodeToString([]byte(value))
	all := append([]string{value, lower, strings.ToUpper(lower), inWide(value)}, inLines(lower, 60)...)
	return append(append(all, inBytes(value)...), inBase64(value)...)
}

// inBytes is value byte by byte, in hexadecimal.
func inBytes(value string) []string {
	var all []string
	for _, form := range []string{"% x", "% X"} {
		spaced := fmt.Sprintf(form, value)
		all = append(all, spaced, strings.ReplaceAll(spaced, " ", ":"))
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
		whole := alphabet.EncodeToString([]byte(value))
		all = append(append(all, inLines(whole, 76)...), inLines(whole, 64)...)
		parts, ends := within(alphabet, value)
		_, lines := within(alphabet, value+"\n")
		all = append(append(append(all, parts...), ends...), lines...)
		for _, part := range parts {
			twice, _ := within(alphabet, part) // settings of a cluster are packed twice
			all = append(all, twice...)
		}
	}
	return all
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

// inLines breaks lines as base64 (76), openssl (64) and xxd (60) do.
func inLines(text string, width int) []string {
	if len(text) <= width {
		return nil
	}
	var lines []string
	for len(text) > width {
		lines, text = append(lines, text[:width]), text[width:]
	}
	return []string{strings.Join(append(lines, text), "\n")}
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
	for _, second := range []string{form[1:2], `\`, "%", "&", "+"} {
		x.add(first + second)
	}
	for _, escape := range []string{"%2", fmt.Sprintf("%%%x", first[0]>>4), fmt.Sprintf("%%%X", first[0]>>4), `\\`, `\x`, `\u`, `\` + first, `'"`, `'\`, "&#"} {
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
