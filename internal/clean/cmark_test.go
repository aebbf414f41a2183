//go:build cmark

package clean_test

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/ralph-loop/ralph/internal/clean"
)

var (
	seed  = flag.Int64("seed", 1, "the first of the random texts")
	texts = flag.Int("texts", 20_000, "how many to make")
)

// pieces of Markdown and HTML, of which each text has some.
var pieces = []string{
	"<!-- ", " -->", "<", ">", "<a ", "<a href=x>", "</a>", "<details>", "<div>", "</div>", "<div\n", "<x-y ", "<b z=\"", "<b z='", "\">", "'>",
	"`", "``", "```", "~~~", "\n", "\n", "\n\n", "    ", "  ", "\t", "- ", "> ", "1. ", "[", "]", "](", "![", "[^1]", "[^1]: ", "[a]: ", "[a]",
	"\n|a|b|\n|-|-|\n", "|", "|a|\n|-|\n", "\\", "*", "_", "http://a.b", "www.a.b/", "<?", "?>", "<!A ", "<![CDATA[", "]]>", "<textarea>", "<script>",
	"</script>", "<pre>", "</pre>", "<table><tr>", "<p>", " ", "\"", "'", "(", ")", "=", "\n---\n", "\n===\n", "# ", "&lt;", "&#60;", "<http://a.b>",
	"x", "<td>", "\r\n", "<style>", "</style>", "<br>", "<h1>", "\\\n", "~~", "- [ ] ", "<img alt=\"", "\\`", "<pre\n", "<del>", "***\n", "+ ",
	"[^2]:\n    ", "[]", "()", "[a][", "<a.b@c.d>", "\u00a0", "\\\"", " \"", "\u2028", "\n\u200b\n", "\n-|-\n", "|1|\n===\n",
}

// The agent reads no word of a random text that GitHub's own parser does not put on the page.
func TestAgentsReadOnlyWhatPagesShow(t *testing.T) {
	random := rand.New(rand.NewSource(*seed))
	for range *texts {
		var parts []string
		for range 3 + random.Intn(14) {
			if random.Intn(3) == 0 {
				parts = append(parts, word(len(parts)))
			} else {
				parts = append(parts, pieces[random.Intn(len(pieces))])
			}
		}
		if unseen(t, parts) == "" {
			continue
		}
		for i := 0; i < len(parts); i++ { // the shortest of its kind
			if less := slices.Delete(slices.Clone(parts), i, i+1); unseen(t, less) != "" {
				parts, i = less, -1
			}
		}
		text := strings.Join(parts, "")
		read, _ := clean.ForAgent(text, 0)
		t.Errorf("of %q the agent reads %q, in which the page does not show %s: %q", text, read, unseen(t, parts), page(t, text))
	}
}

func word(n int) string { return fmt.Sprintf("Q%dQ", n) }

// unseen returns a word that the agent reads, and that the page does not show.
func unseen(t *testing.T, parts []string) string {
	t.Helper()
	text := strings.Join(parts, "")
	read, _ := clean.ForAgent(text, 0)
	isRead := func(part string) bool { return part[0] == 'Q' && strings.Contains(read, part) }
	if !slices.ContainsFunc(parts, isRead) {
		return ""
	}
	seen := visible(t, page(t, text))
	if at := slices.IndexFunc(parts, func(part string) bool { return isRead(part) && !strings.Contains(seen, part) }); at >= 0 {
		return parts[at]
	}
	return ""
}

func page(t *testing.T, text string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Getenv("CMARK"), "--unsafe", "-e", "footnotes", "-e", "table", "-e", "strikethrough", "-e", "autolink", "-e", "tasklist", "-e", "tagfilter")
	cmd.Stdin = strings.NewReader(text)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// visible returns the text of a page, with addresses and languages of code.
func visible(t *testing.T, page string) string {
	t.Helper()
	top := &html.Node{Type: html.ElementNode, Data: "div", DataAtom: atom.Div}
	nodes, err := html.ParseFragment(bytes.NewBufferString(page), top)
	if err != nil {
		t.Fatal(err)
	}
	var seen strings.Builder
	var add func(n *html.Node)
	add = func(n *html.Node) {
		if n.Type == html.TextNode {
			seen.WriteString(n.Data)
		}
		if slices.Contains([]string{"script", "style", "rp", "template", "textarea", "title", "iframe", "xmp", "noembed", "noframes", "object", "video", "audio", "canvas"}, n.Data) {
			return
		}
		for _, a := range n.Attr {
			if a.Key == "href" || n.Data == "code" && a.Key == "class" {
				seen.WriteString(" " + a.Val + " ")
			}
		}
		for c := range n.ChildNodes() {
			add(c)
		}
	}
	for _, n := range nodes {
		add(n)
	}
	return seen.String()
}
