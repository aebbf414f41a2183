package report

import (
	"bufio"
	"html"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	render "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
)

// span is a stretch of words of one kind.
type span struct {
	Text   string
	Code   bool
	Strong bool
}

// block is a paragraph, with the list that belongs to it.
type block struct {
	Spans []span
	Items [][]span
}

// blocks reads the Markdown of the comment. Only its words are taken: no link,
// no picture and no tag gets through.
func blocks(markdown string) []block {
	source := []byte(markdown)
	var all []block
	root := goldmark.DefaultParser().Parse(text.NewReader(source))
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering || n.Type() != ast.TypeBlock || !hasText(n) {
			return ast.WalkContinue, nil
		}
		all = addBlock(all, n, spansOf(n, source))
		return ast.WalkSkipChildren, nil
	})
	return all
}

// hasText tells of a block that holds words and no blocks.
func hasText(n ast.Node) bool {
	switch n.Kind() {
	case ast.KindParagraph, ast.KindTextBlock, ast.KindHeading:
		return true
	}
	return false
}

// addBlock adds words: an item goes to the paragraph before its list.
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

// spans are the words of Markdown that is no more than a phrase.
func spans(markdown string) []span {
	var all []span
	for _, b := range blocks(markdown) {
		all = append(all, b.Spans...)
		for _, item := range b.Items {
			all = append(all, item...)
		}
	}
	if len(all) == 0 && markdown != "" { // no phrase at all; its words are not lost
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

// spanReader gathers spans.
type spanReader struct {
	spans  []span
	code   int // how deep in code
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

// tag is for <code>, in which words stand that a code span cannot hold.
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

// unescape is text without what Markdown escapes with: read as a page would, and
// read back.
func unescape(raw []byte) string {
	var out strings.Builder
	w := bufio.NewWriter(&out)
	render.DefaultWriter.Write(w, raw)
	_ = w.Flush() // to memory
	return html.UnescapeString(out.String())
}

func isAlphanumeric(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// add joins words to those before them, if they are alike. A code span around
// mere signs only keeps GitHub from acting on them.
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

// spanText is spans as text.
func spanText(all []span) string {
	var text strings.Builder
	for _, s := range all {
		text.WriteString(s.Text)
	}
	return text.String()
}
