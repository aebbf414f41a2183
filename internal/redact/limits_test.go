package redact_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/ralph-loop/ralph/internal/redact"
)

// Every token that is known by its shape: hidden from its shortest on, to its
// longest and no further, and left alone in the middle of a word.
func TestEachShapeHasItsLimits(t *testing.T) {
	for _, c := range []struct {
		prefix string
		of     string // a character of each kind that such a token may hold
		not    string // and some that end it
		min    int
		max    int
	}{
		{"ghp_", "aZ9_", "-. ", 20, 255},
		{"gho_", "aZ9_", "-. ", 20, 255},
		{"ghu_", "aZ9_", "-. ", 20, 255},
		{"ghs_", "aZ9_-.", "+ ", 20, 2048},
		{"ghr_", "aZ9_", "-. ", 20, 255},
		{"github_pat_", "aZ9_", "-. ", 20, 255},
		{"sk-ant-", "aZ9_-", ". ", 12, 255},
		{"sk-proj-", "aZ9_-", ". ", 20, 255},
		{"sk-svcacct-", "aZ9_-", ". ", 20, 255},
		{"sk-or-", "aZ9_-", ". ", 20, 255},
		{"sk-", "aZ9_", "-. ", 20, 255},
		{"AIza", "aZ9_-", ". ", 30, 100},
		{"xoxa-", "aZ9_-", ". ", 10, 255},
		{"xoxb-", "aZ9_-", ". ", 10, 255},
		{"xoxe-", "aZ9_-", ". ", 10, 255},
		{"xoxo-", "aZ9_-", ". ", 10, 255},
		{"xoxp-", "aZ9_-", ". ", 10, 255},
		{"xoxr-", "aZ9_-", ". ", 10, 255},
		{"xoxs-", "aZ9_-", ". ", 10, 255},
		{"xapp-", "aZ9_-", ". ", 10, 255},
		{"AKIA", "AZ09", "au_-.+", 16, 16},
		{"ASIA", "AZ09", "a_-.", 16, 16},
		{"glpat-", "aZ9_-.", "+ ", 16, 255},
		{"npm_", "aZ9_", "-. ", 30, 255},
	} {
		shortest := c.prefix + strings.Repeat(c.of, c.min)[:c.min]
		longest := c.prefix + strings.Repeat(c.of, c.max)[:c.max]
		cases := [][2]string{
			{shortest, "***"},
			{longest, "***"},
			{longest + "A", "***A"},
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
		{"eyJh." + body + "." + seal, "eyJh." + body + "." + seal},
		{head + ".eyJ_." + seal, head + ".eyJ_." + seal},
		{head + "." + body + ".dBjf", head + "." + body + ".dBjf"},
		{head + "." + body + ".dBjf;", head + "." + body + ".dBjf;"},
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
		{key(label(64), "-----END PRIVATE KEY-----"), "***"},
		{key(label(65), "-----END PRIVATE KEY-----"), key(label(65), "-----END PRIVATE KEY-----")},
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
		{"authorization:\"abcdefghijklmno\"", "authorization:\"abcdefghijklmno\""},
		{"Authorization: abcdefghijklmnop and so on", "Authorization: *** and so on"},
		{"Authorization: Other abcdefghijklmnop", "Authorization: Other abcdefghijklmnop"},
		{"authorization abcdefghijklmnop", "authorization abcdefghijklmnop"},
		{"reauthorization: Bearer abcdefgh", "reauthorization: Bearer abcdefgh"},
		{`"Authorization\":\t \"Bearer 12345678\"`, `"Authorization\":\t \"Bearer 12345678\"`},
		{`\"Authorization\": \"Bearer 12345678\"`, `\"Authorization\": \"***\"`},
		{"authorization:" + strings.Repeat(" ", 15) + "abcdefghijklmnop", "authorization:" + strings.Repeat(" ", 15) + "***"},
		{"authorization:" + strings.Repeat(" ", 16) + "abcdefghijklmnop", "authorization:" + strings.Repeat(" ", 16) + "abcdefghijklmnop"},
		{"authorization: user!name+of=mine\\", "authorization: ***\\"},
		{"authorization: <abcdefghijklmnop>", "authorization: <abcdefghijklmnop>"},
		{"authorization: " + strings.Repeat("a", 4096), "authorization: ***"},
		{"authorization: " + strings.Repeat("a", 4097), "authorization: ***a"},
		{"authorization: Bearer " + strings.Repeat("a", 4096) + "b", "authorization: ***b"},
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
		{"%2fB%3Ca%3E%26%22d%2fE+f%2f", "***"},
		{"%2fB%3ca%3e%26%22d%2fE+f%2f", "***"},
		{"%2f%42%3c%61%3e%26%22%64%2f%45%20%66%2f", "***"},
		{"%2F%42%3C%61%3E%26%22%64%2F%45%20%66%2F", "***"},
		{`/B<a>&\"d/E f/`, "***"},
		{`/B\u003ca\u003e\u0026\"d/E f/`, "***"},
		{`\/B<a>&\"d\/E f\/`, "***"},
		{`/B\\u003ca\\u003e\\u0026\\\"d/E f/`, "***"}, // JSON of Go, in JSON
		{`%2FB%3Ca%3E\u0026%22d%2FE%20f%2F`, "***"},   // of a URL's path, in JSON
		{"/B&lt;a&gt;&amp;&#34;d/E f/", "***"},
		{"/B&lt;a&gt;&amp;&quot;d/E f/", "***"}, // as a report of tests has it
	})
	hides(t, redact.New("two\nlines"), [][2]string{
		{base64.StdEncoding.EncodeToString([]byte("two\nlines")), "***"},
		{base64.StdEncoding.EncodeToString([]byte("two\r\nlines")), "***"},
		{"two lines", "two lines"},
	})
}

