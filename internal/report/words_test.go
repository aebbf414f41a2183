package report_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/clean"
	"github.com/ralph-loop/ralph/internal/report"
)

// The page has the text of the comment's Markdown, without links, pictures and tags.
func TestPhrases(t *testing.T) {
	for markdown, want := range map[string]string{
		"":                                     "",
		"done, every story passed":             "done, every story passed",
		"`ralph resume` goes on":               "‹ralph resume› goes on",
		"**Nothing can be verified:** no base": "«Nothing can be verified:» no base",
		"<code>a&#124;b</code> is new":         "‹a|b› is new",
		"</code> is alone, and `code`":         " is alone, and ‹code›",
		"<b>bold</b> and <img src=x>":          "bold and ",
		`a \| b \*c\* &lt;b&gt; &#64;ada`:      "a | b *c* <b> @ada",
		"`@`ada and fixes `#`7":                "@ada and fixes #7",
		"[a link](https://evil.example) on":    "a link on",
		"![a picture](https://evil.example)":   "a picture",
		"<https://example.com>":                "https://example.com",
		"`a &amp; b`":                          "‹a &amp; b›",
		"one\ntwo":                             "one two",
		"---":                                  "---",
		"- an item\n- another":                 "an itemanother",
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
		if got := strings.NewReplacer("‹", "", "›", "").Replace(report.Phrase(clean.Inline(text, 0))); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestBlocks(t *testing.T) {
	got := report.Blocks("Before any work: red.\n\nNot shown to work:\n\n- US-001 A: unbroken\n- US-002 `b`\n\n> ❗ Protected: `x`\n\n> a note\n")
	want := []string{"Before any work: red.", "Not shown to work:", "- US-001 A: unbroken", "- US-002 ‹b›", "❗ Protected: ‹x›", "a note"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		text        string
		room        int
		end         bool
		shown, left string
	}{
		{"abc", 3, false, "abc", ""},
		{"abcd", 3, false, "abc", "1 more character left out"},
		{"abcd", 3, true, "bcd", "1 character before this left out"},
		{"ünï", 4, false, "ün", "1 more character left out"},
		{"ünï", 4, true, "nï", "1 character before this left out"},
		{"<<<", 10, false, "<<", "1 more character left out"}, // each takes five as a reference
		{"a\u202Eb", 3, false, "a", "2 more characters left out"},
		{"\n\nabc\n", 3, false, "abc", ""},
		{"a\r\nb", 3, false, "a\nb", ""},
		{"\x1b[31mred\x1b[0m", 3, false, "red", ""},
		{"a\xffb", 9, false, "a\uFFFDb", ""},
		{strings.Repeat("x", 5000), 1000, true, strings.Repeat("x", 1000), "4000 characters before this left out"},
		{"abc", 0, false, "", "3 more characters left out"},
		{"", 0, true, "", ""},
	} {
		if shown, left := report.ExcerptOf(c.text, c.room, c.end); shown != c.shown || left != c.left {
			t.Errorf("cut(%q, %d, %t) = %.40q, %q, want %.40q, %q", c.text, c.room, c.end, shown, left, c.shown, c.left)
		}
	}
}

func TestFew(t *testing.T) {
	all := []string{"abc", "<", "abc"}
	for room, want := range map[int]int{0: 0, 4: 0, 5: 1, 11: 1, 12: 2, 16: 2, 17: 3, 99: 3} {
		if shown, more := report.FirstThatFit(all, room, 2); len(shown) != want || more != len(all)-want {
			t.Errorf("few in %d = %d and %d more, want %d", room, len(shown), more, want)
		}
	}
}
