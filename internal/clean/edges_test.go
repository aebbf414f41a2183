package clean_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/clean"
)

func TestInwardAtTheEdges(t *testing.T) {
	word := strings.Repeat("x", 2100)
	for _, c := range []struct{ in, want, gone string }{
		// What is seen stays as it is.
		{"a\u2028b\u2029c", "a\nb\nc", ""},
		{"\u0600x", "\u0600x", ""},
		{"see ~~~b~~~ [c] <d", "see ~~~b~~~ [c] <d", ""},
		{"[A  b]: x\n\nsee [a B]", "[A  b]: x\n\nsee [a B]", ""},
		{"[a]: x\n[a]: y\n\n[a]", "[a]: x\n[a]: y\n\n[a]", ""},
		{"![unknown] ![unknown][] ![](x) !x [a] (b \"c\")", "![unknown] ![unknown][] ![](x) !x [a] (b \"c\")", ""},
		{"<title> is wrong", "<title> is wrong", ""},
		{"<svg/>x", "<svg/>x", ""},

		// What was told by reference is text where the page shows it as text.
		{"&#x3c;foo> &lt;foo> &lt;foo bar> &lt;B> &lt;b> &semi; &notit; a &;", `\<foo> \<foo> \<foo bar> <B> <b> ; &notit; a &;`, ""},
		{"a&lt;b&gt;c &LT;Foo&GT;", `a<b>c \<Foo>`, ""},
		{"&#60;#62; x &AMP; &#0;", "<#62; x & \ufffd", ""},
		{"&lt;!-- &lt;x ", "", "1 HTML comment"},

		// Code is code, and nothing else is.
		{"```\n&lt;b&gt; <!-- a --> ![b](x \"y\") [a](b \"c\")\n```\n&lt;T&gt;", "```\n&lt;b&gt; <!-- a --> ![b](x \"y\") [a](b \"c\")\n```\n\\<T>", ""},
		{"    <!-- code -->\n\nx", "    <!-- code -->\n\nx", ""},
		{"`<!-- kept -->` <!-- gone -->", "`<!-- kept -->` ", "1 HTML comment"},
		{"a `b` http://x `<!-- y -->`", "a `b` http://x `<!-- y -->`", ""},
		{"http://e.org`<!-- x -->`", "http://e.org``", "1 HTML comment"},
		{"WWW.e.org/`<!-- x -->`", "WWW.e.org/``", "1 HTML comment"},
		{word + "`<!-- y -->`", word + "``", "1 HTML comment"},
		{word + " `<!-- y -->`", word + " `<!-- y -->`", ""},
		{"| a | b |\n|---|---|\n| `<!-- a|b -->` | <!-- c --> |", "| a | b |\n|---|---|\n| `` |  |", "2 HTML comments"},

		// Hidden texts of links and images are removed.
		{
			"[a](b \"t\") ![c][d] ![e] ![f][]\n\n[d]: x\n[e]: y 'z'\n[f]: w\n", "[a](b) ![][d]  []\n\n[d]: x\n\n\n",
			"3 image texts, 2 link titles, 2 unused definitions",
		},
		{`\[a](b "c")`, `\[a](b)`, "1 link title"},
		{"[a\n\nb](c \"d\")", "[a\n\nb](c)", "1 link title"},
		{`![a\]b](c)`, "![](c)", "1 image text"},
		{`[![alt](p "q")](r "s")`, "[![](p)](r)", "1 image text, 2 link titles"},
		{"a[^1] b\n\n[^1]: used\n\n[^2]: unused\nmore\n\n```\n[^3]: code\n```", "a[^1] b\n\n[^1]: used\n\n\n\n```\n[^3]: code\n```", "1 unused definition"},

		// Tags stay where the page shows them, bare.
		{`<br class="x"><hr><img src=x alt=y>b</p class=z>`, "<br><hr>b</p class=z>", "1 HTML tag, 1 tag's attributes"},
		{`<div style="display: none">x</div><div style="color:red">y</div><div title=a hidden>z</div>`, "<div>y</div>", "2 hidden elements, 1 tag's attributes"},
		{"</div x>", "</div>", "1 tag's attributes"},
		{"<script>a<b>c</script>d", "d", "1 hidden element"},
		{"<div hidden>a<div>b</div>c</div>d", "d", "1 hidden element"},
		{"<math><b>x</math>y", "y", "1 hidden element"},
		{"<details>\n<summary x=\"y\">s</summary>\n\n[a](b \"c\")\n</details>", "<details>\n<summary>s</summary>\n\n[a](b)\n</details>", "1 tag's attributes, 1 link title"},
		{"<p\nx", "", "1 HTML comment"},
		{"<p><!-- x", "<p>", "1 HTML comment"},
		// What was built not to settle loses all that markup is made of.
		{strings.Repeat("<", 15) + "<x>" + strings.Repeat("x>", 15) + " words", "xxxx words", "20 HTML tags"},
		{strings.Repeat("<", 15) + "<x>" + strings.Repeat("x>", 15) + " $\\phan<tom{run}$", "xxxx \\phantom{run}", "23 HTML tags"},
		{"<!DOCTYPE x>a<![CDATA[b]]>c<?php d?>e", "ace", "3 HTML comments"},
	} {
		got, gone := clean.ForAgent(c.in, 0)
		if got != c.want || gone.String() != c.gone {
			t.Errorf("Inward(%.200q) = %.200q without %q, want %.200q without %q", c.in, got, gone, c.want, c.gone)
		}
	}
}

