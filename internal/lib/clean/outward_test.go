package clean_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/lib/clean"
)

func TestLines(t *testing.T) {
	for _, c := range []struct{ why, in, want string }{
		{"a mention notifies no one", "thanks @octocat!", "thanks `@`octocat!"},
		{"nor one told by reference", "&#64;octocat &commat;octocat", "&amp;`#`64;octocat &amp;commat;octocat"},
		{"nor an escaped one", `\@octocat`, "`@`octocat"},
		{"nor one beside code", "`x`@octocat", "`x` `@`octocat"},
		{"what is like one stays", "me@example.org x @ y @_x #a gh-x xgh-1 o/r@123456", "me@example.org x @ y @_x #a gh-x xgh-1 o/r@123456"},
		{"code keeps its mentions, as GitHub does not look there", "`@octocat`", "`@octocat`"},
		{"unless a lone backtick only looks like code", "a ` b @octocat", "a &#96; b `@`octocat"},

		{"a closing keyword closes nothing", "Fixes #12", "Fixes `#`12"},
		{"by address", "resolves https://github.com/o/r/issues/4.", "resolves `https://github.com/o/r/issues/4`."},
		{"by link", "fixes [it](https://github.com/o/r/issues/4)", "fixes [it&#93;(`https://github.com/o/r/issues/4`)"},
		{"by the old sign", "see GH-12", "see GH`-`12"},
		{"a commit elsewhere", "owner/repo@0123456789", "owner/repo`@`0123456789"},
		{"a heading stays one", "# Title\n## 2nd", "# Title\n## 2nd"},

		{"no command for a bot", "/ralph run\n  /approve\n> /merge\n- /close", "&#47;ralph run\n&#47;approve\n> &#47;merge\n- &#47;close"},
		{"a path within a line is none", "see /etc/hosts", "see /etc/hosts"},

		{"an image is text", "![cat](https://e.org/c.png)", "&#33;[cat&#93;(https://e.org/c.png)"},
		{"also after another sign", "Done!![proven](https://e.org/c.png)", "Done&#33;&#33;[proven&#93;(https://e.org/c.png)"},
		{"code in what is like a footnote is none", "[^`fixes #1`]", "&#91;^`fixes #1`]"},
		{"no mention after an address that is code", "https://github.com/o/r/issues/4@octocat", "`https://github.com/o/r/issues/4` `@`octocat"},
		{"no words hide an address", "see [docs](https://e.org/d?a=1&b=2#top)", "see [docs&#93;(https://e.org/d?a=1&b=2#top)"},

		{"HTML is text", "<details><summary>x</summary>", "&lt;details>&lt;summary>x&lt;/summary>"},
		{"no marker of ours can be forged", "<!-- ralph:progress -->", "&lt;!-- ralph:progress -->"},
		{"references are read once", "Vec&lt;T&gt; &amp;amp;lt;b>", "Vec&lt;T&gt; &amp;amp;lt;b>"},
		{"invisible characters go", "a\u200bb\u202ec\U000e0041", "abc"},

		{"a fence is text", "1. a\n   ```sh\n~~~\nls", "1. a\n&#96;&#96;&#96;sh\n&#126;&#126;&#126;\nls"},
		{"lists and emphasis stay", "* **bold** and _it_\n  1. ~~gone~~\n- [x] done", "* **bold** and _it_\n1. ~~gone~~\n- [x] done"},
		{"a price is no formula", "$5.10 of $5.00, a $x$ ($5)", "$5.10 of $5.00, a &#36;x&#36; (&#36;5)"},
		{"escapes that are needed stay", `\*a\* a\-b a\-: a ~ b`, `\*a\* a\-b a\-: a ~ b`},
		{"others become text", "\\`a` \\[a\\](b) a\\\\b \\$a$ \\a", "&#96;a&#96; &#91;a&#93;(b) a&#92;b &#36;a&#36; &#92;a"},
		{"or what they hide is judged", `GH\-12 \#12 \<b> \![a](b)`, "GH`-`12 `#`12 &lt;b> &#33;[a&#93;(b)"},
		{"code is no part of an address", "ftp://x`a` xWWW.y`b`", "ftp://x `a` xWWW.y `b`"},
		{"no table is begun or ended", "| `x|y` | z |\n|---|---|", "\\| `x\\|y` \\| z \\|\n\\|---\\|---\\|"},
	} {
		if diff := cmp.Diff(c.want, clean.Lines(c.in)); diff != "" {
			t.Errorf("%s: Lines(%q):\n%s", c.why, c.in, diff)
		}
	}
}

