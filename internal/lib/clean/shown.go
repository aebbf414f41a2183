package clean

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
	nethtml "golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Page is what a page shows people, as Markdown for an agent.
type Page struct {
	Text      string
	Addresses []string // of its pictures, and of links with a text or a picture
	Removed   Removed  // what the text lacks of the page
}

// FromHTML converts a text that GitHub has rendered. It keeps at most limit bytes (0: no limit).
// Pictures, formulas, diagrams, footnotes and hidden elements are removed and counted.
func FromHTML(page string, limit int) Page {
	p := Page{Removed: Removed{}}
	body := &nethtml.Node{Type: nethtml.ElementNode, Data: "body", DataAtom: atom.Body}
	nodes, err := nethtml.ParseFragment(strings.NewReader(page), body)
	if err != nil { // nested deeper than a page can show
		p.Removed.add("pages that cannot be read")
		return p
	}
	for _, n := range nodes {
		body.AppendChild(n)
	}
	c := converter{page: &p}
	p.Text = limitBytes(c.blocks(body, false), limit, p.Removed)
	return p
}

// FromMarkdown converts a text as GitHub would render it.
func FromMarkdown(text string, limit int) Page { return FromHTML(Render(text), limit) }

// renderer is made when it is first used: each start would make its tables.
var renderer = sync.OnceValue(func() goldmark.Markdown {
	return goldmark.New(
		goldmark.WithExtensions(extension.GFM, extension.Footnote),
		goldmark.WithRendererOptions(html.WithUnsafe(), html.WithHardWraps()),
	)
})

// shownAsText are tags that GFM shows as text, because browsers would not parse what follows.
var shownAsText = regexp.MustCompile(
	`(?i)<(/?(?:title|textarea|style|xmp|iframe|noembed|noframes|script|plaintext)[\s/>])`,
)

// Render renders Markdown about as GitHub does. The result is not safe for browsers.
func Render(text string) string {
	var page bytes.Buffer
	if err := renderer().Convert([]byte(text), &page); err != nil {
		panic(err) // a buffer takes everything
	}
	return shownAsText.ReplaceAllString(page.String(), "&lt;$1")
}

// converter writes the elements of a page as Markdown.
type converter struct{ page *Page }

func namesOf(names string) map[string]bool {
	all := map[string]bool{}
	for name := range strings.FieldsSeq(names) {
		all[name] = true
	}
	return all
}

var (
	hiddenTags = namesOf(`script style template head title textarea iframe noscript noembed noframes object canvas
		select rp`)
	blockTags = namesOf(`address article aside blockquote center dd details div dl dt figcaption figure footer
		h1 h2 h3 h4 h5 h6 header hr li main markdown-accessiblity-table nav ol p pre section summary table ul`)
	undrawn     = namesOf("mermaid geojson topojson stl")
	hidingStyle = regexp.MustCompile(
		`(?i)display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|(?:opacity|font-size)\s*:\s*0`,
	)
)

// skips reports whether the text lacks an element, and counts what people miss in it.
func (c *converter) skips(n *nethtml.Node) bool {
	var what string
	class := attribute(n, "class")
	switch {
	case n.Type != nethtml.ElementNode:
		return n.Type != nethtml.TextNode
	case n.Data == "svg", strings.Contains(class, "footnote-ref"), hasAttribute(n, "data-footnote-ref"):
		return true
	case n.Data == "img":
		what = "images"
	case n.Data == "video", n.Data == "audio":
		what = "videos"
	case n.Data == "math", n.Data == "math-renderer", n.Data == "pre" && language(n) == "math":
		what = "formulas"
	case strings.Contains(class, "js-render-needs-enrichment"), n.Data == "pre" && undrawn[language(n)]:
		what = "diagrams"
	case class == "footnotes", hasAttribute(n, "data-footnotes"):
		what = "footnotes"
	case hiddenTags[n.Data], hasAttribute(n, "hidden"), hidingStyle.MatchString(attribute(n, "style")):
		what = "hidden elements"
	default:
		return false
	}
	if source := attribute(n, "src"); source != "" && !isTiny(n) {
		c.page.Addresses = append(c.page.Addresses, source)
	}
	c.page.Removed.add(what)
	return true
}

// within calls do for what n has in it.
func (c *converter) within(n *nethtml.Node, do func(*nethtml.Node)) {
	for child := range n.ChildNodes() {
		if !c.skips(child) {
			do(child)
		}
	}
}

// blocks returns the blocks in n. In an item of a tight list, lists and code follow without an empty line.
func (c *converter) blocks(n *nethtml.Node, tight bool) string {
	f := flow{converter: c, tight: tight}
	c.within(n, f.add)
	f.endParagraph()
	return f.out.String()
}

// flow is a sequence of blocks.
type flow struct {
	*converter
	tight bool
	line  strings.Builder // the paragraph so far
	out   strings.Builder
}

func (f *flow) add(n *nethtml.Node) {
	switch n.Data {
	case "pre":
		f.code(language(n), f.plain(n))
	case "blockquote":
		f.block(quote(f.blocks(n, false)))
	case "ul", "ol":
		f.block(f.list(n))
	case "table":
		f.block(f.table(n))
	case "hr":
		f.block("---")
	case "h1", "h2", "h3", "h4", "h5", "h6":
		if text := OneLine(boxes.Replace(f.inline(n))); text != "" {
			f.block(strings.Repeat("#", int(n.Data[1]-'0')) + " " + text)
		}
	default:
		switch {
		case strings.Contains(attribute(n, "class"), "js-suggested-changes-blob"):
			f.code("diff", f.suggested(n))
		case blockTags[n.Data]:
			f.endParagraph()
			f.within(n, f.add)
			f.endParagraph()
		case n.Type == nethtml.ElementNode && hasBlocks(n):
			f.within(n, f.add)
		default:
			f.line.WriteString(f.inlineNode(n))
		}
	}
}