func TestLinesAtTheEdges(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		// Text that mentions no one stays.
		{"a@b x @ y @_x", "a@b x @ y @_x"},
		{"#a gh-x xgh-1 AGH-3 gh-", "#a gh-x xgh-1 AGH-3 gh-"},
		{"gh-0 GH-9 -1", "gh`-`0 GH`-`9 -1"},
		{"z@12345678 o/r@1234567 o/r@123456", "z`@`12345678 o/r`@`1234567 o/r@123456"},
		{"@[a](http://b)", "`@`[a](http://b)"},

		// Addresses.
		{"HTTP://e.org/@a", "HTTP://e.org/ `@`a"},
		{"https://e.org @a", "https://e.org `@`a"},
		{"https://e.org@a", "https://e.org `@`a"},
		{"ahttp://e.org @b", "ahttp://e.org `@`b"},
		{"0https://e.org/o/r/issues/1 Zhttp://e.org/o/r/pull/2", "0https://e.org/o/r/issues/1 Zhttp://e.org/o/r/pull/2"},

		// Links and images.
		{"![a](b) x", "&#91;image: a&#93; x"},
		{"![](https://e.org)", "[image](https://e.org)"},
		{"[a](www.e.org) [b](WWW.e.org)", "&#91;a&#93; &#91;b&#93;"},
		{"[http://x@y](https://e.org)", "[http://x `@`y](https://e.org)"},
		{"[see #12 ![b](c)](https://e.org)", "[see `#`12 &#91;image: b&#93;&#93;(https://e.org)"},
		{"[a]: b", "[a&#93;: b"},
		{"[a][b]", "[a&#93;[b]"},
		{"![a] [a] !x", "&#33;[a] [a] !x"},

		// Characters that mean something elsewhere.
		{"R&amp;amp;D &lt; &foo a & b", "R&D &lt; &foo a & b"},
		{"a $x$ ~b ~~~c", "a &#36;x&#36; ~b &#126;&#126;&#126;c"},
		{`\$ \& \< \# \- \-1 \a \~ \`, "&#36; & &lt; # \\- `-`1 &#92;a \\~ &#92;"},
		{`\/x`, "&#92;/x"},
		{"    /x\n1) /y\n2) z /y", "&#47;x\n1) &#47;y\n2) z /y"},

		// Code, and what only begins like it.
		{"``a`b`` `` ` ``", "``a`b`` `` ` ``"},
		{"```a`b\nx", "&#96;&#96;&#96;a&#96;b\nx"},

		// A pipe would end a cell, in code too.
		{"a | b\n`x|y` `x|\\y`", "a \\| b\n`x\\|y` &#96;x\\|&#92;y&#96;"},
	} {
		if diff := cmp.Diff(c.want, clean.Lines(c.in)); diff != "" {
			t.Errorf("Lines(%q):\n%s", c.in, diff)
		}
	}
}

func TestInlineIsCutToItsLimit(t *testing.T) {
	for _, c := range []struct {
		in    string
		limit int
		want  string
	}{
		{"abc def ghi", 11, "abc def ghi"},
		{"abc def ghi", 10, "abc def g…"},
		{"abc def ghi", 5, "abc…"},
		{"abc def ghi", 4, "abc…"},
		{"abc def ghi", 1, "…"},
		{"ab &amp;x; c", 7, "ab &amp;x;…"},
		{"a\u200b  b\u2028c", 5, "a b c"},
	} {
		if got := clean.Inline(c.in, c.limit); got != c.want {
			t.Errorf("Inline(%q, %d) = %q, want %q", c.in, c.limit, got, c.want)
		}
	}
}

func TestEveryRemovalIsCountedAndNamed(t *testing.T) {
	one := clean.Removed{
		Comments: 1, Hidden: 1, Tags: 1, Attributes: 1, Alts: 1, Titles: 1, Definitions: 1, Unseen: 1, Invisible: 1, Controls: 1, Invalid: 1, Cut: 1,
	}
	const said = "1 HTML comment, 1 hidden element, 1 HTML tag, 1 tag's attributes, 1 image text, 1 link title, 1 unused definition, " +
		"1 part of a block or formula that is not shown, 1 invisible character, 1 control character, 1 invalid byte, 1 byte beyond the limit"
	const twice = "2 HTML comments, 2 hidden elements, 2 HTML tags, 2 tags' attributes, 2 image texts, 2 link titles, 2 unused definitions, " +
		"2 parts of blocks or formulas that are not shown, 2 invisible characters, 2 control characters, 2 invalid bytes, 2 bytes beyond the limit"
	if one.String() != said || one.Add(one).String() != twice || one.Add(clean.Removed{}) != one {
		t.Errorf("once: %s\ntwice: %s", one, one.Add(one))
	}
}
