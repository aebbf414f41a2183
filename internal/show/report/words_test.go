package report_test

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/show/report"
)

// Markdown becomes HTML without pictures, controls, and tags that the texts of package view do not have.
func TestRender(t *testing.T) {
	for markdown, want := range map[string]string{
		"":                                   "",
		"done, every story passed":           "<p>done, every story passed</p>",
		"<code>a&#124;b</code> is new":       "<p><code>a|b</code> is new</p>",
		"a<br>b<sub>c</sub>":                 "<p>a<br>b<sub>c</sub></p>",
		"<b>bold</b> and <img src=x>":        "<p>&lt;b&gt;bold&lt;/b&gt; and &lt;img src=x&gt;</p>",
		"<code onclick=x>":                   "&lt;code onclick=x&gt;",
		"<!-- a -->\n<script>x</script>":     "&lt;!-- a --&gt;\n&lt;script&gt;x&lt;/script&gt;",
		`a \| b \*c\* &lt;b&gt; &#64;ada`:    "<p>a | b *c* &lt;b&gt; @ada</p>",
		"[run](https://ci.example/1) on":     `<p><a href="https://ci.example/1">run</a> on</p>`,
		"[a link](javascript:x) on":          `<p><a href="">a link</a> on</p>`,
		"![a picture](https://evil.example)": "<p>a picture</p>",
		"one\ntwo":                           "<p>one<br>\ntwo</p>",

		"<details><summary>A</summary>\n\n- b\n\n</details>": "<details><summary>A</summary>\n<ul>\n<li>b</li>\n</ul>\n</details>",

		"| a | b |\n|---|---|\n| 1 | 2 |": "<table>\n<thead>\n<tr>\n<th>a</th>\n<th>b</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n" +
			"<td data-column=\"a\">1</td>\n<td data-column=\"b\">2</td>\n</tr>\n</tbody>\n</table>",
	} {
		if got := strings.TrimSpace(report.Render(markdown)); got != want {
			t.Errorf("%q: %q, want %q", markdown, got, want)
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
