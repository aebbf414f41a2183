package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	shortest     = 6  // A shorter value would hide ordinary words, and could be guessed anyway.
	shortestLine = 12 // A line of a key may be printed alone. Shorter lines are words like any other.
)

// formsOf returns the secret and each of its lines, as they are and in common encodings.
func formsOf(secret string) []string {
	var all []string
	for _, value := range values(secret) {
		inHex := hex.EncodeToString([]byte(value))
		all = append(all, value, inHex, strings.ToUpper(inHex))
		all = append(all, inBase64(value)...)
		all = append(all, inBase64(value+"\n")...) // as echo prints it
		for _, address := range inURL(value) {
			all = append(all, inJSON(address)...) // & of a path is \u0026 there
		}
		for _, quoted := range inJSON(value) {
			all = append(all, quoted)
			all = append(all, inJSON(quoted)...) // a transcript quotes JSON in JSON
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

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

// inBase64 returns value in base64, alone and in the middle of something longer: there it begins at any of
// three places in a group, and only the characters that depend on value alone are known.
func inBase64(value string) []string {
	var all []string
	for _, alphabet := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		for before := range 3 {
			text := alphabet.EncodeToString(append(make([]byte, before), value...))
			first := (before*8 + 5) / 6
			last := (before + len(value)) * 8 / 6
			all = append(all, text[first:last], text[first:], strings.TrimRight(text[first:], "="))
		}
	}
	return all
}

// inURL returns value with the escapes that languages use in addresses.
func inURL(value string) []string {
	query, path := url.QueryEscape(value), url.PathEscape(value)
	component := strings.ReplaceAll(query, "+", "%20") // the rest is as it is: in encodeURIComponent, too
	for _, mark := range []string{"!", "'", "(", ")", "*"} {
		component = strings.ReplaceAll(component, url.QueryEscape(mark), mark)
	}
	var all []string
	for _, form := range []string{query, path, component, strings.ReplaceAll(query, "+", "%20")} {
		all = append(all, form, lowerEscapes(form))
	}
	return all
}

// lowerEscapes writes %2f for %2F.
func lowerEscapes(text string) string {
	out := []byte(text)
	for at := 0; at+2 < len(out); at++ {
		if out[at] == '%' {
			copy(out[at+1:], bytes.ToLower(out[at+1:at+3]))
			at += 2
		}
	}
	return string(out)
}

// inJSON returns value as it stands between the quotes of a JSON string: as most encoders write it, as Go
// writes it for HTML, with slashes escaped, and in ASCII alone.
func inJSON(value string) []string {
	var plain bytes.Buffer
	encoder := json.NewEncoder(&plain)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value) // a string has no error
	most := strings.TrimSpace(plain.String())
	most = most[1 : len(most)-1]
	html, _ := json.Marshal(value)
	return []string{most, string(html[1 : len(html)-1]), strings.ReplaceAll(most, "/", `\/`), inASCII(most)}
}

// inASCII escapes the characters of a JSON string that are not ASCII.
func inASCII(text string) string {
	var out strings.Builder
	for _, r := range text {
		if r < utf8.RuneSelf {
			out.WriteRune(r)
			continue
		}
		out.WriteString(escaped(r))
	}
	return out.String()
}

// escaped writes a character as JSON does in ASCII.
func escaped(r rune) string {
	if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
		return fmt.Sprintf(`\u%04x\u%04x`, high, low)
	}
	return fmt.Sprintf(`\u%04x`, r)
}