// A secret that was packed twice, each time among other things, is found.
func TestPackedTwice(t *testing.T) {
	const secret = "s3cret?>>~~value"
	r := redact.New(secret)
	for _, alphabet := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
		for before := range 9 {
			once := alphabet.EncodeToString([]byte("user:"[:before/3] + secret + "\n"))
			twice := alphabet.EncodeToString([]byte(`{"a":"`[:before%3] + once + `"}`))
			if !r.Holds([]byte(once)) || !r.Holds([]byte(twice)) {
				t.Errorf("not found in %s, nor in %s", once, twice)
			}
		}
	}
	long := strings.Repeat("canary/", 12)
	inner := brokenAt(base64.StdEncoding.EncodeToString([]byte(long)), 76) + "\n"
	if outer := brokenAt(base64.StdEncoding.EncodeToString([]byte(inner)), 76); !redact.New(long).Holds([]byte(outer)) {
		t.Errorf("not found in %s", outer)
	}
	if other := base64.StdEncoding.EncodeToString([]byte("czNjcmV0")); r.Holds([]byte(other)) {
		t.Errorf("found in %s", other)
	}
}

// What dumps bytes, or speaks in wide characters, shows a secret as well.
func TestBytesOneByOne(t *testing.T) {
	const secret = "s3cret/välue"
	r := redact.New(secret)
	wide := utf16.Encode([]rune(secret))
	little, big := make([]byte, 0, 2*len(wide)), make([]byte, 0, 2*len(wide))
	var escaped strings.Builder
	for _, unit := range wide {
		little, big = binary.LittleEndian.AppendUint16(little, unit), binary.BigEndian.AppendUint16(big, unit)
		fmt.Fprintf(&escaped, `\u%04x`, unit)
	}
	spaced := fmt.Sprintf("% x", secret)
	for _, in := range []string{
		string(little), string(big), base64.StdEncoding.EncodeToString(little), base64.StdEncoding.EncodeToString(big), escaped.String(), strings.ToUpper(spaced), spaced, strings.ReplaceAll(spaced, " ", ":"),
		`"\x` + strings.ReplaceAll(spaced, " ", `\x`) + `"`,
	} {
		if !r.Holds([]byte("a" + in + "b")) {
			t.Errorf("not found in %q", in)
		}
	}
	if plain := "s3cret välue"; r.Holds([]byte(plain)) {
		t.Errorf("found in %q", plain)
	}
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

// A token may begin at every few bytes of a long run, which is counted once.
func TestRunsAreCountedOnce(t *testing.T) {
	if got, want := redact.Spans([]byte(";abcd;ef"), 1, 3, 6, 2), []int{4, 2, 2, 0}; !slices.Equal(got, want) {
		t.Errorf("Spans = %d, want %d", got, want)
	}
}

// A writer waits for what could still become a secret, and for no more.
func TestWriterHoldsOnlyWhatMayBeASecret(t *testing.T) {
	for _, c := range []struct{ write, seen string }{
		{"secret-value", "***"},
		{"secret-valu", ""},
		{"gh", ""},
		{"ghp", ""},
		{"ghx", "ghx"},
		{"ghp_" + strings.Repeat("a", 254), ""},
		{"y ghp_" + strings.Repeat("a", 254), "y "},
		{"ghp_" + strings.Repeat("a", 255), "***"},
		{"ghp_abc y", "ghp_abc y"},
		{token + " y", "*** y"},
		{"xgh", "xgh"},
		{"ex", "ex"},
		{"eyJ", ""},
		{"xeyJ", "xeyJ"},
		{"eyJ;", "eyJ;"},
		{"eyJhb;", "eyJhb;"},
		{"eyJhb.eyJhb.eyJhb y", "*** y"},
		{"eyJhb.eyJhb;", "eyJhb.eyJhb;"},
		{"--", ""},
		{"-----BEGIN X", ""},
		{"-----BEGIN CERTIFICATE-----", "-----BEGIN CERTIFICATE"},
		{"-----BEGIN " + strings.Repeat("b", 100), "-----BEGIN " + strings.Repeat("b", 100)},
		{pem, "***"},
		{"-----BEGIN PRIVATE KEY-----" + strings.Repeat("A", 16<<10), "***" + strings.Repeat("A", 27)},
		{"author", ""},
		{"authorization:" + strings.Repeat(" ", 15) + "\n", "authorization:" + strings.Repeat(" ", 15) + "\n"},
		{"authorization:" + strings.Repeat(" ", 17), "authorization:" + strings.Repeat(" ", 17)},
		{"authorization: " + strings.Repeat("a", 4096), "authorization: ***"},
		{"authorization: Bearer " + strings.Repeat("a", 4096), "authorization: ***"},
		{"authorization is ", "authorization is "},
		{"authorization: a ", ""},
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
