package clean_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/lib/clean"
)

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
		{"R&amp;amp;D &lt; &foo a & b", "R&amp;amp;D &lt; &foo a & b"},
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
		{"ab &amp;x; c", 7, "ab &am…"},
		{"a\u200b  b\u2028c", 5, "a b c"},
	} {
		if got := clean.Inline(c.in, c.limit); got != c.want {
			t.Errorf("Inline(%q, %d) = %q, want %q", c.in, c.limit, got, c.want)
		}
	}
}
