package redact_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/lib/redact"
)

// Every token that is known by its shape: hidden from its shortest on, and left
// alone in the middle of a word.
func TestEachShapeHasItsLimits(t *testing.T) {
	for _, c := range []struct {
		prefix string
		of     string // a character of each kind that such a token may hold
		not    string // and some that end it
		min    int
	}{
		{"ghp_", "aZ9_", "-. ", 20},
		{"gho_", "aZ9_", "-. ", 20},
		{"ghu_", "aZ9_", "-. ", 20},
		{"ghs_", "aZ9_-.", "+ ", 20},
		{"ghr_", "aZ9_", "-. ", 20},
		{"github_pat_", "aZ9_", "-. ", 20},
		{"sk-ant-", "aZ9_-", ". ", 12},
		{"sk-proj-", "aZ9_-", ". ", 20},
		{"sk-svcacct-", "aZ9_-", ". ", 20},
		{"sk-or-", "aZ9_-", ". ", 20},
		{"sk-", "aZ9_", "-. ", 20},
		{"AIza", "aZ9_-", ". ", 30},
		{"xoxa-", "aZ9_-", ". ", 10},
		{"xoxb-", "aZ9_-", ". ", 10},
		{"xoxe-", "aZ9_-", ". ", 10},
		{"xoxo-", "aZ9_-", ". ", 10},
		{"xoxp-", "aZ9_-", ". ", 10},
		{"xoxr-", "aZ9_-", ". ", 10},
		{"xoxs-", "aZ9_-", ". ", 10},
		{"xapp-", "aZ9_-", ". ", 10},
		{"AKIA", "AZ09", "au_-.+", 16},
		{"ASIA", "AZ09", "a_-.", 16},
		{"glpat-", "aZ9_-.", "+ ", 16},
		{"npm_", "aZ9_", "-. ", 30},
	} {
		shortest := c.prefix + strings.Repeat(c.of, c.min)[:c.min]
		cases := [][2]string{
			{shortest, "***"},
			{shortest + strings.Repeat(c.of, 100), "***"},
			{"(_" + shortest + ")", "(_***)"},
			{shortest[:len(shortest)-1], shortest[:len(shortest)-1]},
			{"x" + shortest, "x" + shortest},
			{"7" + shortest, "7" + shortest},
		}
		for _, end := range c.not {
			cut := shortest[:len(shortest)-1] + string(end)
			cases = append(cases, [2]string{shortest + string(end), "***" + string(end)}, [2]string{cut, cut})
		}
		hides(t, redact.New(), cases)
	}
}

func TestWebTokenHasItsLimits(t *testing.T) {
	const head, body, seal = "eyJhb", "eyJ_-", "dBjft"
	full := strings.Repeat("a", 4999)
	hides(t, redact.New(), [][2]string{
		{head + "." + body + "." + seal, "***"},
		{"t=" + head + "." + body + "." + seal + ";", "t=***;"},
		{head + "." + body, head + "." + body},
		{head + "." + body + ";" + seal, head + "." + body + ";" + seal},
		{head + ";" + body + "." + seal, head + ";" + body + "." + seal},
		{"x" + head + "." + body + "." + seal, "x" + head + "." + body + "." + seal},
		{"-" + head + "." + body + "." + seal, "-***"},
		{head + "." + full + "." + seal, "***"},
		{head + "." + full + full + "." + seal, "***"},
		{"exJhb." + body + "." + seal, "exJhb." + body + "." + seal},
		{head + "." + body + "." + full, "***"},
		{head + "." + body + "." + full + ".", "***."},
		{head + "." + body + "." + seal + "." + seal + "." + seal, "***"},
	})
}

func TestPrivateKeyHasItsLimits(t *testing.T) {
	label := func(n int) string { return strings.Repeat("X", n-len("PRIVATE KEY")) + "PRIVATE KEY" }
	key := func(label, end string) string { return "-----BEGIN " + label + "-----\nMIIE\n" + end }
	hides(t, redact.New(), [][2]string{
		{key("PGP PRIVATE KEY BLOCK", "-----END PGP PRIVATE KEY BLOCK-----") + " .", "*** ."},
		{key("PUBLIC KEY", "-----END PUBLIC KEY-----"), key("PUBLIC KEY", "-----END PUBLIC KEY-----")},
		{key(label(75), "-----END PRIVATE KEY-----"), "***"},
		{key(label(76), "-----END PRIVATE KEY-----"), key(label(76), "-----END PRIVATE KEY-----")},
		// Behind a heading of mail, a key's lines hold more than base64 does.
		{"-----BEGIN PRIVATE KEY-----\nA: b, c\nMIIE\n-----END " + label(64) + "-----.", "***."},
		{"-----BEGIN PRIVATE KEY-----" + strings.Repeat("A", 20<<10), "***" + strings.Repeat("A", 27+(4<<10))},
		{"-----BEGIN PRIVATE KEY-----\nMI+E/=\\r\\n(-----END " + label(65) + "-----", "***(-----END " + label(65) + "-----"},
	})
}

