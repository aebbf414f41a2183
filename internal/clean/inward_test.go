package clean_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/clean"
)

func TestInward(t *testing.T) {
	for _, c := range []struct{ why, in, want, gone string }{
		{"ordinary Markdown stays", "# T\n\n* **a** _b_ [c](https://e.org)\n- [ ] d\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> q\n", "# T\n\n* **a** _b_ [c](https://e.org)\n- [ ] d\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> q\n", ""},
		{"and so does arithmetic", "a < b && c > d, a<b, x->y", "a < b && c > d, a<b, x->y", ""},
		{"lines end in \\n", "a\r\nb\rc", "a\nb\nc", ""},

		{"a comment", "a <!-- run curl --> b", "a  b", "HTML comments (1)"},
		{"over lines and fences", "<!--\n```\nx\n```\n-->\nb", "\nb", "HTML comments (1)"},
		{"unterminated", "a <!-- run\n\ncurl", "a ", "HTML comments (1)"},
		{"told by reference", "a &lt;!-- x --&gt; &amp;lt;!-- y -->", "a  ", "HTML comments (2)"},
		{"put together by taking one out", "<!<!-- -->-- x -->b", "b", "HTML comments (2)"},
		{"a declaration", "a <?php x ?> b", "a  b", "HTML comments (1)"},

		{"zero width, soft hyphen, bidi, byte order mark", "a\u200bb\u00adc\u202ed\u2066e\ufefff", "abcdef", "invisible characters (5)"},
		{"the tag block", "a\U000e0041\U000e0042\U000e007f", "a", "invisible characters (3)"},
		{"variation selectors, in both blocks", "a\ufe0f\U000e0101", "a", "invisible characters (2)"},
		{"fillers", "a\u3164\uffa0\u115f\u2800b", "ab", "invisible characters (4)"},
		{"also within code", "`a\u200bb`", "`ab`", "invisible characters (1)"},
		{"and told by reference", "a&#x200b;b&zwnj;c", "abc", "invisible characters (2)"},
		{"a joined emoji becomes its members", "\U0001f468\u200d\U0001f469", "\U0001f468\U0001f469", "invisible characters (1)"},
		{"control characters", "a\x1b[31m\x00\tb\u009b", "a[31m\tb", "control characters (3)"},
		{"bytes that are no text", "a\xffb", "a\ufffdb", "invalid bytes (1)"},

		{"references, to the last", "&amp;amp;amp; &eacute; &#65;&#x42;", "& é AB", ""},
		{"half a reference is none", "&lt &notit; &;", "&lt &notit; &;", ""},
		{"what the page shows as text stays text", "Vec&lt;String&gt;", `Vec\<String>`, ""},

		{"the words of an image", "![ignore all](https://e.org/a.png \"and run\")", "![]()", "addresses of images (1), texts of images (1)"},
		{"but the number of an attached one", "![a](https://github.com/user-attachments/assets/0a1b2c3d-4e5f)", "![](0a1b2c3d-4e5f)", "addresses of images (1), texts of images (1)"},
		{"a title over lines", "[a](https://e.org 'b\nc')", "[a](https://e.org)", "titles of links (1)"},
		{"a definition's title", "[a]\n\n[a]: https://e.org\n  \"run\"", "[a](https://e.org)\n\n", "definitions of links (1), labels of links (1)"},
		{"an unused definition", "a\n\n[//]: # (run curl)", "a\n\n", "definitions of links (1)"},
		{"an unused footnote", "a\n\n[^x]: run\ncurl\n\nb", "a\n\n\n\nb", "footnotes (1)"},

		{"attributes", `<p title="run" data-x='y'>a</p>`, "<p>a</p>", "attributes of tags (1)"},
		{"even malformed ones, which a browser swallows", "<div>\n<b run (curl)>x</b>\n</div>", "<div>\n<b>x</b>\n</div>", "attributes of tags (1)"},
		{"an image's", `a <img alt="run" src="x"> b`, "a  b", "HTML tags (1)"},
		{"tags that no page shows", "a <run><curl> b", "a  b", "HTML tags (2)"},
		{"a hidden element and what it holds", "<div hidden>\n\nrun `curl`\n\n<div>x</div>\n</div>\nb", "\nb", "hidden elements (1)"},
		{"by style", "<span style='display : none'>x</span>b", "b", "hidden elements (1)"},
		{"a script", "<script>\nx\n\ny\n</script>\nb", "\nb", "hidden elements (1)"},
		{"a word about one is no script", "the <title> is wrong", "the <title> is wrong", ""},
		{"a fold stays open to the agent", "<details>\n<summary>S</summary>\n\nb\n</details>", "<details>\n<summary>S</summary>\n\nb\n</details>", ""},

		{"behind a fence's language", "```go run curl\nx\n```\n~~~ a b\ny\n~~~", "```go\nx\n```\n~~~a\ny\n~~~", "parts of blocks or formulas that are not shown (2)"},
		{"a diagram is a picture, too", "> ```mermaid\n> %% run curl\n> graph TD\n> ```", "> ```mermaid\n> ```", "parts of blocks or formulas that are not shown (1)"},
		{"a map is a picture", "```geojson\n{\"a\": \"run curl\"}\n```", "```geojson\n```", "parts of blocks or formulas that are not shown (1)"},
		{"cells beyond a table's columns", "> | a |\n> |---|\n> | b | run `curl` |", "> | a |\n> |---|\n> | b |", "cells beyond a table's columns (1)"},
		{"formulas that hide", "a $\\phantom{run}$ $$\\color{white}{run}$$ $`x % run`$ b\n```math\n\\phantom{run}\n```", "a    b\n```math\n```", "parts of blocks or formulas that are not shown (4)"},
		{"variables, and what comes behind them", "$A%10 of $B, $x%$y $\\phantom{run}$ b", "$A%10 of $B, $x%$y  b", "parts of blocks or formulas that are not shown (1)"},
		{"those that do not, and what is none", "$x^2$ costs $5, or 10% of $50; $HOME/a:$PATH `$\\phantom{a}$`", "$x^2$ costs $5, or 10% of $50; $HOME/a:$PATH `$\\phantom{a}$`", ""},
		{"a fence stays as it is", "```html\n<!-- a --> &lt; ![b](c \"d\")\n```", "```html\n<!-- a --> &lt; ![b](c \"d\")\n```", ""},
		{"in a list, longer, of tildes", "- a\n\n  ~~~~\n  <!-- b -->\n  ~~~\n  ~~~~", "- a\n\n  ~~~~\n  <!-- b -->\n  ~~~\n  ~~~~", ""},
		{"a span too", "`<!-- a -->` ``&lt;`&gt;``", "`<!-- a -->` ``&lt;`&gt;``", ""},
		{"what only looks like a fence does not", "p\n    ```\n    <!-- a -->\n    ````", "p\n    ```\n    \n    ````", "HTML comments (1)"},
		{"nor what only looks like a span", "| a | b |\n|---|---|\n| ` | <!-- x --> ` |", "| a | b |\n|---|---|\n| ` |  ` |", "HTML comments (1)"},
		{"not even after an address", "https://x/` <!-- a --> `", "https://x/`  `", "HTML comments (1)"},
	} {
		got, gone := clean.ForAgent(c.in, 0)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: Inward(%q):\n%s", c.why, c.in, diff)
		}
		if gone.String() != c.gone {
			t.Errorf("%s: Inward(%q) removed %q, want %q", c.why, c.in, gone, c.gone)
		}
	}
}

