package report

import (
	"html"
	"html/template"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extensionast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	goldmarkhtml "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/ralph-loop/ralph/internal/lib/pattern"
)

// markdownToHTML is made when it is first used.
var markdownToHTML = sync.OnceValue(func() goldmark.Markdown {
	return goldmark.New(
		goldmark.WithExtensions(extension.Table),
		goldmark.WithParserOptions(parser.WithASTTransformers(util.Prioritized(columnNames{}, 100))),
		goldmark.WithRendererOptions(
			goldmarkhtml.WithHardWraps(), // as GitHub does in comments
			renderer.WithNodeRenderers(util.Prioritized(pageNodes{}, 100)),
		),
	)
})

// render returns Markdown of package view as HTML. Tags that its texts do not use are shown as text, and pictures as
// their description.
func render(markdown string) template.HTML {
	var out strings.Builder
	_ = markdownToHTML().Convert([]byte(markdown), &out) // to memory
	return template.HTML(out.String())                   //nolint:gosec // goldmark and pageNodes have escaped it
}

// columnNames names the column in each cell of a table: a narrow window has no room for the head.
type columnNames struct{}

// Transform implements parser.ASTTransformer.
func (columnNames) Transform(document *ast.Document, reader text.Reader, _ parser.Context) {
	_ = ast.Walk(document, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if table, ok := node.(*extensionast.Table); ok && entering {
			nameColumns(table, reader.Source())
		}
		return ast.WalkContinue, nil
	})
}

func nameColumns(table *extensionast.Table, source []byte) {
	head := table.FirstChild()
	for row := head.NextSibling(); row != nil; row = row.NextSibling() {
		name := head.FirstChild()
		for cell := row.FirstChild(); cell != nil && name != nil; cell = cell.NextSibling() {
			cell.SetAttributeString("data-column", name.Lines().Value(source))
			name = name.NextSibling()
		}
	}
}

// pageNodes renders what goldmark would leave out, or what a page must not have.
type pageNodes struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (pageNodes) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindHTMLBlock, renderHTMLBlock)
	r.Register(ast.KindRawHTML, renderRawHTML)
	r.Register(ast.KindImage, renderImage)
}

func renderHTMLBlock(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	block := node.(*ast.HTMLBlock)
	if !entering {
		return ast.WalkContinue, nil
	}
	writeTags(w, block.Lines().Value(source))
	if block.HasClosure() {
		writeTags(w, block.ClosureLine.Value(source))
	}
	return ast.WalkContinue, nil
}

func renderRawHTML(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		writeTags(w, node.(*ast.RawHTML).Segments.Value(source))
	}
	return ast.WalkSkipChildren, nil
}

// escapedTag matches the tags that the texts of package view have, after they were escaped.
var escapedTag = pattern.Of(`&lt;(/?(?:details|summary|sub|code|br))&gt;`)

// writeTags writes HTML in which all but those tags is escaped.
func writeTags(w util.BufWriter, tags []byte) {
	_, _ = w.WriteString(escapedTag.ReplaceAllString(html.EscapeString(string(tags)), "<$1>"))
}

// renderImage leaves out the picture: a page asks no host for anything. The children are its description.
func renderImage(util.BufWriter, []byte, ast.Node, bool) (ast.WalkStatus, error) {
	return ast.WalkContinue, nil
}