// Two marks of a key hide nothing that stands between them: a journal's line would lose fields, and a page the words of
// ralph.
func TestOnlyAKeyIsHidden(t *testing.T) {
	const begin, end = "-----BEGIN A PRIVATE KEY-----", "-----END A PRIVATE KEY-----"
	hides(t, redact.New(), [][2]string{
		{`{"files":["` + begin + `"],"refused":["x"],"huge":["` + end + `"]}`, `{"files":["***"],"refused":["x"],"huge":["` + end + `"]}`},
		{`{"a":"-----BEGIN ","refused":["x"],"b":"PRIVATE KEY-----"}`, `{"a":"-----BEGIN ","refused":["x"],"b":"PRIVATE KEY-----"}`},
		{`{"a":"` + begin + `\nMIIE\n-----END ","refused":1,"b":"-----"}`, `{"a":"***-----END ","refused":1,"b":"-----"}`},
		{begin + "<br>Files: `a`\n\n> **A person has to look first:** b\n\n`" + end + "`", "***<br>Files: `a`\n\n> **A person has to look first:** b\n\n`" + end + "`"},
		{begin + "\nNot shown to work:\n- US-1 Add: no test\n" + end, "*** shown to work:\n- US-1 Add: no test\n" + end},
		{"a: |\n  " + begin + "\r\n  Proc-Type: 4,ENCRYPTED\r\n  DEK-Info: AES-256-CBC,0A\r\n\r\n  MIIE+/=\r\n  " + end + "\nb", "a: |\n  ***\nb"},
		{quoted(quoted(begin + "\nVersion: GnuPG v1.4 (MingW32)\n\nlQOY\n=x\n" + end)), quoted(quoted("***"))},
		{"+" + begin + "\n+MIIE\n+" + end, "+***"},
	})
}

func TestAuthorizationHasItsLimits(t *testing.T) {
	for _, scheme := range []string{"Bearer", "basic", "TOKEN", "Digest", "negotiate", "ApiKey", "bot"} {
		hides(t, redact.New(), [][2]string{
			{"Authorization: " + scheme + " 12345678", "Authorization: ***"},
			{"Authorization: " + scheme + " 1234567", "Authorization: " + scheme + " 1234567"},
			{"Authorization: " + scheme + "12345678 x", "Authorization: " + schemeless(scheme) + " x"},
		})
	}
	hides(t, redact.New(), [][2]string{
		{"authorization=abcdefghijklmnop.", "authorization=***"},
		{`{"authorization":"token abcdefgh","x":1}`, `{"authorization":"***","x":1}`},
		{"https://x-access-token:ghs_0123456789abcdefghij@e.org", "https://x-access-token:***@e.org"},
		{"authorization:\"abcdefghijklmno\"", "authorization:\"abcdefghijklmno\""},
		{"Authorization: abcdefghijklmnop and so on", "Authorization: *** and so on"},
		{"Authorization: Other abcdefghijklmnop", "Authorization: Other abcdefghijklmnop"},
		{"authorization abcdefghijklmnop", "authorization abcdefghijklmnop"},
		{"reauthorization: Bearer abcdefgh", "reauthorization: Bearer abcdefgh"},
		{`"Authorization\":\t \"Bearer 12345678\"`, `"Authorization\":\t \"Bearer 12345678\"`},
		{`\"Authorization\": \"Bearer 12345678\"`, `\"Authorization\": \"***\"`},
		{"authorization:" + strings.Repeat(" ", 15) + "abcdefghijklmnop", "authorization:" + strings.Repeat(" ", 15) + "***"},
		{"authorization:" + strings.Repeat(" ", 17) + "abcdefghijklmnop", "authorization:" + strings.Repeat(" ", 17) + "abcdefghijklmnop"},
		{"authorization: user!name+of=mine\\", "authorization: ***\\"},
		{"authorization: <abcdefghijklmnop>", "authorization: <abcdefghijklmnop>"},
		{"authorization: " + strings.Repeat("a", 4096), "authorization: ***"},
	})
}

// schemeless returns what is left of a word that is a scheme only if one looks at
// its beginning: it is hidden for its length alone.
func schemeless(scheme string) string {
	if word := scheme + "12345678"; len(word) < 16 {
		return word
	}
	return redact.Mask
}

