package clean

import (
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extended "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

type region struct{ from, to int }

// edit replaces a region by a text.
type edit struct {
	region
	with string
}

// apply makes edits in the order of their regions. Of one that begins within another, it only removes the region.
func apply(source string, edits []edit) string {
	var out strings.Builder
	at := 0
	for _, e := range edits {
		if e.from >= at {
			out.WriteString(source[at:e.from] + e.with)
		}
		at = max(at, e.to)
	}
	out.WriteString(source[at:])
	return out.String()
}

// document holds the parts of a Markdown text that concern hidden text. It comes
// from a parser, not a pattern: words could be hidden where this package sees code
// and GitHub sees markup.
type document struct {
	code        []region // shown unchanged
	fences      []region // the fenced blocks among the code
	unsure      int      // what GitHub shows from here on cannot be told; -1: it can
	html        []region // HTML that the browser reads
	lazy        []region // paragraphs in which GitHub can see more of it
	addresses   []region // as <https://e.org>
	excess      []region // cells that GitHub does not show
	footnotes   []region
	definitions []region          // of links
	labels      map[string]string // the address of each
	page        []byte            // the source, without the marks of quotes and lists within HTML
}

// Links and emphasis are not parsed: nested brackets would take more than linear time.
var markdownParser = parser.NewParser(
	parser.WithBlockParsers(append(parser.DefaultBlockParsers(), util.Prioritized(footnotes{extension.NewFootnoteBlockParser()}, 950))...),
	parser.WithInlineParsers(
		util.Prioritized(parser.NewCodeSpanParser(), 100),
		util.Prioritized(parser.NewAutoLinkParser(), 300),
		util.Prioritized(parser.NewRawHTMLParser(), 400),
	),
	parser.WithParagraphTransformers(
		util.Prioritized(parser.LinkReferenceParagraphTransformer, 100),
		util.Prioritized(tables{}, 200),
	),
)

// footnotes stay where they are.
type footnotes struct{ parser.BlockParser }

func (footnotes) Close(ast.Node, text.Reader, parser.Context) {}

func parseMarkdown(source string) document {
	p := document{unsure: -1, labels: map[string]string{}, page: textareaTag.ReplaceAll([]byte(source), []byte("x${2}textarea"))}
	root := markdownParser.Parse(text.NewReader(forParser(source)))
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			p.add(source, n)
		}
		return ast.WalkContinue, nil
	})
	p.addLazyHTML(source)
	p.code = sortRegions(p.code)
	p.fences = sortRegions(p.fences)
	p.html = sortRegions(p.html)
	p.lazy = sortRegions(p.lazy)
	p.footnotes = sortRegions(p.footnotes)
	return p
}

func (p *document) add(source string, n ast.Node) {
	switch n := n.(type) {
	case *ast.CodeBlock:
		p.code = append(p.code, linesRegion(n.Lines()))
	case *ast.FencedCodeBlock:
		p.code = append(p.code, fenceRegion(source, n))
		p.fences = append(p.fences, fenceRegion(source, n))
	case *ast.CodeSpan:
		if r := spanRegion(n); isInAddress(source, r.from) {
			p.lazy = append(p.lazy, region{r.from, endOfParagraph(source, r.from)})
		} else {
			p.code = append(p.code, r)
		}
	case *ast.HTMLBlock:
		p.addHTML(linesOf(n))
	case *ast.RawHTML:
		p.addHTML(n.Segments)
	case *ast.AutoLink:
		p.addresses = append(p.addresses, region{n.Pos(), n.Pos() + len("<>") + len(n.Label([]byte(source)))})
	case *extended.Footnote:
		p.footnotes = append(p.footnotes, footnoteRegion(source, n))
	case *excessCells:
		p.excess = append(p.excess, n.region)
	case *ast.LinkReferenceDefinition:
		p.definitions = append(p.definitions, linesRegion(n.Lines()))
		if label := normalizeLabel(string(n.Label)); p.labels[label] == "" { // the first counts
			p.labels[label] = string(n.Destination)
		}
	}
}

// addHTML also blanks what stands before each line but the first.
func (p *document) addHTML(lines *text.Segments) {
	for i := 1; i < lines.Len(); i++ {
		for at := lines.At(i - 1).Stop; at < lines.At(i).Start; at++ {
			p.page[at] = ' '
		}
	}
	r := linesRegion(lines)
	for r.to > r.from && p.page[r.to-1] == '\n' {
		r.to--
	}
	p.html = append(p.html, r)
}

