package report

import (
	"html/template"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/util"
)

// phrase returns Markdown of one paragraph as HTML.
func phrase(markdown string) template.HTML {
	text := render(markdown, util.Prioritized(parser.NewParagraphParser(), 1000))
	return template.HTML(strings.TrimSuffix(strings.TrimPrefix(text, "<p>"), "</p>\n")) //nolint:gosec // goldmark has escaped it
}

// paragraphs returns Markdown as HTML.
func paragraphs(markdown string) template.HTML {
	return template.HTML(render(markdown, parser.DefaultBlockParsers()...)) //nolint:gosec // goldmark has escaped it
}

// render knows neither links nor pictures, so that foreign text has none.
func render(markdown string, blocks ...util.PrioritizedValue) string {
	var out strings.Builder
	reader := goldmark.New(goldmark.WithParser(parser.NewParser(parser.WithBlockParsers(blocks...), parser.WithInlineParsers(
		util.Prioritized(parser.NewCodeSpanParser(), 100), util.Prioritized(parser.NewRawHTMLParser(), 400), util.Prioritized(parser.NewEmphasisParser(), 500),
	))))
	_ = reader.Convert([]byte(markdown), &out) // to memory
	return strings.NewReplacer("<!-- raw HTML omitted -->", "", "<em>", "<strong>", "</em>", "</strong>").Replace(out.String())
}
