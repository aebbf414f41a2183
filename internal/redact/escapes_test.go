package redact_test

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/redact"
)

// Encoders differ in what they leave as it is. Any mixture is found.
func TestEscapesInAnyMixture(t *testing.T) {
	const secret = `P@ss'w/o\rd"!(2+6)* ~é€😀x`
	hides(t, redact.New("value-of-another", secret), [][2]string{
		{`a=P%40ss'w%2Fo%5Crd%22!(2%2B6)*%20~%C3%A9%E2%82%AC%F0%9F%98%80x&b`, "a=***&b"},                       // encodeURIComponent
		{`//u:P%40ss'w%2fo\rd%22!(2+6)*%20~%c3%a9%e2%82%ac%f0%9f%98%80x@h`, "//u:***@h"},                       // URL.password, lower case
		{`P%40ss%27w/o%5Crd%22%21%282%2B6%29%2A%20~%C3%A9%E2%82%AC%F0%9F%98%80x`, "***"},                       // quote of Python
		{`P%40ss%27w%2Fo%5Crd%22%21%282%2B6%29%2A+%7E%C3%A9%E2%82%AC%F0%9F%98%80x`, "***"},                     // URLSearchParams
		{`P%2540ss'w%252Fo%255Crd%2522!(2%252B6)*%2520~%25C3%25A9%25E2%2582%25AC%25F0%259F%2598%2580x`, "***"}, // in the query of another URL
		{`{"a":"P%40ss'w/o\\rd\"!(2\u002B6)* ~\u00e9\u20AC\ud83d\ude00x"}`, `{"a":"***"}`},                     // JSON of .NET
		{`"{\"a\":\"P@ss'w\\\/o\\\\rd\\\"!(2+6)* ~\\u00e9\\u20ac\\ud83d\\ude00x\"}"`, `"{\"a\":\"***\"}"`},     // JSON in JSON
		{`P&#64;ss&#x27;w&#x2F;o\rd&quot;!(2&plus;6)* ~&eacute;&#8364;&#x1F600;x`, "***"},                      // HTML
		{`+ : 'P@ss'\''w/o\rd"!(2+6)* ~é€😀x'`, `+ : '***'`},                                                    // bash -x
		{`P\@ss\'w/o\\rd\"\!\(2+6\)\*\ ~é€😀x`, "***"},                                                          // printf %q
		{`'P@ss'"'"'w/o\rd"!(2+6)* ~é€😀x'`, `'***'`},                                                           // shlex.quote
		{`P\x40ss\x27w/o\x5crd\x22!(2\x2B6)* ~\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80x`, "***"},
		{`P%40ss'w%2Fo%5Crd%22!(2%2B6)*%20~%C3%A9%E2%82%AC%F0%9F%98%8_x`, `P%40ss'w%2Fo%5Crd%22!(2%2B6)*%20~%C3%A9%E2%82%AC%F0%9F%98%8_x`},
		{`P@ss'w/o\rd"!(2 6)* ~é€😀x`, `P@ss'w/o\rd"!(2 6)* ~é€😀x`},
	})
}

// An escape can be read in several ways if the secret holds one, and what follows a secret stays whole.
func TestEscapesInASecret(t *testing.T) {
	for secret, cases := range map[string][][2]string{
		`a%40b+c&lt;d`: {{`a%40b+c&lt;d`, "***"}, {`a%2540b%2Bc%26lt;d`, "***"}, {`a%40b c&lt;d`, `a%40b c&lt;d`}, {`a@b+c<d`, `a@b+c<d`}},
		`\\\abcd\`: {
			{`{"a":"\\\\\\abcd\\","b":"\\"}`, `{"a":"***","b":"\\"}`},
			{`{"a":"\\\\\\abcd\\\"c"}`, `{"a":"***\"c"}`},
			{strings.Repeat(`\`, 2000) + "abcd", strings.Repeat(`\`, 2000) + "abcd"},
		},
		`"abcdef"`: {{`["\"abcdef\"","\\"]`, `["***","\\"]`}, {`["abcdef\\","x"]`, `["abcdef\\","x"]`}},
	} {
		hides(t, redact.New(secret), cases)
	}
}

// Where a tool colours a part of a secret, as grep does with what it found, all of it is hidden.
func TestColoursInASecret(t *testing.T) {
	const coloured = "a s3c\x1b[01;31m\x1b[Kret\x1b[m\x1b[K-value b"
	asText := strings.ReplaceAll(coloured, "\x1b", "\\x1b")
	hides(t, redact.New("s3cret-value"), [][2]string{
		{coloured, "a *** b"},
		{quoted(coloured), quoted("a *** b")},
		{quoted(quoted(coloured)), quoted(quoted("a *** b"))},
		{asText, "a *** b"},
		{strings.ReplaceAll(asText, "x1b", "033"), "a *** b"},
		{"a s3c\x1b[01;31ret-value b", "a s3c\x1b[01;31ret-value b"},
		{"a s3c\x1b]0;ret-value b", "a s3c\x1b]0;ret-value b"},
	})
}

// Shells, languages and formats have more ways to write a character.
func TestOtherEscapes(t *testing.T) {
	hides(t, redact.New(`it's-TÖKEN"$x`), [][2]string{
		{`$'it\'s-T\303\226KEN"$x'`, `$'***'`},
		{`'it''s-TÖKEN"$x'`, `'***'`},
		{`"it's-TÖKEN""$x"`, `"***"`},
		{`it's-TÖKEN"$$x`, "***"},
		{`it's-T\xd6KEN"$x`, "***"},
		{`it's-T\u{d6}KEN"$x`, "***"},
		{`it's-T\U000000D6KEN"$x`, "***"},
		{"it's-T\x1b[1;38;5;231;48;5;235mÖKEN\x1b(B\x1b[m\"$x", "***"},
		{`it's-T\306KEN"$x`, `it's-T\306KEN"$x`},
	})
}