func TestEachFormOfASecretIsHidden(t *testing.T) {
	const lines = "twelve-chars\r\neleven-char\n-----BEGIN IT\nthe-last-of-all"
	const odd = `/B<a>&"d/E f/`
	hides(t, redact.New("  secret-value\t ", "abcdef", lines, odd), [][2]string{
		{"a secret-value.", "a ***."},
		{"abcdef", "***"},
		{"twelve-chars!", "***!"},
		{"eleven-char!", "eleven-char!"},
		{"-----BEGIN IT", "-----BEGIN IT"},
		{"%2fB%3ca%3e%26%22d%2fE+f%2f", "***"},
		{`/B<a>&\"d/E f/`, "***"},
		{`/B\u003ca\u003e\u0026\"d/E f/`, "***"},
		{`\/B<a>&\"d\/E f\/`, "***"},
		{`/B\\u003ca\\u003e\\u0026\\\"d/E f/`, "***"}, // JSON of Go, in JSON
	})
	inHex, query := hex.EncodeToString([]byte(password)), url.QueryEscape(password)
	hides(t, redact.New(password, "canary/key&47"), [][2]string{
		{"a " + password + " b", "a *** b"},
		{password + password, "******"},
		{inHex, "***"},
		{strings.ToUpper(inHex), "***"},
		{base64.StdEncoding.EncodeToString([]byte(password)), "***"},
		{base64.RawURLEncoding.EncodeToString([]byte(password)), "***"},
		{"?q=" + query + "&r", "?q=***&r"},
		{"/" + url.PathEscape(password) + "/", "/***/"},
		{quoted(password), `"***"`},
		{quoted(quoted(password)), `"\"***\""`},
		{quoted("/" + url.PathEscape("canary/key&47") + "/"), `"/***/"`}, // a path keeps &, which JSON escapes
	})
	hides(t, redact.New("abcdefgh", "efghijkl", "cdefgh", "key "+token+" end"), [][2]string{
		{"x abcdefghijkl y", "x *** y"}, // they overlap
		{"x abcdefgh y", "x *** y"},
		{"a key " + token + " end b", "a *** b"},
	})
	hides(t, redact.New("two\nlines"), [][2]string{
		{base64.StdEncoding.EncodeToString([]byte("two\nlines")), "***"},
		{base64.StdEncoding.EncodeToString([]byte("two\r\nlines")), "***"},
		{"two lines", "two lines"},
	})
}

// hides holds the whole text and its stream, bit by bit, against each want.
func hides(t *testing.T, r *redact.Redactor, cases [][2]string) {
	t.Helper()
	for _, c := range cases {
		in, want := c[0], c[1]
		if got := r.String(in); got != want {
			t.Errorf("String(%.99q) = %.99q, want %.99q", in, got, want)
		}
		if got := inSteps(t, r, in, 1+len(in)/100); got != want {
			t.Errorf("written bit by bit, %.99q is %.99q, want %.99q", in, got, want)
		}
	}
}

// A writer waits for what could still become a secret, and for no more.
func TestWriterHoldsOnlyWhatMayBeASecret(t *testing.T) {
	for _, c := range []struct{ write, seen string }{
		{"secret-value", "***"},
		{"secret-valu", ""},
		{"gh", ""},
		{"ghp_" + strings.Repeat("a", 254), ""},
		{"ghp_abc y", "ghp_abc y"},
		{"eyJ", ""},
		{"eyJhb;", "eyJhb;"},
		{"eyJhb.eyJhb.eyJhb y", "*** y"},
		{"eyJhb.eyJhb;", "eyJhb.eyJhb;"},
		{"--", ""},
		{"-----BEGIN CERTIFICATE-----", "-----BEGIN CERTIFICATE"},
		{"-----BEGIN " + strings.Repeat("b", 100), "-----BEGIN " + strings.Repeat("b", 100)},
		{pem, "***"},
		{"-----BEGIN PRIVATE KEY-----" + strings.Repeat("A", 16<<10), "***" + strings.Repeat("A", 26)},
		{"author", ""},
		{"authorization:" + strings.Repeat(" ", 15) + "\n", "authorization:" + strings.Repeat(" ", 15) + "\n"},
		{"authorization:" + strings.Repeat(" ", 17), "authorization:" + strings.Repeat(" ", 17)},
		{"authorization: Bearer " + strings.Repeat("a", 4096), ""},
		{"authorization: a b\n", "authorization: a b\n"},
	} {
		var out bytes.Buffer
		w := redact.New("secret-value").Writer(&out)
		if _, err := w.Write([]byte(c.write)); err != nil {
			t.Fatal(err)
		}
		if out.String() != c.seen {
			t.Errorf("after %.40q: %.40q is passed on, want %.40q", c.write, out.String(), c.seen)
		}
	}
}