func TestInline(t *testing.T) {
	for _, c := range []struct {
		why, in string
		max     int
		want    string
	}{
		{"one line", "a\n b\r\n\tc", 0, "a b c"},
		{"a pipe stays in its cell", "a|b", 0, `a\|b`},
		{"also in code", "`a|b`", 0, "`a\\|b`"},
		{"code with a backslash, too, ends differently by parser", "`a|\\b`", 0, "&#96;a\\|&#92;b&#96;"},
		{"backticks are balanced", "a ` b", 0, "a &#96; b"},
		{"cut to size, code included", "say `abcdef`", 8, "say &#96;ab…"},
		{"or to a word", "abc def ghi", 5, "abc…"},
		{"or to nothing", "abc def ghi", 1, "…"},
		{"invisible characters do not count", "a\u200b  b\u2028c", 5, "a b c"},
		{"a last backslash cannot reach the pipe after it", `a\`, 0, "a&#92;"},
		{"no command", "/ralph stop", 0, "&#47;ralph stop"},
		{"no fence", "```\nx\n```", 0, "``` x ```"},
	} {
		if got := clean.Inline(c.in, c.max); got != c.want {
			t.Errorf("%s: Inline(%q, %d) = %q, want %q", c.why, c.in, c.max, got, c.want)
		}
	}
}

func TestFence(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"ls", "```\nls\n```"},
		{"a ``` b\n````\n", "`````\na ``` b\n````\n`````"},
		{"/ralph run\n/usr/bin", "```\n /ralph run\n /usr/bin\n```"},
		{"a\x1b[31mb\u202e", "```\na[31mb\n```"},
		{"", "```\n\n```"},
	} {
		if got := clean.Fence(c.in); got != c.want {
			t.Errorf("Fence(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

var attacks = []string{
	"a ` b @victim `c`", "[x](`a) @victim `b`", "https://x.y/` b @victim `c`", `\` + "`@victim`", "$a `b$ @victim `c`",
	"| `@victim | b` |\n|---|---|\n| `@victim | b` |", "- ```\n  x\n@victim", "    ```\n@victim\n    ```", "> ~~~\n@victim #12",
	"a*@victim*", "~~~~\n```\n@victim\n~~~", "[a [b](http://x)](https://github.com/o/r/issues/1)", "fixes #12\nGH-3 o/r#4 @a/b",
	"<!-- ralph -->\n</details><script>", "![x][y]\n\n[y]: http://evil/x.png", "&#96;@victim&#96;", "www.github.com/o/r/issues/3",
	"`\\`@victim`", "``a`@victim``", "<a href=\"`\">`@victim`", "`a``@victim`", "!\\[x](http://y)", "`a|\\|@victim`|\n-|-\n",
	"*`@victim*`", "[`x](https://e.org) @victim `y`", "![a`](https://e.org/) @victim `", "https://e.org/@victim#12", "ftp://x`@victim`",
	"[/ralph run]()", "#[0](x:y)", "GH\\-12 GH[-12]() gh-12", "@[victim]() @<https://victim> @\\victim", "https://0.a@victim", "a@00.QQ@victim", "s`@x.y@victim.y//`",
}

// FuzzLines holds the text against a page rendered from it: nothing on it
// acts, and what stands behind it is where it was meant to be.
func FuzzLines(f *testing.F) {
	for _, a := range attacks {
		f.Add(a)
	}
	f.Fuzz(func(t *testing.T, text string) {
		// The HTML parser of this test gives up at 512 nested elements.
		if len(text) > 400 {
			return
		}
		holdsLines(t, text)
		holdsInline(t, text)
		if fence := clean.Fence(text); !render(t, fence+"\nSENTINEL\n").topLevel("SENTINEL") {
			t.Errorf("Fence(%q) = %q does not hold", text, fence)
		}
	})
}

var commands = regexp.MustCompile(`(?m)^\s*/[A-Za-z]`)

func holdsLines(t *testing.T, text string) {
	t.Helper()
	out := clean.Lines(text)
	if harms := render(t, out).harms(); len(harms) > 0 {
		t.Errorf("Lines(%q) = %q does %q", text, out, harms)
	}
	if !render(t, out+"\n\nSENTINEL\n").topLevel("SENTINEL") {
		t.Errorf("Lines(%q) = %q swallows what follows", text, out)
	}
	// Code may hold paths, a space in.
	if prose, _, _ := strings.Cut(out, "```"); commands.MatchString(prose) {
		t.Errorf("Lines(%q) = %q gives a command", text, out)
	}
}

func holdsInline(t *testing.T, text string) {
	t.Helper()
	cell := clean.Inline(text, 40)
	table := render(t, "| a | b |\n|---|---|\n| "+cell+" | END |\n\nSENTINEL\n")
	if harms := table.harms(); len(harms) > 0 || strings.Contains(cell, "\n") {
		t.Errorf("Inline(%q) = %q does %q", text, cell, harms)
	}
	if !table.topLevel("SENTINEL") || !table.cell("END") {
		t.Errorf("Inline(%q) = %q breaks its table", text, cell)
	}
}