func TestInwardLimit(t *testing.T) {
	for _, c := range []struct {
		in   string
		max  int
		want string
		cut  int
	}{
		{"abc", 0, "abc", 0},
		{"abc", 3, "abc", 0},
		{"abcd", 3, "abc", 1},
		{"aéb", 2, "a", 3},                    // never half a character
		{"\n</details", 10, "\n</details", 0}, // the tag's end would be added, and taken away again
	} {
		got, gone := clean.ForAgent(c.in, c.max)
		if got != c.want || gone[clean.Cut] != c.cut {
			t.Errorf("Inward(%q, %d) = %q, cut %d; want %q, cut %d", c.in, c.max, got, gone[clean.Cut], c.want, c.cut)
		}
	}
}

func TestPlain(t *testing.T) {
	got, gone := clean.Plain(" Vec<String>\u200b &lt;\n<!-- b --> ", 40)
	if want := "Vec<String> &lt; <!-- b -->"; got != want {
		t.Errorf("Plain = %q, want %q", got, want)
	}
	if gone.String() != "invisible characters (1)" {
		t.Errorf("Plain removed %q", gone)
	}
}

func TestRemoved(t *testing.T) {
	sum := clean.Removed{"b": 2, "a": 13}
	sum.Add(clean.Removed{"a": 1})
	if want := "a (14), b (2)"; sum.String() != want {
		t.Errorf("String = %q, want %q", sum, want)
	}
}

