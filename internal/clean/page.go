package clean

import (
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// region is a part of a text, from its first byte to after its last.
type region struct{ from, to int }

// document is how a Markdown reader sees a text, as far as hidden parts go. It uses
// a parser, not a pattern: if this package saw code where GitHub sees markup,
// words could be hidden there.
type document struct {
	code        []region // shown as it stands
	fences      []region // those of the code that have one
	html        []region // read by the browser
	definitions []definition
}

// definition is a link reference definition: [label]: destination "title".
type definition struct {
	region
	label, destination, title string
}

// Links and emphasis are left out: they hide nothing that links.go does not
// find, and nested brackets would cost more than linear time.
var markdownParser = parser.NewParser(
	parser.WithBlockParsers(parser.DefaultBlockParsers()...),
	parser.WithInlineParsers(
		util.Prioritized(parser.NewCodeSpanParser(), 100),
		util.Prioritized(parser.NewAutoLinkParser(), 300),
		util.Prioritized(parser.NewRawHTMLParser(), 400),
	),
	parser.WithParagraphTransformers(
		util.Prioritized(parser.LinkReferenceParagraphTransformer, 100),
		util.Prioritized(extension.NewTableParagraphTransformer(), 200),
	),
	parser.WithASTTransformers(util.Prioritized(extension.NewTableASTTransformer(), 0)),
)

func parseMarkdown(source string) document {
	var p document
	bytes := []byte(source)
	root := markdownParser.Parse(text.NewReader(bytes))
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

func (p *document) add(source string, n ast.Node) {
	switch n := n.(type) {
	case *ast.CodeBlock:
		p.code = appendRegion(p.code, linesRegion(n.Lines()))
	case *ast.FencedCodeBlock:
		p.code = appendRegion(p.code, fenceRegion(source, n))
		p.fences = appendRegion(p.fences, fenceRegion(source, n))
	case *ast.CodeSpan:
		if r := spanRegion(n); !isInAddress(source, r.from) {
			p.code = appendRegion(p.code, r)
		}
	case *ast.HTMLBlock:
		r := linesRegion(n.Lines())
		if n.HasClosure() {
			r.to = max(r.to, n.ClosureLine.Stop)
		}
		p.html = appendRegion(p.html, r)
	case *ast.RawHTML:
		p.html = appendRegion(p.html, linesRegion(n.Segments))
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

// fenceRegion reaches from the opening fence to the last line of code; the closing
// fence has nothing in it that could be changed.
func fenceRegion(source string, n *ast.FencedCodeBlock) region {
	at := max(n.Pos(), 0)
	end := strings.IndexByte(source[at:], '\n')
	if end < 0 {
		return region{at, len(source)}
	}
	return region{at, max(at+end, linesRegion(n.Lines()).to)}
}

func spanRegion(n *ast.CodeSpan) region {
	first, ok := n.FirstChild().(*ast.Text)
	if !ok {
		return region{}
	}
	last, ok := n.LastChild().(*ast.Text)
	if !ok {
		return region{}
	}
	return region{first.Segment.Start, last.Segment.Stop}
}

// isInAddress says that a code span follows an address without a space. GitHub
// counts the backtick to the address, and what this parser calls code is
// prose there; so it is not trusted to be code.
func isInAddress(source string, at int) bool {
	before := source[max(0, at-maxWord):at]
	// The parser does not count a space just inside the backticks.
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

// A word longer than this before a code span is taken for an address.
const maxWord = 2048

func appendRegion(all []region, r region) []region {
	if r.from >= r.to {
		return all
	}
	return append(all, r)
}

func sortRegions(all []region) []region {
	slices.SortFunc(all, func(a, b region) int { return a.from - b.from })
	end := 0
	return slices.DeleteFunc(all, func(r region) bool {
		if r.from < end {
			return true
		}
		end = r.to
		return false
	})
}

// mapProse applies change to what lies between the code.
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

// codeAt is where the code around at ends, if there is some.
func (p document) codeAt(at int) (end int, inside bool) {
	i, found := slices.BinarySearchFunc(p.code, at, func(r region, at int) int { return r.from - at })
	if !found {
		i--
	}
	if i < 0 || at >= p.code[i].to {
		return at, false
	}
	return p.code[i].to, true
}
