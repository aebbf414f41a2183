package report

import (
	"bufio"
	"html"
	"slices"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	render "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
)

type span struct {
	Text   string
	Code   bool
	Strong bool
}

// block is a paragraph with the list that belongs to it.
type block struct {
	Spans []span
	Items [][]span
}

// blocks returns the text of Markdown, without links, pictures and tags.
func blocks(markdown string) []block {
	source := []byte(markdown)
	var all []block
	root := goldmark.DefaultParser().Parse(text.NewReader(source))
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		// A block with text has no other blocks.
		hasText := slices.Contains([]ast.NodeKind{ast.KindParagraph, ast.KindTextBlock, ast.KindHeading}, n.Kind())
		if !entering || !hasText {
			return ast.WalkContinue, nil
		}
		all = addBlock(all, n, spansOf(n, source))
		return ast.WalkSkipChildren, nil
	})
	return all
}

// addBlock adds text; an item of a list goes to the paragraph before the list.
func addBlock(all []block, n ast.Node, words []span) []block {
	if n.Parent() == nil || n.Parent().Kind() != ast.KindListItem {
		return append(all, block{Spans: words})
	}
	if len(all) == 0 {
		all = append(all, block{})
	}
	last := &all[len(all)-1]
	last.Items = append(last.Items, words)
	return all
}

func spans(markdown string) []span {
	var all []span
	for _, b := range blocks(markdown) {
		all = append(all, b.Spans...)
		for _, item := range b.Items {
			all = append(all, item...)
		}
	}
	if len(all) == 0 && markdown != "" { // no text was recognized: show the Markdown
		return []span{{Text: markdown}}
	}
	return all
}

func spansOf(n ast.Node, source []byte) []span {
	var r spanReader
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		r.visit(n, entering, source)
		return ast.WalkContinue, nil
	})
	return r.spans
}

type spanReader struct {
	spans  []span
	code   int // depth in code
	strong int
}

func (r *spanReader) visit(n ast.Node, entering bool, source []byte) {
	step := -1
	if entering {
		step = 1
	}
	switch n := n.(type) {
	case *ast.CodeSpan:
		r.code += step
	case *ast.Emphasis:
		r.strong += step
	case *ast.RawHTML:
		if entering {
			r.tag(string(n.Segments.Value(source)))
		}
	case *ast.AutoLink:
		if entering {
			r.add(string(n.Label(source)))
		}
	case *ast.Text:
		if entering {
			r.text(n, source)
		}
	case *ast.String:
		if entering {
			r.add(string(n.Value))
		}
	}
}

// tag handles <code>, which view.Code writes for text that cannot be in a code span.
func (r *spanReader) tag(tag string) {
	switch tag {
	case "<code>":
		r.code++
	case "</code>":
		r.code = max(r.code-1, 0)
	}
}

func (r *spanReader) text(n *ast.Text, source []byte) {
	raw := n.Segment.Value(source)
	words := string(raw)
	if n.Parent().Kind() != ast.KindCodeSpan {
		words = unescape(raw)
	}
	if n.SoftLineBreak() || n.HardLineBreak() {
		words += " "
	}
	r.add(words)
}

// unescape resolves Markdown's escapes: it renders text as HTML and decodes that.
func unescape(raw []byte) string {
	var out strings.Builder
	w := bufio.NewWriter(&out)
	render.DefaultWriter.Write(w, raw)
	_ = w.Flush() // to memory
	return html.UnescapeString(out.String())
}

func isAlphanumeric(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// add appends text, to the last span if that has the same style. Code without letters is no code: it only prevents
// GitHub from interpreting signs.
func (r *spanReader) add(words string) {
	next := span{Text: words, Code: r.code > 0, Strong: r.strong > 0}
	if next.Code && !strings.ContainsFunc(words, isAlphanumeric) {
		next.Code = false
	}
	if last := len(r.spans) - 1; last >= 0 && r.spans[last].Code == next.Code && r.spans[last].Strong == next.Strong {
		r.spans[last].Text += words
		return
	}
	r.spans = append(r.spans, next)
}

func spanText(all []span) string {
	var text strings.Builder
	for _, s := range all {
		text.WriteString(s.Text)
	}
	return text.String()
}
