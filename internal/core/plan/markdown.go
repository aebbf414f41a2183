package plan

import (
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
