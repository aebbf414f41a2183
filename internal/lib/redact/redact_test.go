package redact_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/lib/redact"
)

const (
	password = `p/ss w+rd"7`
	token    = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	pem      = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA7bq8\nx9Qm2v4LrT0sP1aYbC3d\n-----END RSA PRIVATE KEY-----"
)

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// Basic authentication is user:password in base64, where the password begins
// at any of three places in a group.
func TestStringHidesBase64InTheMiddle(t *testing.T) {
	r := redact.New(password)
	for before := range 5 {
		in := base64.StdEncoding.EncodeToString([]byte("user:"[:before] + password + "tail"))
		got := r.String(in)
		if !strings.Contains(got, redact.Mask) || len(got) > len(in)-len(password) {
			t.Errorf("after %d bytes: String(%q) = %q", before, in, got)
		}
		for _, end := range []string{"", "\n"} { // of echo
			for _, alphabet := range []*base64.Encoding{base64.StdEncoding, base64.RawURLEncoding} {
				in := alphabet.EncodeToString([]byte("user:"[:before] + password + end))
				if got, want := r.String(in), in[:(before*8+5)/6]+redact.Mask; got != want {
					t.Errorf("after %d bytes: String(%q) = %q, want %q", before, in, got, want)
				}
			}
		}
	}
}

func TestStringLeavesTheRest(t *testing.T) {
	// Too short to hide, blank, and one that is in none of the texts.
	r := redact.New("", "  ", "ab", "12345", "correct horse")
	for _, s := range []string{
		"", "ab 12345", "task-list-with-many-parts-in-its-name", "risk-assessment", "a-ghp_short", "AKIATOOSHORT",
		"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----", "authorization: see the docs for more",
		"eyJ.a.b", "authorization required", "npm_config_registry",
	} {
		if got := r.String(s); got != s {
			t.Errorf("String(%q) = %q", s, got)
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

// A reader hides what a writer does, and is as prompt: a person is watching.
func TestReader(t *testing.T) {
	from, to := io.Pipe()
	broken := errors.New("broken off")
	go func() {
		for _, piece := range []string{"data: x\n\n", "a " + password[:5], password[5:] + " b", " c " + password[:4]} {
			_, _ = io.WriteString(to, piece)
		}
		to.CloseWithError(broken)
	}()
	hidden := redact.New(password).Reader(from)
	var got []string
	for {
		buffer := make([]byte, 100)
		n, err := hidden.Read(buffer)
		if n == 0 {
			if !errors.Is(err, broken) {
				t.Errorf("ended with %v", err)
			}
			break
		}
		got = append(got, string(buffer[:n]))
	}
	if all := fmt.Sprintf("%q", got); all != fmt.Sprintf("%q", []string{"data: x\n\n", "a ", "*** b", " c ", password[:4]}) {
		t.Errorf("read %s", all)
	}
}

// Some are to hide values and no shapes.
func TestValues(t *testing.T) {
	r := redact.Values(password)
	for in, want := range map[string]string{
		password: "***", quoted(password): `"***"`, token: token, "Authorization: Bearer 0123456789": "Authorization: Bearer 0123456789",
	} {
		if got := r.String(in); got != want {
			t.Errorf("String(%q) = %q, want %q", in, got, want)
		}
	}
}

type broken struct{}

var errBroken = errors.New("broken pipe")

func (broken) Write([]byte) (int, error) { return 0, errBroken }

func TestWriterError(t *testing.T) {
	w := redact.New("secret-value").Writer(broken{})
	if _, err := w.Write([]byte("secret")); err != nil {
		t.Errorf("Write = %v, want nil for what is held back", err)
	}
	if err := w.Close(); !errors.Is(err, errBroken) {
		t.Errorf("Close = %v, want %v", err, errBroken)
	}
	if n, err := w.Write([]byte("a\n")); n != 0 || !errors.Is(err, errBroken) {
		t.Errorf("Write = %d, %v, want 0, %v", n, err, errBroken)
	}
}

// FuzzWriter holds that a stream is hidden as its whole text is, wherever it
// is cut, and that no form of a secret is left in it.
func FuzzWriter(f *testing.F) {
	for _, s := range []string{
		"a secret-value b", token, pem, quoted(pem), "Authorization: Bearer abcdefgh12345678 x", "eyJhbGciOi.eyJzdWIi.dBjftJ x",
		"ghp_ghp_" + token, "-----BEGIN -----BEGIN PRIVATE KEY-----\nx", "sk-ant-" + strings.Repeat("a", 300), "authorization: a b c",
		strings.Repeat("secret-", 5) + "value", "AuthorizationAuthorization: Basic abcdefghi",
	} {
		f.Add(s, "secret-value", uint16(3))
		f.Add(s, password, uint16(1))
	}
	f.Fuzz(func(t *testing.T, text, secret string, step uint16) {
		secret = strings.TrimSpace(secret[:min(len(secret), 256)]) // one letter 4,000 times takes half a minute
		r := redact.New(secret, "value-of-another")
		encoded := base64.StdEncoding.EncodeToString([]byte(text+secret)) + quoted(secret) + url.QueryEscape(secret)
		for _, in := range []string{text, text + secret + text, text + encoded} {
			want := r.String(in)
			if got := inSteps(t, r, in, 1+int(step)%64); got != want {
				t.Errorf("in steps of %d: %q, want %q", 1+step%64, got, want)
			}
			if len([]rune(secret)) >= 6 && !strings.Contains(secret, "*") && strings.Contains(want, secret) {
				t.Errorf("String(%q) = %q holds %q", in, want, secret)
			}
		}
		if benign := strings.Map(onlyWords, text); r.String(benign) != benign && !strings.Contains(benign, secret) {
			t.Errorf("String(%q) = %q", benign, r.String(benign))
		}
	})
}

func inSteps(t *testing.T, r *redact.Redactor, in string, step int) string {
	t.Helper()
	var out bytes.Buffer
	w := r.Writer(&out)
	for rest := []byte(in); len(rest) > 0; {
		n := min(len(rest), step)
		if took, err := w.Write(rest[:n]); took != n || err != nil {
			t.Fatalf("Write = %d, %v, want all of %d", took, err, n)
		}
		rest = rest[n:]
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// onlyWords leaves text that no secret of the fuzzer can be in: letters that
// need no encoding are few, and the shapes need digits, dashes or capitals.
func onlyWords(r rune) rune {
	if r >= 'q' && r <= 'z' || r == ' ' || r == '\n' {
		return r
	}
	return -1
}
