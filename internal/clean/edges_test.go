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
		{"a\u2028b\u2029c", "a b c", ""},
		{"\u0600x", "\u0600x", ""},
		{"see ~~~b~~~ [c] <d", "see ~~~b~~~ [c] <d", ""},
		{"[A  b]: x\n\nsee [a B]", "\n\nsee [a B](x)", "definitions of links (1), labels of links (1)"},
		{"![unknown] ![unknown][] ![]() !x [a] (b \"c\")", "![unknown] ![unknown][] ![]() !x [a] (b \"c\")", ""},
		{"<title> is wrong", "<title> is wrong", ""},
		{"<svg/>x", "<svg/>x", ""},

		// What was told by reference is text where the page shows it as text.
		{"&#x3c;foo> &lt;foo> &lt;foo bar> &lt;B> &lt;b> &semi; &notit; a &;", `\<foo> \<foo> \<foo bar> <B> <b> ; &notit; a &;`, ""},
		{"a&lt;b&gt;c &LT;Foo&GT;", `a<b>c \<Foo>`, ""},
		{"&#60;#62; x &AMP; &#0;", "<#62; x & \ufffd", ""},
		{"&lt;!-- &lt;x ", "", "HTML comments (1)"},

		// Code is code, and nothing else is.
		{"```\n&lt;b&gt; <!-- a --> ![b](x \"y\") [a](b \"c\")\n```\n&lt;T&gt;", "```\n&lt;b&gt; <!-- a --> ![b](x \"y\") [a](b \"c\")\n```\n\\<T>", ""},
		{"    <!-- code -->\n\nx", "    <!-- code -->\n\nx", ""},
		{"`<!-- kept -->` <!-- gone -->", "`<!-- kept -->` ", "HTML comments (1)"},
		{"a `b` http://x `<!-- y -->`", "a `b` http://x `<!-- y -->`", ""},
		{"http://e.org`<!-- x -->`", "http://e.org``", "HTML comments (1)"},
		{"WWW.e.org/`<!-- x -->`", "WWW.e.org/``", "HTML comments (1)"},
		{word + "`<!-- y -->`", word + "``", "HTML comments (1)"},
		{word + " `<!-- y -->`", word + " `<!-- y -->`", ""},
		{"| a | b |\n|---|---|\n| `<!-- a|b -->` | <!-- c --> |", "| a | b |\n|---|---|\n| `` |", "HTML comments (2), cells beyond a table's columns (1)"},
		{"| a |\n|---|\n<b>\n`<!-- x -->`", "| a |\n|---|\n<b>\n``", "HTML comments (1)"},
		{"a\n|b|\n|-|\nx | y | z\n\\| w|&#124;\n|v", "a\n|b|\n|-|\nx |\n\\| w|\n|v", "cells beyond a table's columns (2)"},
		{"|b|\n|-|\n|x&#124;y|", "|b|\n|-|\n|x\\|y|", ""},

		// Hidden texts of links and images are removed.
		{
			"[a](b \"t\") ![c][d] ![e] ![f][]\n\n[d]: x\n[e]: y 'z'\n[f]: w\n", "[a](b) ![]() ![]() ![]()[]\n\n\n\n\n",
			"addresses of images (3), definitions of links (3), texts of images (3), titles of links (1)",
		},
		{`\[a](b "c")`, `\[a](b)`, "titles of links (1)"},
		{"[a\n\nb](c \"d\")", "[a\n\nb](c)", "titles of links (1)"},
		{`![a\]b](c)`, "![]()", "addresses of images (1), texts of images (1)"},
		{"[a]: x\n[a]: y\n\n[a]", "\n\n\n[a](x)", "definitions of links (2), labels of links (1)"},
		{"[a]: b\n\n[c][a] [A][] [e][f] x[a]", "\n\n[c](b) [A](b) [e][f] x[a]", "definitions of links (1), labels of links (2)"},
		{"a[^1] b\n\n[^1]: used\n\n[^2]: unused\nmore\n\n```\n[^3]: code\n```", "a[^1] b\n\n\n\n\n\n```\n[^3]: code\n```", "footnotes (2)"},

		// Tags stay where the page shows them, bare.
		{`<br class="x"><hr><img src=x alt=y>b</p class=z>`, "<br><hr>b</p class=z>", "HTML tags (1), attributes of tags (1)"},
		{`<div style="display: none">x</div><div style="color:red">y</div><div title=a hidden>z</div>`, "<div>y</div>", "attributes of tags (1), hidden elements (2)"},
		{"</div x>", "</div>", "attributes of tags (1)"},
		{"<script>a<b>c</script>d", "d", "hidden elements (1)"},
		{"<div hidden>a<div>b</div>c</div>d", "d", "hidden elements (1)"},
		{"<math><b>x</math>y", "y", "hidden elements (1)"},
		{"<details>\n<summary x=\"y\">s</summary>\n\n[a](b \"c\")\n</details>", "<details>\n<summary>s</summary>\n\n[a](b)\n</details>", "attributes of tags (1), titles of links (1)"},
		{"<p\nx", "<p>", "attributes of tags (1)"},
		{"<p><!-- x", "<p>", "HTML comments (1)"},
		// What was built not to settle loses all that markup is made of.
		{strings.Repeat("<", 15) + "<x>" + strings.Repeat("x>", 15) + " words", "xxxx words", "HTML tags (20)"},
		{strings.Repeat("<", 15) + "<x>" + strings.Repeat("x>", 15) + " $\\phan<tom{run}$", "xxxx \\phantom{run}", "HTML tags (23)"},
		{"<!DOCTYPE x>a<![CDATA[b]]>c<?php d?>e", "ace", "HTML comments (3)"},
	} {
		got, gone := clean.ForAgent(c.in, 0)
		if got != c.want || gone.String() != c.gone {
			t.Errorf("Inward(%.200q) = %.200q without %q, want %.200q without %q", c.in, got, gone, c.want, c.gone)
		}
	}
}

