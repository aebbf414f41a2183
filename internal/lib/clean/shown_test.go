package clean_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/lib/clean"
)

// The pages are as GitHub renders them, shortened.
func TestFromHTML(t *testing.T) {
	for why, c := range map[string]struct{ page, want, gone string }{
		"paragraphs and breaks": {`<p dir="auto">a <em>b</em><br>` + "\n" + `<strong>c</strong></p>` + "\n" + `<p dir="auto">d</p>`, "a _b_\n**c**\n\nd", ""},
		"headings": {
			`<div class="markdown-heading"><h2 class="heading-element">T</h2><a id="t" class="anchor" href="#t"><svg class="octicon"><path d=""></path></svg></a></div>`,
			"## T", "",
		},
		"a task list": {
			`<ul class="contains-task-list"><li class="task-list-item"><input type="checkbox" id="" disabled="" class="task-list-item-checkbox"> One<ol start="3"><li>a</li><li>b</li></ol></li>
<li class="task-list-item"><input type="checkbox" disabled="" checked=""> Two</li></ul>`, "- [ ] One\n  3. a\n  4. b\n- [x] Two", "",
		},
		"a loose list": {"<ul><li><p>a</p><blockquote><p>b</p><p>c</p></blockquote></li><li><p>d</p></li></ul>", "- a\n\n  > b\n  >\n  > c\n\n- d", ""},
		"a table": {
			`<markdown-accessiblity-table><table role="table"><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td align="left">1 | 2</td><td>x<br>y</td></tr></tbody></table></markdown-accessiblity-table>`,
			"| a | b |\n|---|---|\n| 1 \\| 2 | x y |", "",
		},
		"code": {
			`<div class="highlight highlight-source-go notranslate" dir="auto"><pre class="notranslate"><span class="pl-k">func</span> x() {}` + "\n\t```" +
				`</pre></div><pre lang="prd" class="notranslate"><code class="notranslate">{}` + "\n" + `</code></pre><p>see <code class="notranslate">a` + "`" + `b &lt;T&gt;</code></p>`,
			"````go\nfunc x() {}\n\t```\n````\n\n```prd\n{}\n```\n\nsee ``a`b <T>``", "",
		},
		"links": {
			`<p><a href="https://e.org/a_b" rel="nofollow">https://e.org/a_b</a> <a href="https://e.org/(x)">t</a> <a class="user-mention notranslate" href="https://github.com/mia">@mia</a> <a href="https://e.org/none"> </a></p>`,
			"https://e.org/a_b [t](https://e.org/%28x%29) @mia", "",
		},
		"a picture": {`<p><a target="_blank" href="https://github.com/x"><img src="https://github.com/x" alt="run curl"></a> seen</p>`, "seen", "images (1)"},
		"what GitHub draws": {
			`<p>a <math-renderer class="js-inline-math">$x$</math-renderer></p><section class="js-render-needs-enrichment render-needs-enrichment" data-type="mermaid"><div data-plain="x"><pre lang="mermaid">x</pre></div></section>`,
			"a", "diagrams (1), formulas (1)",
		},
		"footnotes": {
			`<p>a<sup><a href="#fn-1" id="fnref-1" data-footnote-ref="">1</a></sup></p><section data-footnotes="" class="footnotes"><h2 class="sr-only">Footnotes</h2><ol><li>x</li></ol></section>`,
			"a", "footnotes (1)",
		},
		"a fold":            {"<details><summary>S</summary><p>b</p></details>", "S\n\nb", ""},
		"invisible letters": {"<p>a\u200bb&#x202e;</p>", "ab", "invisible characters (2)"},
		"text stays text": {
			"<p>Vec&lt;T&gt; 2*3*4 a_b __x__ `y` [a](b) &amp;lt; C:\\* ~~s~~<br># h<br>- i<br>1. n<br>&gt; q<br>[a]: b<br>---</p><ul><li>[ ] no box</li></ul>",
			"Vec\\<T> 2\\*3\\*4 a_b \\_\\_x\\_\\_ \\`y\\` \\[a](b) \\&lt; C:\\\\* \\~\\~s\\~\\~\n\\# h\n\\- i\n1\\. n\n\\> q\n\\[a]: b\n\\---\n\n- \\[ ] no box", "",
		},
		"nested too deep": {strings.Repeat("<div>", 600) + "a", "", "pages that cannot be read (1)"},
	} {
		got := clean.FromHTML(c.page, 0)
		if diff := cmp.Diff(c.want, got.Text); diff != "" || got.Removed.String() != c.gone {
			t.Errorf("%s: removed %q, want %q; text (-want +got):\n%s", why, got.Removed, c.gone, diff)
		}
	}
}

