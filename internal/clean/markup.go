package clean

import (
	"regexp"
	"strings"

	"golang.org/x/net/html"
)

type tagKind int

const (
	droppedTag  tagKind = iota // GitHub drops it, so its name can hide words
	keptTag                    // kept without its attributes
	imageTag                   // an image: it has only attributes
	hidingTag                  // its content is hidden
	keptVoidTag                // kept; it has no content
)

var tagKinds = func() map[string]tagKind {
	all := make(map[string]tagKind)
	set := func(f tagKind, names string) {
		for name := range strings.FieldsSeq(names) {
			all[name] = f
		}
	}
	set(keptTag, `h1 h2 h3 h4 h5 h6 b i strong em a pre code tt div ins del sup sub p picture ol ul
		table thead tbody tfoot blockquote dl dt dd kbd q samp var ruby rt rp li tr td th s strike summary
		details caption figure figcaption abbr bdo cite dfn mark small span time`)
	set(keptVoidTag, "br hr wbr")
	set(imageTag, "img source")
	set(hidingTag, `script style template head title textarea iframe noscript noembed noframes xmp
		object svg math`)
	return all
}()

// Without a name, a token is a comment, a declaration or text.
type token struct {
	region
	raw, name     string
	opens, closes bool
	isText        bool
	hidesContent  bool // its content is hidden
}

// dropHTML removes comments, attributes, unknown tags, and hidden elements with their content.
func dropHTML(text string, gone Removed) string {
	if !strings.Contains(text, "<") {
		return text
	}
	var pieces []token
	for _, r := range parseMarkdown(text).html {
		pieces = append(pieces, tokenize(text, r)...)
	}
	var edits []edit
	ends := endsOfHidden(pieces)
	for i := 0; i < len(pieces); i++ {
		end, hidden := ends[i]
		if !hidden {
			edits = append(edits, edit{pieces[i].region, pieces[i].keptText(gone)})
			continue
		}
		gone.add("hidden elements")
		edits = append(edits, edit{region: region{pieces[i].from, pieces[end].to}})
		i = end
	}
	return apply(text, edits)
}

// tokenize follows browsers, not CommonMark: in an HTML block even a malformed tag hides words.
func tokenize(text string, r region) []token {
	var all []token
	z := html.NewTokenizer(strings.NewReader(text[r.from:r.to]))
	at := r.from
	for {
		kind := z.Next()
		raw := string(z.Raw())
		p := token{region: region{at, at + len(raw)}, raw: raw}
		at = p.to
		if kind == html.ErrorToken {
			// The rest is a tag that never ends.
			p.to = r.to
			if p.from < p.to {
				all = append(all, p)
			}
			return all
		}
		p.describe(kind, z)
		all = append(all, p)
	}
}

func (p *token) describe(kind html.TokenType, z *html.Tokenizer) {
	switch kind {
	case html.TextToken:
		p.isText = true
	case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken:
		name, more := z.TagName()
		p.name = string(name)
		p.closes = kind == html.EndTagToken
		p.opens = !p.closes && tagKinds[p.name] != keptVoidTag && tagKinds[p.name] != imageTag
		p.hidesContent = p.opens && (tagKinds[p.name] == hidingTag || hasHidingAttribute(z, more))
	case html.CommentToken, html.DoctypeToken, html.ErrorToken:
	}
}

var hidingStyle = regexp.MustCompile(`(?i)display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|(?:opacity|font-size)\s*:\s*0`)

func hasHidingAttribute(z *html.Tokenizer, more bool) bool {
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		if string(key) == "hidden" || string(key) == "style" && hidingStyle.Match(value) {
			return true
		}
	}
	return false
}

// endsOfHidden returns, for each hidden element by its first token, the token that ends
// it. An element that never ends hides only its tag: people write "the <title> is wrong",
// and GitHub shows the text after it.
func endsOfHidden(pieces []token) map[int]int {
	ends := make(map[int]int)
	open := make(map[string][]int)
	for i, p := range pieces {
		switch begun := open[p.name]; {
		case p.opens:
			open[p.name] = append(begun, i)
		case p.closes && len(begun) > 0:
			begin := begun[len(begun)-1]
			open[p.name] = begun[:len(begun)-1]
			if pieces[begin].hidesContent {
				ends[begin] = i
			}
		}
	}
	return ends
}

var bareTag = regexp.MustCompile(`^</?[A-Za-z0-9]+[ ]?/?>$`)

func (p token) keptText(gone Removed) string {
	// A hiding tag that never ends is shown as text.
	known := tagKinds[p.name] != droppedTag && tagKinds[p.name] != imageTag
	switch {
	case p.isText:
		return p.raw
	case p.name == "":
		gone.add("HTML comments")
		return ""
	case !known:
		gone.add("HTML tags")
		return ""
	case bareTag.MatchString(p.raw):
		return p.raw
	}
	gone.add("attributes of tags")
	if p.closes {
		return "</" + p.name + ">"
	}
	return "<" + p.name + ">"
}

// dropComments finds comments that the Markdown parser does not see.
func dropComments(text string, gone Removed) string {
	if !strings.Contains(text, "<!--") {
		return text
	}
	masked := parseMarkdown(text).maskCode(text)
	var edits []edit
	for at := 0; ; {
		i := strings.Index(masked[at:], "<!--")
		if i < 0 {
			return apply(text, edits)
		}
		from := at + i
		gone.add("HTML comments")
		at = len(text)
		if end := strings.Index(text[from+4:], "-->"); end >= 0 {
			at = from + 4 + end + 3
		}
		edits = append(edits, edit{region: region{from, at}})
	}
}
