package plan

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/ralph-loop/ralph/internal/jsontree"
	"github.com/ralph-loop/ralph/internal/pattern"
)

// document is a parsed body. Tables stay paragraphs, which keep their lines.
type document struct {
	src []byte
	doc ast.Node
}

func parseMarkdown(body string) document {
	md := goldmark.New(goldmark.WithExtensions(extension.TaskList, extension.Strikethrough))
	src := []byte(body)
	return document{src, md.Parser().Parse(text.NewReader(src))}
}

// normalize repairs a browser's text: line breaks, UTF-8, no control characters except tabs.
func normalize(body string) string {
	body = strings.TrimPrefix(strings.ToValidUTF8(body, "\uFFFD"), "\uFEFF")
	body = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(body)
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, body)
}

// inlineLine returns a heading or paragraph on one line as people see it, without struck text.
func (p document) inlineLine(n ast.Node) string { return oneLine(p.inlineText(n)) }

func (p document) inlineText(n ast.Node) string {
	var out strings.Builder
	p.writeInline(&out, n)
	return out.String()
}

func (p document) writeInline(out *strings.Builder, parent ast.Node) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Text:
			out.Write(p.textBytes(n))
			if n.SoftLineBreak() || n.HardLineBreak() {
				out.WriteByte('\n')
			}
		case *ast.CodeSpan:
			out.WriteString("`" + p.inlineText(n) + "`")
		case *ast.AutoLink:
			out.Write(n.Label(p.src))
		case *ast.Image, *ast.RawHTML, *east.Strikethrough, *east.TaskCheckBox:
		default:
			p.writeInline(out, n)
		}
	}
}

func (p document) textBytes(n *ast.Text) []byte {
	raw := n.Segment.Value(p.src)
	if n.IsRaw() {
		return raw
	}
	return util.UnescapePunctuations(util.ResolveEntityNames(util.ResolveNumericReferences(raw)))
}

// blockMarkdown returns a block as Markdown for a description, without HTML.
func (p document) blockMarkdown(n ast.Node) string {
	if isTooDeep(n) {
		return ""
	}
	switch n := n.(type) {
	case *ast.Paragraph, *ast.TextBlock:
		return p.paragraphMarkdown(n)
	case *ast.Heading:
		return strings.Repeat("#", n.Level) + " " + p.inlineLine(n)
	case *ast.FencedCodeBlock:
		return p.fenceMarkdown(n, string(n.Language(p.src)))
	case *ast.CodeBlock:
		return p.fenceMarkdown(n, "")
	case *ast.List:
		return p.listMarkdown(n)
	case *ast.Blockquote:
		return "> " + indent(p.childBlocks(n, "\n\n"), "> ")
	default:
		return ""
	}
}

// isTooDeep reports whether a block is nested deeper than people write. Such blocks could take hours.
func isTooDeep(n ast.Node) bool {
	for range jsontree.MaxDepth {
		if n = n.Parent(); n == nil {
			return false
		}
	}
	return true
}

func (p document) childBlocks(parent ast.Node, between string) string {
	return p.joinBlocks(children(parent), between)
}

func children(parent ast.Node) (nodes []ast.Node) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		nodes = append(nodes, n)
	}
	return nodes
}

func (p document) joinBlocks(nodes []ast.Node, between string) string {
	var all []string
	for _, n := range nodes {
		if b := p.blockMarkdown(n); b != "" {
			all = append(all, b)
		}
	}
	return strings.Join(all, between)
}

var comment = pattern.Of(`(?s)<!--.*?-->`)

func (p document) paragraphMarkdown(n ast.Node) string {
	raw := comment.ReplaceAllString(string(n.Lines().Value(p.src)), "")
	var lines []string
	for line := range strings.Lines(raw) {
		lines = append(lines, strings.TrimSpace(line))
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

func (p document) fenceMarkdown(n ast.Node, language string) string {
	marks := "```"
	code := n.Lines().Value(p.src)
	if len(bytes.TrimSpace(code)) == 0 {
		return ""
	}
	for bytes.Contains(code, []byte(marks)) {
		marks += "`"
	}
	return fmt.Sprintf("%s%s\n%s\n%s", marks, language, bytes.TrimRight(code, "\n"), marks)
}

func (p document) listMarkdown(list *ast.List) string {
	var lines []string
	for item := list.FirstChild(); item != nil; item = item.NextSibling() {
		mark := "- "
		if list.IsOrdered() {
			mark = fmt.Sprintf("%d. ", list.Start+len(lines))
		}
		lines = append(lines, mark+indent(p.childBlocks(item, "\n"), strings.Repeat(" ", len(mark))))
	}
	return strings.Join(lines, "\n")
}

func indent(s, margin string) string { return strings.ReplaceAll(s, "\n", "\n"+margin) }

func offsetOf(n ast.Node) int {
	for ; n != nil && n.Type() == ast.TypeBlock; n = n.FirstChild() {
		if n.Lines().Len() > 0 {
			return n.Lines().At(0).Start
		}
	}
	return 0
}

// Slug turns a title into a branch name: ASCII, lower case, dashes, at most limit characters.
func Slug(title string, limit int) string {
	words := strings.FieldsFunc(asciiLetters(strings.ToLower(title)), func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	slug := ""
	for _, w := range words {
		switch {
		case slug == "":
			slug = w[:min(len(w), limit)]
		case len(slug)+1+len(w) > limit:
			return slug
		default:
			slug += "-" + w
		}
	}
	return cmp.Or(slug, "work")
}

func asciiLetters(s string) string {
	return strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "ß", "ss", "æ", "ae", "ø", "oe", "å", "aa",
		"à", "a", "á", "a", "â", "a", "ã", "a", "ç", "c", "è", "e", "é", "e", "ê", "e", "ë", "e",
		"ì", "i", "í", "i", "î", "i", "ï", "i", "ñ", "n", "ò", "o", "ó", "o", "ô", "o", "õ", "o",
		"ù", "u", "ú", "u", "û", "u", "ý", "y", "ÿ", "y", "'", "", "’", "").Replace(s)
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}