// Usual Markdown comes back as it was written.
func TestFromMarkdown(t *testing.T) {
	for _, text := range []string{
		"# T\n\na **b** _c_ ~~d~~ `e` [f](https://e.org)\ng\n\n- [ ] g\n- [x] h\n  - i\n\n> q\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n---\n\n```go\n\tx <T>\n```",
		"1. a\n\n2. b\n\n   c\n\n3. d",
		"the \\<title> is wrong",
		"a < b && c > d, x->y, 5 * 3, snake_case, *.go and *.md, ~/x, Vec\\<T>, $x^2$, C:\\dir, \\d+",
	} {
		if diff := cmp.Diff(text, clean.FromMarkdown(text, 0).Text); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

func TestFromHTMLLimit(t *testing.T) {
	if got := clean.FromHTML("<p>aéb</p>", 2); got.Text != "a" || got.Removed[clean.Cut] != 3 {
		t.Errorf("%q, %d cut", got.Text, got.Removed[clean.Cut])
	}
}

// GitHub shows a suggestion as a diff.
func TestSuggestions(t *testing.T) {
	page := `<p>Typo:</p><div class="my-2 js-suggested-changes-blob diff-view"><div>Suggested change</div><table><tr><td class="blob-code-inner blob-code-deletion">old</td></tr>
<tr><td class="blob-code-inner blob-code-addition"><span class="pl-k">if</span> a &lt; b {</td></tr><tr><td class="blob-code-inner blob-code-addition">` + "\t\n" + `</td></tr></table></div>`
	got := clean.FromHTML(page, 0)
	if diff := cmp.Diff("Typo:\n\n```diff\n-old\n+if a < b {\n+\t\n```", got.Text); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
}

// What the page does not show, the agent does not read.
func TestNothingHiddenComesIn(t *testing.T) {
	for _, page := range []string{
		"<p hidden>HIDDEN</p>", `<p style="display: none">HIDDEN</p>`, `<p title="HIDDEN">a</p>`, "<!-- HIDDEN -->", "<template><p>HIDDEN</p></template>", "<p><img alt=\"HIDDEN\" title=\"HIDDEN\"></p>",
		`<p><a href="/x" title="HIDDEN" aria-label="HIDDEN">a</a></p>`, "<ruby>a<rp>HIDDEN</rp></ruby>", "<p><math-renderer>$\\phantom{HIDDEN}$</math-renderer></p>", "<math><mtext>HIDDEN</mtext></math>",
		`<section class="js-render-needs-enrichment" data-json="HIDDEN"><pre lang="mermaid">HIDDEN</pre></section>`, "<code><i hidden>HIDDEN</i></code>", "<pre><script>HIDDEN</script></pre>", "<p><svg><title>HIDDEN</title></svg></p>",
		"<table><tr><td hidden>HIDDEN</td><td>a</td></tr></table>", "<ul><li hidden>HIDDEN</li><li>a</li></ul>", `<a href="https://e.org/HIDDEN"></a>`, "<section data-footnotes><p>HIDDEN</p></section>",
	} {
		if got := clean.FromHTML(page, 0).Text; strings.Contains(got, "HIDDEN") {
			t.Errorf("%s comes in as %q", page, got)
		}
	}
	long := strings.Repeat("x ", 31_000)
	for why, texts := range map[string][]string{
		"footnotes": {
			"a\n\n[^a]: b\n\n    HIDDEN", "> [^a]: HIDDEN", "- [^a]: HIDDEN", "`[^a]`\n\n[^a]: HIDDEN", "a[^a]\n\n[^a]: b\n\n[^a]: HIDDEN",
			"[^a]:[^b]: HIDDEN", "2<!--\n[^a]:-->HIDDEN",
			"a\n\n[^1]: <!-- b\n    --> HIDDEN", "[^1]: <pre>\n    </pre>HIDDEN", "[^1]:\n    ~~~HIDDEN",
		},
		"tags and comments that stay open": {
			"<div><!--\n\nHIDDEN", "<div><a href=\"\n\nHIDDEN", "<textarea<X\n<!--e>HIDDEN",
		},
		"tags over what is no definition": {"[a]: [^1]: <b\nHIDDEN>x</b>", "[a]: [^1]: <!A\nHIDDEN>x"},
		"pictures and links beside HTML":  {"- a\n  <br>\n  ![HIDDEN](x)", "https://e.org/`x` ![HIDDEN](x)", "(https://e.org/`x`) [a](/y 'HIDDEN')"},
		"what ends no line on GitHub":     {"[^b]: \u2028HIDDEN", "```go \u2028HIDDEN", "|b|\n|-|\n|c\u2028|HIDDEN|", "<b title=\"x\u2028\u2028HIDDEN\">q</b>", "![a\u2029\u2029HIDDEN](x)", "<b title=\"x\n\u200b\nHIDDEN\">q</b>", "[^b]: x\n\u200b\nHIDDEN", "![a\n\u00ad\nHIDDEN](x)", "[a](x 't\n\u0001\nHIDDEN')"},
		"tags that GitHub does not see":   {"<style <!-- > HIDDEN"},
		"tags over lines of a quote":      {"> <div a\n> HIDDEN>", "> a <b a\n> HIDDEN>", "> <!-- a\n> HIDDEN"},
		"elements with another content":   {"<textarea>\n<HIDDEN>", "<style><!--</style>HIDDEN"},
		"what is never shown":             {"<ruby><rp>HIDDEN", "<video>HIDDEN</video>"},
		"instructions and addresses":      {"``<?``<?HIDDEN?>"},
		"decoded characters":              {"&#96;<HIDDEN>&#96;", "&#36;a&#36; ![HIDDEN](b)"},
		"form feeds":                      {"[a]:x\vHIDDEN"},
		"titles":                          {`[t](a(b(c(d))) "HIDDEN")`, `[t](<a\>b> "HIDDEN")`, "[t](a 'HIDDEN " + long + "')"},
		"links and pictures without text": {"[](HIDDEN)", "[ <b></b>](HIDDEN)", "[ ][a]\n\n[a]: HIDDEN", "![](https://e.org/HIDDEN)", "![<http://a]b> HIDDEN](c)", "![HIDDEN " + long + "](a)"},
		"labels of links":                 {"[see][HIDDEN]\n\n[HIDDEN]: x", "> [see][HIDDEN\n> a]\n\n[HIDDEN a]: x", "[see][HIDDEN SS]\n\n[hidden ß]: x", "[see][HIDDEN]\n\n[HIDDEN]: <>"},
		"definitions":                     {"[a]\n\n[a]: b\n[a]: HIDDEN", "<?>?\n[a]: HIDDEN"},
		"tabs in a quote":                 {"> \t<p HIDDEN>"},
		"diagrams and formulas":           {"```mermaid\ngraph TD\nHIDDEN[a] --> b\n```"},
	} {
		for _, text := range texts {
			if got := clean.FromMarkdown(text, 60_000).Text; strings.Contains(got, "HIDDEN") {
				t.Errorf("%s: %.60q comes in as %.100q", why, text, got)
			}
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

// FuzzFromMarkdown holds that nothing hidden is left outside code, and that what an agent reads is text.
func FuzzFromMarkdown(f *testing.F) {
	for _, a := range append([]string{
		"a <!-- b --> `<!-- c -->`", "&amp;lt;b&amp;gt;", "[a]: b 'c'\n[a]", "![a][b]\n\n[b]: c", "<div hidden>x</div>",
		"```\n<!--", "> <!-- a\n> b", "[^a]: b", "\u202e\U000e0041", "<!<!-- -->-- -->", "- <p\n  x>", "&semi;&semi;&lt&semi;",
	}, attacks...) {
		f.Add(a, 0)
	}
	f.Fuzz(func(t *testing.T, text string, limit int) {
		got := clean.FromMarkdown(text, max(limit, 0)).Text
		if !utf8.ValidString(got) || limit > 0 && len(got) > limit {
			t.Errorf("FromMarkdown(%q, %d) = %q", text, limit, got)
		}
		if strings.ContainsFunc(got, clean.IsInvisible) {
			t.Errorf("FromMarkdown(%q) = %q holds invisible characters", text, got)
		}
		if hidden := render(t, got).hidden(); len(hidden) > 0 && limit <= 0 {
			t.Errorf("FromMarkdown(%q) = %q hides %q", text, got, hidden)
		}
	})
}
