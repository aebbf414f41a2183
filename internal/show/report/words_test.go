package report_test

import (
	unescape "html"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/lib/clean"
	"github.com/ralph-loop/ralph/internal/show/report"
)

// The page has the text of the comment's Markdown, without links, pictures and tags.
func TestPhrases(t *testing.T) {
	for markdown, want := range map[string]string{
		"":                                     "",
		"done, every story passed":             "done, every story passed",
		"`ralph resume` goes on":               "<code>ralph resume</code> goes on",
		"**Nothing can be verified:** no base": "<strong>Nothing can be verified:</strong> no base",
		"<code>a&#124;b</code> is new":         "a|b is new",
		"</code> is alone, and `code`":         " is alone, and <code>code</code>",
		"<b>bold</b> and <img src=x>":          "bold and ",
		`a \| b \*c\* &lt;b&gt; &#64;ada`:      "a | b *c* &lt;b&gt; @ada",
		"[a link](https://evil.example) on":    "[a link](https://evil.example) on",
		"![a picture](https://evil.example)":   "![a picture](https://evil.example)",
		"<https://example.com>":                "&lt;https://example.com&gt;",
		"`a &amp; b`":                          "<code>a &amp;amp; b</code>",
		"one\ntwo":                             "one\ntwo",
		"---":                                  "---",
		"- an item":                            "- an item",
	} {
		if got := report.Phrase(markdown); got != want {
			t.Errorf("%q: %q, want %q", markdown, got, want)
		}
	}
}

// Text that was escaped for Markdown is shown without the escapes.
func TestPhrasesAreReadBack(t *testing.T) {
	for _, text := range []string{
		"plain", "a | b", "@ada", "fixes #7", "<b>", "</details>", "<!-- x -->", "a * b _ c", "https://example.com/x", `back\slash`, "50 % & more", `"quoted"`,
		"checks failed: go test -v ./...",
	} {
		shown := strings.NewReplacer("<code>", "", "</code>", "").Replace(report.Phrase(clean.Inline(text, 0)))
		if got := unescape.UnescapeString(shown); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestParts(t *testing.T) {
	for _, c := range []struct {
		text        string
		limit       int
		first, left string
		last        string
	}{
		{"abc", 3, "abc", "", "abc"},
		{"abcd", 3, "abc", "1 more character left out", "bcd"},
		{"ünïx", 3, "ünï", "1 more character left out", "nïx"},
		{"\n\nabc\n", 3, "abc", "", "abc"},
		{"a\r\nb", 3, "a\nb", "", "a\nb"},
		{"\x1b[31mred\x1b[0m", 3, "red", "", "red"},
		{"a\xffb", 9, "a\uFFFDb", "", "a\uFFFDb"},
		{"abc", 0, "", "3 more characters left out", ""},
		{"", 0, "", "", ""},
	} {
		if shown, left := report.FirstPart(c.text, c.limit); shown != c.first || left != c.left {
			t.Errorf("FirstPart(%q, %d) = %q, %q, want %q, %q", c.text, c.limit, shown, left, c.first, c.left)
		}
		before := strings.NewReplacer("more characters", "characters before this", "more character", "character before this").Replace(c.left)
		if shown, left := report.LastPart(c.text, c.limit); shown != c.last || left != before {
			t.Errorf("LastPart(%q, %d) = %q, %q, want %q, %q", c.text, c.limit, shown, left, c.last, before)
		}
	}
}
