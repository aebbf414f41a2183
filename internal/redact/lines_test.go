package redact_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/redact"
)

// brokenAt is text as programs print it that break their lines.
func brokenAt(text string, width int) string {
	var lines []string
	for len(text) > width {
		lines, text = append(lines, text[:width]), text[width:]
	}
	return strings.Join(append(lines, text), "\n")
}

// What base64, openssl and xxd print of a long secret is hidden, over its line
// ends, as it stands and in JSON.
func TestSecretsOverLines(t *testing.T) {
	long := strings.Repeat("canary-of-a-key/", 12) + "end"
	coded, digits := base64.StdEncoding.EncodeToString([]byte(long)), hex.EncodeToString([]byte(long))
	for name, in := range map[string]string{
		"base64":       brokenAt(coded, 76),
		"openssl":      brokenAt(coded, 64),
		"xxd -p":       brokenAt(digits, 60),
		"xxd of token": brokenAt(hex.EncodeToString([]byte(token)), 60),
	} {
		r := redact.New(long, token)
		hides(t, r, [][2]string{{"a " + in + " b", "a *** b"}})
		if !r.Holds([]byte("x" + in + "y")) {
			t.Errorf("%s: it is not seen", name)
		}
		quoted, err := json.Marshal(in)
		if err != nil || !bytes.Equal(r.Bytes(quoted), []byte(`"***"`)) {
			t.Errorf("%s: in JSON it is %s", name, r.Bytes(quoted))
		}
	}
}

// A secret in the middle of something longer is hidden wherever a line ends in it, but for up to three letters before.
func TestSecretsWithinLines(t *testing.T) {
	const secret, least = "Zx9kLmQ27vTn4RwY8uPeHs3BdFgJc6Aa", 38 // of 41 letters or more
	r := redact.New(secret)
	for _, width := range []int{20, 60, 64, 76, 100} {
		for _, end := range []string{"\n", "\r\n", "\n    ", "\r\n\t"} {
			for before := range 120 {
				text := []byte(strings.Repeat("#", before) + secret + "\nOTHER=1234567890")
				for _, packed := range []string{base64.StdEncoding.EncodeToString(text), hex.EncodeToString(text)} {
					in := strings.ReplaceAll(brokenAt(packed, width), "\n", end)
					quoted, err := json.Marshal(in)
					if err != nil {
						t.Fatal(err)
					}
					for _, in := range []string{in, string(quoted)} {
						out := r.String(in)
						if hidden := len(in) - len(out); hidden < least-len(redact.Mask) || !r.Holds([]byte(in)) {
							t.Fatalf("%q, hidden %q", in, out)
						}
						if got := inSteps(t, r, in, 1+before); got != out {
							t.Fatalf("written bit by bit, %q is %q, want %q", in, got, out)
						}
					}
				}
			}
		}
	}
}

func TestHolds(t *testing.T) {
	r := redact.New("secret-value")
	for text, want := range map[string]bool{
		"a secret-value b": true, base64.StdEncoding.EncodeToString([]byte("a secret-value b")): true,
		"secret-valu": false, "": false, token: false, pem: false, "secret value": false,
	} {
		if got := r.Holds([]byte(text)); got != want {
			t.Errorf("Holds(%q) = %t, want %t", text, got, want)
		}
	}
}

// Each of these texts takes hours if reading goes on to their end from each place.
func TestLongTextsOfEscapes(t *testing.T) {
	r := redact.New("hunter2hunter2-secret")
	for _, unit := range []string{`\e[m`, `\\\\\\\\e[m`, "\x1b[m", "h\x1b[m", `h\e[mu\e[m`, `\u001b[m`, "\x1b(B", "\x1b[h", `\e[h`, "hunt\n\n", "aHVudGVy\n  ", `aHVu\n`, "h%2525", "&amp;", "''''", "$$$$", `\\\\`} {
		text := strings.Repeat(unit, 300<<10/len(unit))
		if got := inSteps(t, r, text, 32<<10); got != text || r.String(text) != text {
			t.Errorf("%q many times: %.200q", unit, got)
		}
	}
}
