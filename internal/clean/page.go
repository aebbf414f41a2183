package clean

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
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

// apply makes edits in the order of their regions. It leaves out one that begins within another.
func apply(source string, edits []edit) string {
	var out strings.Builder
	at := 0
	for _, e := range edits {
		if e.from >= at {
			out.WriteString(source[at:e.from] + e.with)
			at = e.to
		}
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
	html        []region // HTML that the browser reads
	excess      []region // cells that GitHub does not show
	definitions []definition
}

type definition struct {
	region
	label, destination, title string
}

// Links and emphasis are not parsed: nested brackets would take more than linear time.
var markdownParser = parser.NewParser(
	parser.WithBlockParsers(parser.DefaultBlockParsers()...),
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

func parseMarkdown(source string) document {
	var p document
	root := markdownParser.Parse(text.NewReader(shallow(source)))
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			p.add(source, n)
		}
		return ast.WalkContinue, nil
	})
	p.code = sortRegions(p.code)
	p.fences = sortRegions(p.fences)
	p.html = sortRegions(p.html)
	return p
}

// The parser's work grows with the square of how deep lists and quotes are in others. In
// lists, GitHub's limit is the same.
const maxDepth = 100

var marker = regexp.MustCompile(`^[ \t]*(?:>|(?:[-+*]|[0-9]{1,9}[.)])(?:\s|$))`)

// shallow returns source with deeper parts as text without code, which could end elsewhere
// on the page.
func shallow(source string) []byte {
	all := []byte(source)
	for line := range bytes.Lines(all) {
		found := line
		for depth := 0; depth < maxDepth && len(found) > 0; depth++ {
			found = marker.Find(line)
			line = line[len(found):]
		}
		if len(found) > 0 && marker.Match(line) {
			copy(line, "x"+strings.ReplaceAll(string(line[1:]), "`", "x"))
		}
	}
	return all
}

func (p *document) add(source string, n ast.Node) {
	switch n := n.(type) {
	case *ast.CodeBlock:
		p.code = append(p.code, linesRegion(n.Lines()))
	case *ast.FencedCodeBlock:
		p.code = append(p.code, fenceRegion(source, n))
		p.fences = append(p.fences, fenceRegion(source, n))
	case *ast.CodeSpan:
		if r := spanRegion(n); !isInAddress(source, r.from) {
			p.code = append(p.code, r)
		}
	case *ast.HTMLBlock:
		r := linesRegion(n.Lines())
		if n.HasClosure() {
			r.to = max(r.to, n.ClosureLine.Stop)
		}
		p.html = append(p.html, r)
	case *ast.RawHTML:
		p.html = append(p.html, linesRegion(n.Segments))
	case *excessCells:
		p.excess = append(p.excess, n.region)
	case *ast.LinkReferenceDefinition:
		p.definitions = append(p.definitions, definition{
			linesRegion(n.Lines()), string(n.Label), string(n.Destination), string(n.Title),
		})
	}
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

// sortRegions also removes empty regions, and those that begin within another.
func sortRegions(all []region) []region {
	slices.SortFunc(all, func(a, b region) int { return a.from - b.from })
	end := 0
	return slices.DeleteFunc(all, func(r region) bool {
		if r.from < end || r.from >= r.to {
			return true
		}
		end = r.to
		return false
	})
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

// maskCode returns source with an x for each byte of code.
func (p document) maskCode(source string) string {
	masked := []byte(source)
	for _, c := range p.code {
		for i := c.from; i < c.to; i++ {
			masked[i] = 'x'
		}
	}
	return string(masked)
}
