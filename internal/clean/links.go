package clean

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/util"
)

// findLinkTexts finds texts and addresses of pictures, and titles and labels of links, which the page does not show. Where only
// GitHub sees HTML, as far as is known, there may be links.
func (p document) findLinkTexts(text string, add func(string, region, string)) {
	masked := mask(text, p.code, p.html, p.addresses, p.definitions)
	pairs := bracketPairs(masked)
	opened := make(map[int]int)
	for from, to := range pairs {
		opened[to] = from
	}
	shown := p.countShown(text)
	for i := 0; i < len(text); i++ {
		if end, isPicture := pairs[i+1]; isPicture && masked[i] == '!' {
			if tail := tailOfPicture(text, i+2, end, pairs, p.labels); tail.to > 0 {
				add("texts of images", region{i + 2, end}, "")
				add("addresses of images", region{end + 1, tail.to}, "("+fileID.FindString(tail.address)+")")
				i = tail.to - 1
			}
			continue
		}
		if masked[i] != ']' {
			continue
		}
		from, isPair := opened[i]
		tail := tailOf(text, i+1, pairs, p.labels)
		if isPair {
			tail = p.orByText(tail, text, from, i)
		}
		add("titles of links", tail.title, "")
		switch {
		case !isPair:
		case shown[from] == shown[i]:
			add("links without text", region{i + 1, max(i+1, tail.to)}, "")
		case strings.HasPrefix(text[from:], "[^") && strings.Contains(text[from:i], "\n"): // GitHub drops these lines
			add("footnotes", region{from + 2, i}, "")
		case tail.byLabel:
			add("labels of links", region{i + 1, tail.to}, inPlace(tail.address))
			i = tail.to - 1
		}
		i = max(i, tail.title.to-1)
	}
}

// orByText returns a tail, or, if there is none, that of a link whose text is its label: [text] or [text][].
func (p document) orByText(t tail, text string, from, to int) tail {
	address, is := p.labels[normalizeLabel(text[from+1:to])]
	mayBe := from == 0 || strings.IndexByte(" \n(*_~|", text[from-1]) >= 0 // else it can be a part of an address
	if t.to > 0 || !is || !mayBe {
		return t
	}
	t = tail{to: to + 1, byLabel: true, address: address}
	if strings.HasPrefix(text[t.to:], "[]") {
		t.to += len("[]")
	}
	return t
}

// inPlace returns an address as it stands behind the text of a link.
func inPlace(address string) string {
	if address == "" || strings.ContainsAny(address, " <>\\") {
		return ""
	}
	return "(" + address + ")"
}

// countShown returns, for each place, how many characters before it show something in a link.
func (p document) countShown(text string) []int {
	blank := notShown.ReplaceAllStringFunc(text, func(found string) string { return strings.Repeat(" ", len(found)) })
	within := cover(len(text), p.html)
	all := make([]int, len(text)+1)
	for i, c := range blank {
		if !within[i] && !unicode.IsSpace(c) {
			all[i+1] = 1
		}
	}
	for i := range len(text) {
		all[i+1] += all[i]
	}
	return all
}

var notShown = regexp.MustCompile(`!\[\]\([0-9a-z.-]*\)|[][*_~]`)

// fileID is the end of an attachment's address: the page does not show the rest.
var fileID = regexp.MustCompile(`[0-9a-f-]{8,}(?:\.(?:png|jpe?g|gif))?$`)

// tail is what follows the text of a link or picture: (address "title"), [label], [] or nothing.
type tail struct {
	to      int // 0: it is text in brackets
	address string
	title   region // with the space before it
	byLabel bool
}

// tailOfPicture: its text can be its label.
func tailOfPicture(text string, from, end int, pairs map[int]int, labels map[string]string) tail {
	t := tailOf(text, end+1, pairs, labels)
	if _, is := labels[normalizeLabel(text[from:end])]; is && t.to == 0 {
		t.to = end + 1
	}
	return t
}

func tailOf(text string, at int, pairs map[int]int, labels map[string]string) tail {
	if strings.HasPrefix(text[at:], "(") {
		return readTail(text, at)
	}
	if end, isPair := pairs[at]; isPair {
		if address, is := labels[normalizeLabel(text[at+1:end])]; is {
			return tail{to: end + 1, byLabel: true, address: address}
		}
	}
	return tail{}
}

func readTail(text string, at int) (t tail) {
	at = skipSpace(text, at+1)
	end := addressEnd(text, at)
	if end < 0 {
		return tail{}
	}
	t.address = strings.Trim(text[at:end], "<>")
	if at = skipSpace(text, end); at > end && at < len(text) && strings.IndexByte(`"'(`, text[at]) >= 0 {
		stops := ""
		closer := text[at]
		if closer == '(' {
			closer, stops = ')', "("
		}
		after := endOf(text, at+1, closer, stops)
		if after < 0 {
			return tail{}
		}
		t.title = region{end, after}
		at = skipSpace(text, after)
	}
	if at >= len(text) || text[at] != ')' {
		return tail{}
	}
	t.to = at + 1
	return t
}

// skipSpace also skips the marks of quotes at the start of a line.
func skipSpace(text string, at int) int {
	for within := false; at < len(text); at++ {
		switch text[at] {
		case '\n':
			within = true
		case ' ', '\t':
		case '>':
			if !within {
				return at
			}
		default:
			return at
		}
	}
	return at
}

// endOf returns the place after the first closer without a backslash, or -1 before one of stops. For GitHub the last quote
// with one ends a title that no other ends.
func endOf(text string, at int, closer byte, stops string) int {
	end := -1
	for ; at < len(text); at++ {
		switch {
		case text[at] == '\\':
			if at++; at < len(text) && text[at] == closer && strings.IndexByte(`"'`, closer) >= 0 {
				end = at + 1
			}
		case text[at] == closer:
			return at + 1
		case strings.IndexByte(stops, text[at]) >= 0:
			return end
		}
	}
	return end
}

const maxParentheses = 32 // in an address, as on GitHub

func addressEnd(text string, at int) int {
	if strings.HasPrefix(text[at:], "<") {
		return endOf(text, at+1, '>', "<\n")
	}
	for depth := 0; at < len(text) && depth <= maxParentheses; at++ {
		switch c := text[at]; {
		case c == '\\' && at+1 < len(text) && text[at+1] > ' ':
			at++
		case c <= ' ', c == ')' && depth == 0:
			return at
		case c == '(':
			depth++
		case c == ')':
			depth--
		}
	}
	return -1
}

func bracketPairs(text string) map[int]int {
	pairs := make(map[int]int)
	var open []int
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '\n':
			if strings.HasPrefix(text[i+1:], "\n") {
				open = open[:0]
			}
		case '[':
			open = append(open, i)
		case ']':
			if len(open) > 0 {
				pairs[open[len(open)-1]] = i
				open = open[:len(open)-1]
			}
		}
	}
	return pairs
}

const maxLabel = 2000 // more than the 999 bytes that GitHub allows, as there may be marks of quotes

// normalizeLabel also removes the marks of a quote between the lines of a label.
func normalizeLabel(text string) string {
	if len(text) > maxLabel {
		return ""
	}
	return util.ToLinkReference(quoteMarks.ReplaceAll([]byte(text), []byte(" ")))
}

// findDefinitions finds definitions of links. The page does not show them.
func (p document) findDefinitions(add func(string, region, string)) {
	for _, d := range p.definitions {
		add("definitions of links", d, "")
	}
}