// A text built so that each removal makes work for the next still ends, and
// in time.
func TestInwardEnds(t *testing.T) {
	for _, c := range []string{
		strings.Repeat("<!", 20000) + strings.Repeat("-- -->", 20000),
		strings.Repeat("&amp;", 20000) + "lt;",
		strings.Repeat("![", 30000) + strings.Repeat("](a \"", 10000),
		strings.Repeat("<div hidden>", 8000),
		strings.Repeat("x`a`", 30000),
		strings.Repeat("[a]: b 'c'\n", 8000) + "[a]",
		strings.Repeat("[^a]: b\n\n", 7000),
		strings.Repeat("> ", 30000) + "a",
		strings.Repeat("<a b='", 20000),
		strings.Repeat("[", 60000) + strings.Repeat("]", 60000),
	} {
		once, _ := clean.ForAgent(c, 65536)
		if twice, _ := clean.ForAgent(once, 65536); twice != once {
			t.Errorf("Inward(%.20q…) is not settled", c)
		}
	}
}

// Each of these takes longer than a test may if the end of a part is looked for from each place.
func TestLongTextsOfPartsWithoutEnd(t *testing.T) {
	for _, c := range []string{"://[^a]:", "<!a\t", "<?a\t", "[^<!a", "[^a", "- [^a]", "> ", "[^a]:", "<?<!a>"} {
		text := strings.Repeat(c, 300_000/len(c)) + "??>"
		once, _ := clean.ForAgent(text, 0)
		if twice, _ := clean.ForAgent(once, 0); twice != once {
			t.Errorf("%q many times is not settled", c)
		}
	}
}

// The work grows with the text, not with its square.
func TestWorkGrowsWithTheText(t *testing.T) {
	for name, text := range map[string]func(n int) string{
		"code spans": func(n int) string { return strings.Repeat("`a", n) },
		"cells that rows lack": func(n int) string {
			return strings.Repeat("|a", n) + "\n" + strings.Repeat("|-", n) + strings.Repeat("\n|", n)
		},
		"formulas with code":     func(n int) string { return strings.Repeat("$`", n) },
		"references and escapes": func(n int) string { return strings.Repeat("&amp;\\[", n) },
	} {
		made := func(n int) float64 {
			return testing.AllocsPerRun(1, func() { clean.ForAgent(text(n), 0); clean.Inline(text(n), 0) })
		}
		if few, many := made(100), made(800); many > 16*few {
			t.Errorf("%s: %.0f allocations for 800, %.0f for 100", name, many, few)
		}
	}
}

// FuzzInward holds that cleaning settles, and that a reader of the cleaned
// page sees all that is in it: nothing hidden is left outside code.
func FuzzInward(f *testing.F) {
	for _, a := range append([]string{
		"a <!-- b --> `<!-- c -->`", "&amp;lt;b&amp;gt;", "[a]: b 'c'\n[a]", "![a][b]\n\n[b]: c", "<div hidden>x</div>",
		"```\n<!--", "> <!-- a\n> b", "[^a]: b", "\u202e\U000e0041", "<!<!-- -->-- -->", "- <p\n  x>", "&semi;&semi;&lt&semi;",
	}, attacks...) {
		f.Add(a, 0)
	}
	f.Fuzz(func(t *testing.T, text string, limit int) {
		once, _ := clean.ForAgent(text, limit)
		if twice, gone := clean.ForAgent(once, limit); twice != once || len(gone) > 0 {
			t.Errorf("Inward(%q) = %q, and again %q (%s)", text, once, twice, gone)
		}
		if !utf8.ValidString(once) || limit > 0 && len(once) > limit {
			t.Errorf("Inward(%q, %d) = %q", text, limit, once)
		}
		if strings.ContainsFunc(once, clean.IsInvisible) {
			t.Errorf("Inward(%q) = %q holds invisible characters", text, once)
		}
		if hidden := render(t, once).hidden(); len(hidden) > 0 {
			t.Errorf("Inward(%q) = %q hides %q", text, once, hidden)
		}
	})
}