// footnoteRegion is all lines of a footnote.
func footnoteRegion(source string, n ast.Node) region {
	r := region{from: n.Pos(), to: n.Pos() + 1}
	_ = ast.Walk(n, func(part ast.Node, _ bool) (ast.WalkStatus, error) {
		if part.Type() != ast.TypeBlock {
			return ast.WalkSkipChildren, nil
		}
		r.to = max(r.to, linesRegion(linesOf(part)).to)
		if fence, is := part.(*ast.FencedCodeBlock); is {
			r.to = max(r.to, fenceRegion(source, fence).to)
		}
		return ast.WalkContinue, nil
	})
	if end := strings.IndexByte(source[r.to-1:], '\n'); end >= 0 {
		return region{r.from, r.to - 1 + end}
	}
	return region{r.from, len(source)}
}

// linesOf returns all lines of a block. goldmark keeps the one that ends HTML apart.
func linesOf(n ast.Node) *text.Segments {
	block, is := n.(*ast.HTMLBlock)
	if !is || !block.HasClosure() || block.ClosureLine.Stop <= linesRegion(block.Lines()).to {
		return n.Lines()
	}
	lines := text.NewSegments()
	lines.AppendAll(block.Lines().Sliced(0, block.Lines().Len()))
	lines.Append(block.ClosureLine)
	return lines
}

func linesRegion(lines *text.Segments) region {
	if lines.Len() == 0 {
		return region{}
	}
	return region{lines.At(0).Start, lines.At(lines.Len() - 1).Stop}
}

func fenceRegion(source string, n *ast.FencedCodeBlock) region {
	at := max(n.Pos(), 0)
	end := strings.IndexByte(source[at:], '\n')
	if end < 0 {
		return region{at, len(source)}
	}
	return region{at, max(at+end, linesRegion(n.Lines()).to)}
}

func spanRegion(n *ast.CodeSpan) region {
	first, isText := n.FirstChild().(*ast.Text)
	last, alsoText := n.LastChild().(*ast.Text)
	if !isText || !alsoText {
		return region{}
	}
	return region{first.Segment.Start, last.Segment.Stop}
}

// isInAddress: GitHub takes the backtick as part of an address before it.
func isInAddress(source string, at int) bool {
	before := source[max(0, at-maxWord):at]
	// The parser skips a space just inside the backticks.
	if trimmed := strings.TrimRight(before, " \n"); strings.HasSuffix(trimmed, "`") {
		before = strings.TrimRight(trimmed, "`")
	}
	space := strings.LastIndexAny(before, " \t\n")
	if space < 0 && at > maxWord {
		return true
	}
	word := strings.ToLower(before[space+1:])
	return strings.Contains(word, "://") || strings.Contains(word, "www.")
}

// maxWord: a longer word before a code span counts as an address.
const maxWord = 2048

// sortRegions also removes empty regions, and joins those that begin within another.
func sortRegions(all []region) (joined []region) {
	slices.SortFunc(all, func(a, b region) int { return a.from - b.from })
	for _, r := range all {
		switch last := len(joined) - 1; {
		case r.from >= r.to:
		case last >= 0 && r.from < joined[last].to:
			joined[last].to = max(joined[last].to, r.to)
		default:
			joined = append(joined, r)
		}
	}
	return joined
}

func (p document) mapProse(source string, change func(string) string) string {
	var out strings.Builder
	at := 0
	for _, c := range p.code {
		out.WriteString(change(source[at:c.from]))
		out.WriteString(source[c.from:c.to])
		at = c.to
	}
	out.WriteString(change(source[at:]))
	return out.String()
}

// mask returns source with an x for each byte of regions.
func mask(source string, regions ...[]region) string {
	masked := []byte(source)
	for i, within := range cover(len(source), regions...) {
		if within {
			masked[i] = 'x'
		}
	}
	return string(masked)
}

// cover returns for each of size places whether it is in a region.
func cover(size int, regions ...[]region) []bool {
	all := make([]bool, size)
	for _, r := range slices.Concat(regions...) {
		for i := r.from; i < r.to; i++ {
			all[i] = true
		}
	}
	return all
}

// markdown returns source without what is no Markdown: code, HTML, addresses.
func (p document) markdown(source string) string {
	return mask(source, p.code, p.html, p.lazy, p.addresses)
}