// The words are nowhere on the page, as GitHub's parser and a browser read these texts.
func TestNothingHiddenComesIn(t *testing.T) {
	long := strings.Repeat("x ", 31_000)
	for why, texts := range map[string][]string{
		"footnotes": {
			"a\n\n[^a]: b\n\n    HIDDEN", "> [^a]: HIDDEN", "- [^a]: HIDDEN", "`[^a]`\n\n[^a]: HIDDEN", "a[^a]\n\n[^a]: b\n\n[^a]: HIDDEN",
			"[^a]:[^b]: HIDDEN", "[^[]: HIDDEN", "[^a]:    `\nHIDDEN", "[^\nHIDDEN]", "2<!--\n[^a]:-->HIDDEN",
			"a\n\n[^1]: <!-- b\n    --> HIDDEN", "[^1]: <pre>\n    </pre>HIDDEN", "[^1]:\n    ~~~HIDDEN", "- [ ] [^1]:\n    HIDDEN", "- [ ] [a]: HIDDEN",
		},
		"tags and comments that stay open": {
			"<div><!--\n\nHIDDEN", "<div><a href=\"\n\nHIDDEN", "> <div\tHIDDEN", "<e>\t\n<HIDDEN", "</pre>\n<HIDDEN", "</script>\n~~~<r\nHIDDEN", "> a\n<b>\n<HIDDEN", "- </style>\n  <HIDDEN", ">`\n<b>\n`<HIDDEN", "<textarea<X\n<!--e>HIDDEN",
		},
		"tags over what is no table":      {"> a <!A\n|a|b|\n|-|-|\nHIDDEN >", "- a <b title=\"\n|a|\n|-|\nHIDDEN\">b</b>", "> |a|\n> |-|\na <b\nHIDDEN>", "|a|b|\n|-|-|\n<br>\n===\na <b\nHIDDEN"},
		"tags over what is no definition": {"[a]: [^1]: <b\nHIDDEN>x</b>", "[a]: [^1]: <!A\nHIDDEN>x"},
		"pictures and links beside HTML":  {"- a\n  <br>\n  ![HIDDEN](x)", "https://e.org/`x` ![HIDDEN](x)", "(https://e.org/`x`) [a](/y 'HIDDEN')"},
		"titles that end in a backslash":  {"[a](https://e.org \"HIDDEN\\\") b", "a\n\n[b]: https://e.org 'HIDDEN\\'", "![a](x \"HIDDEN\\\")"},
		"what ends no line on GitHub":     {"[^b]: \u2028HIDDEN", "```go \u2028HIDDEN", "|b|\n|-|\n|c\u2028|HIDDEN|", "<b title=\"x\u2028\u2028HIDDEN\">q</b>", "![a\u2029\u2029HIDDEN](x)", "<b title=\"x\n\u200b\nHIDDEN\">q</b>", "[^b]: x\n\u200b\nHIDDEN", "![a\n\u00ad\nHIDDEN](x)", "[a](x 't\n\u0001\nHIDDEN')"},
		"rows that look like a heading":   {"|a|b|\n|-|-|\n|1|x|\n===\n|2|y|HIDDEN|"},
		"heads with too few cells":        {"a <b title=\"\n-|-\nHIDDEN\">b</b>", "a <!X b\n-|-\nHIDDEN> b"},
		"tags that GitHub does not see":   {"a <?<br><script>?>\n\nHIDDEN", "<textarea><![CDATA[\n~~~a -->HIDDEN", "<style <!-- > HIDDEN", "    a\n- [ ] [b]: x \"HIDDEN words\""},
		"tags over lines of a quote":      {"> <div a\n> HIDDEN>", "> a <b a\n> HIDDEN>", "> <!-- a\n> HIDDEN"},
		"elements with another content":   {"<textarea>\n<HIDDEN>", "<style><!--</style>HIDDEN", "<textarea>\n\n[^a]: HIDDEN"},
		"what is never or hardly shown":   {"<ruby><rp>HIDDEN", "<rp><div></rp>HIDDEN", "<sub><sub><sup><code>HIDDEN", "<video>HIDDEN</video>"},
		"instructions and addresses":      {"x<?><HIDDEN?>", "!<???><HIDDEN?>", "``<?``<?HIDDEN?>", "http://x``<HIDDEN>``", "www.x\\<HIDDEN>", "www.`<!X `HIDDEN>"},
		"decoded characters":              {"&#96;<HIDDEN>&#96;", "&#36;a&#36; ![HIDDEN](b)"},
		"form feeds":                      {"<td\fHIDDEN", "[a]:x\vHIDDEN"},
		"titles":                          {`[t](a(b(c(d))) "HIDDEN")`, `[t](<a\>b> "HIDDEN")`, "[t](a\n> \"HIDDEN\")", "[t](a 'HIDDEN " + long + "')"},
		"links and pictures without text": {"[](HIDDEN)", "[ <b></b>](HIDDEN)", "[ ][a]\n\n[a]: HIDDEN", "![](https://e.org/HIDDEN)", "![<http://a]b> HIDDEN](c)", "![HIDDEN " + long + "](a)"},
		"labels of links":                 {"[see][HIDDEN]\n\n[HIDDEN]: x", "> [see][HIDDEN\n> a]\n\n[HIDDEN a]: x", "[see][HIDDEN SS]\n\n[hidden ß]: x", "[see][HIDDEN]\n\n[HIDDEN]: <>"},
		"definitions":                     {"[a]\n\n[a]: b\n[a]: HIDDEN", "[a]: HIDDEN\nhttp://x[a]", "<?>?\n[a]: HIDDEN"},
		"tabs in a quote":                 {"> \t<p HIDDEN>"},
		"diagrams and formulas":           {"```mermaid\ngraph TD\nHIDDEN[a] --> b\n```", `$\mathchoice{}{a}{}{\text{HIDDEN}}$`},
	} {
		for _, text := range texts {
			if got, _ := clean.ForAgent(text, 60_000); strings.Contains(got, "HIDDEN") {
				t.Errorf("%s: %.60q comes in as %.100q", why, text, got)
			}
		}
	}
}

