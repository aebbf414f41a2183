package clean

import (
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

type tagKind int

const (
	droppedTag  tagKind = iota // GitHub drops it, so its name can hide words
	keptTag                    // kept without its attributes
	smallTag                   // kept; many in each other make text too small to see
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
	set(keptTag, `h1 h2 h3 h4 b i strong em a pre div ins del p picture ol ul
		table thead tbody tfoot blockquote dl dt dd q var ruby li tr td th s strike summary
		details caption figure figcaption abbr bdo cite dfn mark span time`)
	set(smallTag, "sup sub small rt code tt kbd samp h5 h6")
	set(keptVoidTag, "br hr wbr")
	set(imageTag, "img source")
	set(hidingTag, `script style template head title textarea iframe noscript noembed noframes xmp
		object svg math video audio canvas`)
	return all
}()

// Without a name, a token is a comment, a declaration or text.
type token struct {
	region
	raw, name     string
	opens, closes bool
	isText        bool
	hidesContent  bool // its content is hidden
	isTiny        bool // its text is too small to see
	isUnseen      bool // GitHub does not see this tag of a hidden element, and leaves it to the browser
}

// findHTML finds comments, attributes, unknown tags, and hidden elements with their content.
func (p document) findHTML(text string, add func(string, region, string)) {
	lines := []byte(mask(text, p.code))
	for i := range lines {
		if text[i] == '\n' {
			lines[i] = '\n'
		}
	}
	if begin := neverShown.FindIndex(lines); begin != nil {
		add("hidden elements", region{begin[0], len(text)}, "")
	}
	if p.unsure >= 0 {
		add("hidden elements", region{p.unsure, len(text)}, "")
	}
	p.findTags(text, p.html, add)
	p.findTags(text, p.lazy, add)
}

func (p document) findTags(text string, within []region, add func(string, region, string)) {
	var pieces []token
	for _, r := range within {
		pieces = append(pieces, p.tokenize(text, r)...)
	}
	ends := endsOfHidden(pieces)
	if i := slices.IndexFunc(pieces, func(t token) bool { return t.isTiny || t.isUnseen }); i >= 0 {
		add("hidden elements", region{pieces[i].from, len(text)}, "")
	}
	for i := 0; i < len(pieces); i++ {
		end, hides := ends[i]
		if !hides {
			what, kept := pieces[i].keptText()
			add(what, pieces[i].region, kept)
			continue
		}
		add("hidden elements", region{pieces[i].from, pieces[end].to}, "")
		i = end
	}
}

// tokenize follows browsers, not CommonMark: in an HTML block even a malformed tag hides
// words. GitHub shows the tags as text whose content browsers would not parse.
func (p document) tokenize(source string, r region) []token {
	var all []token
	// A paragraph may follow, whose tag ends an open one, but no comment or attribute.
	z := html.NewTokenizer(strings.NewReader(string(p.page[r.from:r.to]) + "\n<p>"))
	isOneTag := strings.HasPrefix(source[r.from:], "<?") || strings.HasPrefix(source[r.from:], "<![") // for browsers it ends at a >
	for at := r.from; at < r.to; {
		kind := z.Next()
		z.NextIsNotRawText()
		raw := string(z.Raw())
		t := token{region: region{at, min(at+len(raw), r.to)}}
		at += max(len(raw), 1)
		t.describe(kind, z)
		isCut := tagKinds[t.name] == hidingTag && strings.Contains(raw[1:], "<") // GitHub shows its beginning as text
		t.isUnseen = isOneTag && t.hidesContent || isCut
		if kind == html.ErrorToken || kind == html.CommentToken && isOpenComment(raw) {
			t.to = len(source) // hides the rest of the page
		}
		t.raw = source[t.from:t.to]
		all = append(all, t)
		if t.to == len(source) {
			break
		}
	}
	return all
}

func isOpenComment(raw string) bool {
	return strings.HasPrefix(raw, "<!--") && !strings.HasSuffix(raw, "-->") && !strings.HasSuffix(raw, "--!>")
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

// neverShown begins an element that GitHub keeps, of which other tags can make a browser ignore the end, or a footnote or
// definition that the parser does not see: in an item with a box, or with a backslash before the end.
var neverShown = regexp.MustCompile(`(?mi)<rp[\s/>]|^[ \t>*+\-0-9.)]+\[[ x]\][ \t]+(?:\[\^[^\]\s]+\]:|\[[^\]\n]+\]:[ \t]*(?:\S+[ \t]*(?:["'(].*)?)?$)|\]:\s*\S+\s+["'][^"']*\\["'][ \t]*$`)

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
	small := 0 // the open elements that make text smaller
	for i, p := range pieces {
		switch begun := open[p.name]; {
		case p.opens:
			open[p.name] = append(begun, i)
			if IsSmall(p.name) {
				small++
			}
			pieces[i].isTiny = small > MaxSmall
		case p.closes && len(begun) > 0:
			begin := begun[len(begun)-1]
			open[p.name] = begun[:len(begun)-1]
			if IsSmall(p.name) {
				small--
			}
			if pieces[begin].hidesContent {
				ends[begin] = i
			}
		}
	}
	return ends
}

// MaxSmall is how many elements in each other may make text smaller. With more it is too small to see.
const MaxSmall = 3

// IsSmall reports whether an element makes its text smaller.
func IsSmall(name string) bool { return tagKinds[name] == smallTag }

var bareTag = regexp.MustCompile(`^</?[A-Za-z0-9]+[ ]?/?>$`)

func (p token) keptText() (gone, kept string) {
	// A hiding tag that never ends is shown as text.
	known := tagKinds[p.name] != droppedTag && tagKinds[p.name] != imageTag
	switch {
	case p.isText:
		return "", p.raw
	case p.name == "":
		return "HTML comments", ""
	case !known:
		return "HTML tags", ""
	case bareTag.MatchString(p.raw):
		return "", p.raw
	case p.closes:
		return "attributes of tags", "</" + p.name + ">"
	}
	return "attributes of tags", "<" + p.name + ">"
}

// findComments finds comments that the Markdown parser does not see.
func (p document) findComments(text string, add func(string, region, string)) {
	masked := p.markdown(text)
	for at := 0; ; {
		i := strings.Index(masked[at:], "<!--")
		if i < 0 {
			return
		}
		from := at + i
		at = len(text)
		if end := strings.Index(text[from+4:], "-->"); end >= 0 {
			at = from + 4 + end + 3
		}
		add("HTML comments", region{from, at}, "")
	}
}
