package clean_test

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/lib/clean"
)

// A backslash of the text must not bring back what this package took away: what
// it escapes is judged as if it stood alone, or becomes text.
func TestEscapesOfTheText(t *testing.T) {
	for text, want := range map[string]string{
		"\\`a":          "&#96;a",
		"\\`a`":         "&#96;a&#96;",
		`\[a\](b)`:      "&#91;a&#93;(b)",
		`\![a](b)`:      "&#33;[a&#93;(b)",
		`a\\b`:          "a&#92;b",
		`GH\-12`:        "GH`-`12",
		`a\-b`:          `a\-b`,
		`a\-`:           `a\-`,
		`a\-:`:          `a\-:`,
		`\*a\*`:         `\*a\*`,
		`\@ada`:         "`@`ada",
		`\#12`:          "`#`12",
		`\<b>`:          "&lt;b>",
		`\$a$`:          "&#36;a&#36;",
		`\a`:            "&#92;a",
		`a\`:            "a&#92;",
		"](":            "&#93;(",
		"a]":            "a]",
		"9@ada":         "9@ada",
		"GH-":           "GH-",
		"ftp://x`a`":    "ftp://x `a`",
		"xwww.y`a`":     "xwww.y `a`",
		"xwww.y`a` `b`": "xwww.y `a` `b`",
		"``a`tum`` b":   "``a`tum`` b",
		"a ~ b":         "a ~ b",
		"a ~~~ b":       "a &#126;&#126;&#126; b",
		"é~~~":          "é&#126;&#126;&#126;",
	} {
		if got := clean.Lines(text); got != want {
			t.Errorf("Lines(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestLogLineKeepsTabs(t *testing.T) {
	if got := clean.LogLine("a\tb"); got != "a\tb" {
		t.Errorf("LogLine = %q", got)
	}
}
