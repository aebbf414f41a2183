package plan

import (
	"bytes"
	"cmp"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/ralph-loop/ralph/internal/lib/clean"
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

// inlineLine returns a heading or paragraph on one line as people see it, without struck text.
func (p document) inlineLine(n ast.Node) string { return clean.OneLine(p.inlineText(n)) }

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
		case *ast.RawHTML:
			out.Write(n.Segments.Value(p.src))
		case *ast.Image, *east.Strikethrough, *east.TaskCheckBox:
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

// blockMarkdown returns a block as its author wrote it.
func (p document) blockMarkdown(n ast.Node) string {
	switch n.Kind() {
	case ast.KindLinkReferenceDefinition, ast.KindThematicBreak:
		return ""
	case ast.KindCodeBlock:
		return "    " + p.unindented(n, "\n    ")
	case ast.KindFencedCodeBlock:
		if len(bytes.TrimSpace(n.Lines().Value(p.src))) == 0 {
			return ""
		}
		return p.unindented(n, "\n")
	}
	return strings.TrimSpace(p.unindented(n, "\n"))
}

// unindented returns the lines of a block without the indent that they have in a list.
func (p document) unindented(n ast.Node, between string) string {
	to := p.endOf(n)
	from := min(n.Pos(), to)
	margin := from - 1 - bytes.LastIndexByte(p.src[:from], '\n')
	lines := strings.Split(strings.TrimRight(string(p.src[from:to]), " \t\n"), "\n")
	for i, line := range lines[1:] {
		indent := len(line) - len(strings.TrimLeft(line, " "))
		lines[i+1] = line[min(margin, indent):]
	}
	return strings.Join(lines, between)
}

// endOf returns where the next block begins. Behind a tab, the parser's position of an empty heading or quote is off.
func (p document) endOf(n ast.Node) int {
	for ; n != nil; n = n.Parent() {
		if next := n.NextSibling(); next != nil {
			return min(next.Pos(), len(p.src))
		}
	}
	return len(p.src)
}

func children(parent ast.Node) []ast.Node {
	var nodes []ast.Node
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		nodes = append(nodes, n)
	}
	return nodes
}

// Slug turns a title into a branch name: ASCII, lower case, dashes, at most limit characters.
func Slug(title string, limit int) string {
	words := strings.FieldsFunc(asciiLetters(strings.ToLower(title)), func(r rune) bool {
		if r > unicode.MaxASCII {
			return true
		}
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
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