func hasBlocks(n *nethtml.Node) bool {
	for inner := range n.Descendants() {
		if blockTags[inner.Data] && inner.Type == nethtml.ElementNode {
			return true
		}
	}
	return false
}

func (f *flow) block(text string) {
	f.endParagraph()
	f.write(text, f.tight)
}

func (f *flow) write(text string, tight bool) {
	switch {
	case text == "":
		return
	case f.out.Len() > 0 && tight:
		f.out.WriteString("\n")
	case f.out.Len() > 0:
		f.out.WriteString("\n\n")
	}
	f.out.WriteString(text)
}

func (f *flow) endParagraph() {
	var lines []string
	for line := range strings.SplitSeq(f.line.String(), "\n") {
		line = strings.Trim(line, " ")
		if line != "" {
			lines = append(lines, boxes.Replace(escapeStart(line)))
		}
	}
	f.line.Reset()
	f.write(strings.Join(lines, "\n"), false)
}

// indented puts mark before the first line of text, and as much space before the others.
func indented(mark, text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		if i > 0 && lines[i] != "" {
			lines[i] = strings.Repeat(" ", len(mark)) + lines[i]
		}
	}
	return mark + strings.Join(lines, "\n")
}

func quote(text string) string {
	if text == "" {
		return ""
	}
	return "> " + strings.ReplaceAll(strings.ReplaceAll(text, "\n", "\n> "), "\n> \n", "\n>\n")
}

// code adds a block of code. Its fence is longer than those in it.
func (f *flow) code(language, code string) {
	if code != "" && !strings.HasSuffix(code, "\n") {
		code += "\n"
	}
	f.block(fence(language, code))
}

func (c *converter) list(n *nethtml.Node) string {
	number, err := strconv.Atoi(attribute(n, "start"))
	if err != nil {
		number = 1
	}
	between := "\n"
	for item := range n.ChildNodes() {
		for block := range item.ChildNodes() {
			if block.Data == "p" {
				between = "\n\n"
			}
		}
	}
	var items []string
	c.within(n, func(item *nethtml.Node) {
		text := c.blocks(item, between == "\n")
		mark := "- "
		if n.Data == "ol" {
			mark = fmt.Sprintf("%d. ", number)
		}
		if text != "" {
			items = append(items, indented(mark, text))
			number++
		}
	})
	return strings.Join(items, between)
}

// table writes the rows of a table; the first one is its head.
func (c *converter) table(n *nethtml.Node) string {
	var rows [][]string
	var read func(*nethtml.Node)
	read = func(part *nethtml.Node) {
		switch part.Data {
		case "tr":
			rows = append(rows, nil)
			c.within(part, read)
		case "th", "td":
			text := strings.ReplaceAll(OneLine(c.blocks(part, false)), "|", `\|`)
			if len(rows) > 0 {
				rows[len(rows)-1] = append(rows[len(rows)-1], text)
			}
		case "thead", "tbody", "tfoot":
			c.within(part, read)
		}
	}
	c.within(n, read)
	columns := 0
	for _, row := range rows {
		columns = max(columns, len(row))
	}
	if columns == 0 {
		return ""
	}
	var lines []string
	for i, row := range rows {
		row = append(row, make([]string, columns-len(row))...)
		lines = append(lines, "| "+strings.Join(row, " | ")+" |")
		if i == 0 {
			lines = append(lines, "|"+strings.Repeat("---|", columns))
		}
	}
	return strings.Join(lines, "\n")
}

// suggested returns a reviewer's suggestion as the diff that GitHub shows: its text alone does not say which lines it
// replaces.
func (c *converter) suggested(n *nethtml.Node) string {
	var lines strings.Builder
	for cell := range n.Descendants() {
		var mark string
		switch class := attribute(cell, "class"); {
		case strings.Contains(class, "blob-code-deletion"):
			mark = "-"
		case strings.Contains(class, "blob-code-addition"):
			mark = "+"
		default:
			continue
		}
		lines.WriteString(mark + strings.TrimSuffix(c.plain(cell), "\n") + "\n")
	}
	return lines.String()
}

var languageName = regexp.MustCompile(`^[A-Za-z0-9_+#.-]{1,32}$`)

// language returns the language of a code block: GitHub names it in three places.
func language(pre *nethtml.Node) string {
	ofParent, ofCode := "", ""
	if pre.Parent != nil {
		_, ofParent, _ = strings.Cut(attribute(pre.Parent, "class"), "highlight-source-")
	}
	if code := pre.FirstChild; code != nil {
		_, ofCode, _ = strings.Cut(attribute(code, "class"), "language-")
	}
	name, _, _ := strings.Cut(cmp.Or(attribute(pre, "lang"), ofParent, ofCode), " ")
	return languageName.FindString(name)
}

func attribute(n *nethtml.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func hasAttribute(n *nethtml.Node, name string) bool {
	for _, a := range n.Attr {
		if a.Key == name {
			return true
		}
	}
	return false
}

const minSide = 20 // pixels

// isTiny reports whether people hardly see a picture.
func isTiny(n *nethtml.Node) bool {
	for _, name := range []string{"width", "height"} {
		side, err := strconv.Atoi(strings.TrimRight(attribute(n, name), "px% "))
		if err == nil && side < minSide {
			return true
		}
	}
	return false
}
