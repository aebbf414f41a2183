package redact

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A line of a key may be printed alone. Shorter lines are words like any other.
const shortestLine = 12

// forms returns the secret as programs may print it, and each of its lines.
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
	all := append([]string{value, lower, strings.ToUpper(lower)}, inLines(lower, 60)...)
	all = append(append(all, inBytes(value)...), inWide(value))
	all = append(append(all, inBase64(value)...), inEntities(value)...)
	for _, escaped := range slices.Concat(inURL(value), inEscapes(value), []string{value}) { // a URL can be in JSON, too
		all = append(append(all, escaped), inJSON(escaped)...)
	}
	return all
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

// inEscapes escapes all characters, or all but letters and digits: encoders differ in the rest.
func inEscapes(value string) []string {
	var all []string
	for _, plain := range []class{0, alnum} {
		for _, form := range []string{"%%%02x", "%%%02X", `\x%02x`, `\x%02X`} {
			all = append(all, escape([]byte(value), form, plain))
		}
		for _, form := range []string{`\u%04x`, `\u%04X`} {
			all = append(all, escape(utf16.Encode([]rune(value)), form, plain))
		}
	}
	return all
}

func escape[T byte | uint16](units []T, form string, plain class) string {
	var out strings.Builder
	for _, unit := range units {
		if unit < utf8.RuneSelf && unit != '_' && plain.has(byte(unit)) {
			out.WriteByte(byte(unit))
		} else {
			fmt.Fprintf(&out, form, unit)
		}
	}
	return out.String()
}

// inBase64 is value in base64, also in the middle of something longer: there
// it begins at any of three places in a group, and only the characters that
// depend on value alone can be known.
func inBase64(value string) []string {
	var all []string
	for _, alphabet := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		whole := alphabet.EncodeToString([]byte(value))
		all = append(all, whole, strings.TrimRight(whole, "="))
		all = append(append(all, inLines(whole, 76)...), inLines(whole, 64)...)
		for _, part := range within(alphabet, value) {
			all = append(append(all, part), within(alphabet, part)...) // settings of a cluster are packed twice
		}
	}
	return all
}

func within(alphabet *base64.Encoding, value string) (parts []string) {
	for before := range 3 {
		text := alphabet.EncodeToString(append(make([]byte, before), value...))
		first := (before*8 + 5) / 6
		last := (before + len(value)) * 8 / 6
		parts = append(parts, text[first:last])
	}
	return parts
}

func inEntities(value string) []string {
	page := html.EscapeString(value)
	return []string{page, strings.NewReplacer("&#34;", "&quot;", "&#39;", "&apos;").Replace(page)}
}

// inLines breaks lines as base64 (76), openssl (64) and xxd (60) do, also within JSON.
func inLines(text string, width int) []string {
	if len(text) <= width {
		return nil
	}
	var lines []string
	for len(text) > width {
		lines, text = append(lines, text[:width]), text[width:]
	}
	lines = append(lines, text)
	return []string{strings.Join(lines, "\n"), strings.Join(lines, `\n`)}
}

func inURL(value string) []string {
	var all []string
	for _, escaped := range []string{url.QueryEscape(value), url.PathEscape(value)} {
		all = append(all, escaped, percentCode.ReplaceAllStringFunc(escaped, strings.ToLower)) // both are in use
	}
	return all
}

var percentCode = regexp.MustCompile(`%[0-9A-F]{2}`)

// inJSON also quotes twice, in either way: an agent's stream quotes what a tool printed.
func inJSON(value string) []string {
	var all []string
	texts := []string{value}
	for range 2 {
		var quoted []string
		for _, text := range texts {
			var out strings.Builder
			enc := json.NewEncoder(&out)
			enc.SetEscapeHTML(false)
			// A string cannot fail to encode.
			_ = enc.Encode(text)
			safe, _ := json.Marshal(text)
			plain := inner(strings.TrimSuffix(out.String(), "\n"))
			quoted = append(quoted, plain, inner(string(safe)), strings.ReplaceAll(plain, "/", `\/`))
		}
		slices.Sort(quoted)
		texts = slices.Compact(quoted)
		all = append(all, texts...)
	}
	return all
}

func inner(quoted string) string { return quoted[1 : len(quoted)-1] }

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

func pair(first, second byte) uint16 { return uint16(first)<<8 | uint16(second) }
