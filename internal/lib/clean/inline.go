package clean

import (
	"regexp"
	"strings"
	"sync"

	nethtml "golang.org/x/net/html"
)

// These stand for the boxes of tasks until the text is escaped. Foreign text has no control characters.
const (
	openBox = "\x01"
	doneBox = "\x02"
)

var boxes = strings.NewReplacer(openBox, "[ ]", doneBox, "[x]")

func (c *converter) inline(n *nethtml.Node) string {
	var out strings.Builder
	c.within(n, func(child *nethtml.Node) { out.WriteString(c.inlineNode(child)) })
	return out.String()
}

func (c *converter) inlineNode(n *nethtml.Node) string {
	if n.Type == nethtml.TextNode {
		return escape(dropUnprintable(spaces.ReplaceAllString(n.Data, " "), c.page.Removed))
	}
	switch n.Data {
	case "br":
		return "\n"
	case "strong", "b":
		return marked("**", c.inline(n))
	case "em", "i":
		return marked("_", c.inline(n))
	case "del", "s", "strike":
		return marked("~~", c.inline(n))
	case "code", "tt":
		return codeSpan(c.plain(n))
	case "a":
		return c.link(n)
	case "input":
		switch {
		case attribute(n, "type") != "checkbox":
			return ""
		case hasAttribute(n, "checked"):
			return doneBox
		}
		return openBox
	}
	return c.inline(n)
}

// plain returns the text in n as it is.
func (c *converter) plain(n *nethtml.Node) string {
	var out strings.Builder
	c.within(n, func(child *nethtml.Node) {
		switch {
		case child.Type == nethtml.TextNode:
			out.WriteString(dropUnprintable(child.Data, c.page.Removed))
		case child.Data == "br":
			out.WriteString("\n")
		default:
			out.WriteString(c.plain(child))
		}
	})
	return out.String()
}

// words returns the text in n, shown or not.
func words(n *nethtml.Node) string {
	var out strings.Builder
	for inner := range n.Descendants() {
		if inner.Type == nethtml.TextNode {
			out.WriteString(inner.Data)
		}
	}
	return out.String()
}

// marked puts marks around a text, within its spaces.
func marked(mark, text string) string {
	inner := strings.TrimSpace(text)
	if inner == "" {
		return text
	}
	before, after, _ := strings.Cut(text, inner)
	return before + mark + inner + mark + after
}

func codeSpan(code string) string {
	code = strings.ReplaceAll(code, "\n", " ")
	if strings.TrimSpace(code) == "" {
		return code
	}
	mark := "`"
	for _, run := range ticks.FindAllString(code, -1) {
		mark = strings.Repeat("`", max(len(mark), len(run)+1))
	}
	if strings.HasPrefix(code, "`") || strings.HasSuffix(code, "`") {
		code = " " + code + " "
	}
	return mark + code + mark
}

// ownLinks are those that GitHub makes of mentions and references.
var ownLinks = regexp.MustCompile(`(?:^|\s)(?:user-mention|team-mention|issue-link|commit-link)(?:\s|$)`)

var unsafeInAddress = strings.NewReplacer(
	" ", "%20", "\n", "", "\t", "",
	"(", "%28", ")", "%29", "<", "%3C", ">", "%3E", `\`, "%5C",
)

// link leaves out links without a text: people do not see them.
func (c *converter) link(n *nethtml.Node) string {
	addressesBefore := len(c.page.Addresses)
	text := c.inline(n)
	address := Visible(attribute(n, "href"))
	if strings.TrimSpace(text) == "" && len(c.page.Addresses) == addressesBefore { // no picture, either
		return text
	}
	if address == "" {
		return text
	}
	c.page.Addresses = append(c.page.Addresses, address)
	shown := strings.TrimSpace(words(n))
	switch {
	case strings.TrimSpace(text) == "":
		return text
	case shown == address:
		return address
	case strings.TrimPrefix(address, "http://") == shown, strings.TrimPrefix(address, "mailto:") == shown:
		return shown
	case strings.HasPrefix(address, "#"), ownLinks.MatchString(attribute(n, "class")):
		return text
	}
	return "[" + strings.TrimSpace(text) + "](" + unsafeInAddress.Replace(address) + ")"
}

var (
	spaces = regexp.MustCompile(`[ \t\n\r\f]+`)
	markup = regexp.MustCompile("\\\\[!-/:-@\\[-`{-~]|`|<[A-Za-z/!?]|" +
		"&(?:#[0-9]+|#[xX][0-9a-fA-F]+|[A-Za-z][A-Za-z0-9]*);")
	linked      = regexp.MustCompile(`\[[^\[\]]*\][\[(]`)
	emphasis    = regexp.MustCompile(`\*+[^\s*](?:[^*]*[^\s*])?\*+`)
	underscores = sync.OnceValue(func() *regexp.Regexp { // takes much memory
		return regexp.MustCompile(`(?:^|[^\pL\pN_])_+[^\s_](?:.*?[^\s_])?_+(?:[^\pL\pN_]|$)`)
	})
	strikethrough = regexp.MustCompile(`~~?[^\s~](?:[^~]*[^\s~])?~~?`)
)

// escape has text stay text that would be markup in Markdown, and changes nothing else.
func escape(text string) string {
	text = markup.ReplaceAllString(text, `\$0`)
	text = linked.ReplaceAllString(text, `\$0`)
	each := func(mark string) func(string) string {
		return func(found string) string { return strings.ReplaceAll(found, mark, `\`+mark) }
	}
	text = emphasis.ReplaceAllStringFunc(text, each("*"))
	text = underscores().ReplaceAllStringFunc(text, each("_"))
	return strikethrough.ReplaceAllStringFunc(text, each("~"))
}

var (
	beginsBlock = regexp.MustCompile(`^(?:#{1,6}(?:\s|$)|[-+*](?:\s|$)|>|` +
		`(?:=+|-{2,}|\*{3,}|_{3,})\s*$|~~~|\[[^\]]*\]:|\[[ xX]\]\s)`)
	beginsItem = regexp.MustCompile(`^([0-9]{1,9})([.)](?:\s|$))`)
)

// escapeStart is escape for what is markup at the start of a line.
func escapeStart(line string) string {
	if beginsBlock.MatchString(line) {
		return `\` + line
	}
	return beginsItem.ReplaceAllString(line, `$1\$2`)
}