// Deeper lists and quotes are text, in which no code is known.
func TestInwardIsDeep(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{strings.Repeat("> ", 100) + "`<!-- a -->`", "`<!-- a -->`"},
		{strings.Repeat("> ", 101) + "`<!-- a -->`", "``"},
		{strings.Repeat(">- ", 51) + "```\n<!-- a -->", "```\n"},
		{strings.Repeat("1. ", 101) + "    <!-- a -->", ""},
		{strings.Repeat("-", 200) + "`<!-- a -->`", "`<!-- a -->`"},
	} {
		got, _ := clean.ForAgent(c.in, 0)
		if got = strings.TrimLeft(got, ">-1. "); got != c.want {
			t.Errorf("Inward(%q) ends with %q, want %q", c.in, got, c.want)
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
		{"@[a](http://b)", "`@`[a&#93;(http://b)"},

		// Addresses.
		{"HTTP://e.org/@a", "HTTP://e.org/ `@`a"},
		{"https://e.org @a", "https://e.org `@`a"},
		{"https://e.org@a", "https://e.org `@`a"},
		{"ahttp://e.org @b", "ahttp://e.org `@`b"},
		{"0https://e.org/o/r/issues/1 Zhttp://e.org/o/r/pull/2", "0`https://e.org/o/r/issues/1` Zhttp://e.org/o/r/pull/2"},

		// Links and images.
		{"![a](b) x", "&#33;[a&#93;(b) x"},
		{"![](https://e.org)", "&#33;[&#93;(https://e.org)"},
		{"[a](www.e.org) [b](WWW.e.org)", "[a&#93;(www.e.org) [b&#93;(WWW.e.org)"},
		{"[http://x@y](https://e.org)", "[http://x `@`y&#93;(https://e.org)"},
		{"[see #12 ![b](c)](https://e.org)", "[see `#`12 &#33;[b&#93;(c)&#93;(https://e.org)"},
		{"[a]: b", "[a&#93;: b"},
		{"[a][b]", "[a&#93;[b]"},
		{"![a] [a] !x", "&#33;[a] [a] !x"},

		// Characters that mean something elsewhere.
		{"R&amp;amp;D &lt; &foo a & b", "R&D &lt; &foo a & b"},
		{"a $x$ ~b ~~~c", "a &#36;x&#36; ~b &#126;&#126;&#126;c"},
		{"$5.10 of $5.00 spent", "$5.10 of $5.00 spent"},
		{"$5`a`$ ($5) $5$ $`5", "$5`a`&#36; (&#36;5) $5&#36; &#36;&#96;5"},
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
