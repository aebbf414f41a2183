package clean

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// The parser's work grows with the square of how deep lists and quotes are in others. In
// lists, GitHub's limit is the same.
const maxDepth = 100

var marker = regexp.MustCompile(`^[ \t]*(?:>|(?:[-+*]|[0-9]{1,9}[.)])(?:\s|$)|\[\^[^\]\s]+\]:)`)

// forParser returns source, as long as it was, with what goldmark reads otherwise than GitHub:
// deeper parts are text without code, which could end elsewhere on the page.
func forParser(source string) []byte {
	all := []byte(source)
	inTable := false
	for line := range bytes.Lines(all) {
		inTable = tableHead.Match(line) || inTable && len(bytes.TrimSpace(line)) > 0
		if inTable && underline.Match(line) { // it is a row
			copy(line, bytes.ReplaceAll(line, []byte("="), []byte("x")))
		}
		if deeper := behindMarks(line); marker.Match(deeper) {
			copy(deeper, "x"+strings.ReplaceAll(string(deeper[1:]), "`", "x"))
		}
	}
	all = textareaTag.ReplaceAll(all, []byte("${1}${2}xextarea"))
	if differingPart.Match(all) { // takes a tenth of the time
		replaceDiffering(all)
	}
	return all
}

// differingPart matches a part of all that asGitHub changes.
var differingPart = regexp.MustCompile(`\t|\\<|<\?|\[\^`)

// replaceDiffering has all parts be as asGitHub says. The end of a long part is looked for where it begins: one expression
// for all kinds of parts would look for it from each place.
func replaceDiffering(all []byte) {
	copy(all, cutAddress().ReplaceAllFunc(all, asGitHub))
	p := parts{all: all}
	for at := 0; ; {
		found := differing().FindIndex(all[at:])
		if found == nil {
			return
		}
		from := at + found[0]
		part := all[from : from+p.size(from, found[1]-found[0])]
		copy(part, asGitHub(part))
		at = from + max(len(part), len("[^"))
	}
}

// parts goes through the parts of a text in their order.
type parts struct {
	all     []byte
	unended bool // an instruction had no end: later ones have none
	looked  int
	marks   int // where the marks begin behind which a footnote may; -1: none begins in this line
}

// size returns the size of a part, of which the first bytes were found, or 0 if it has no end.
func (p *parts) size(from, found int) int {
	if end := bytes.LastIndexByte(p.all[p.looked:from], '\n'); end >= 0 {
		p.marks = p.looked + end + 1
	}
	p.looked = from
	switch rest := p.all[from:]; rest[1] {
	case '!':
		return bytes.IndexByte(rest, '>') + 1
	case '?':
		if p.unended {
			return 0
		}
		size := len(instruction().Find(rest))
		p.unended = size == 0
		return size
	case '^':
		size := 0
		if p.marks >= 0 && len(bytes.TrimLeft(behindMarks(p.all[p.marks:from]), " \t")) == 0 {
			size = sizeOfLabel(rest)
		}
		if p.marks = from + size; size == 0 {
			p.marks = -1
		}
		return size
	}
	return found
}

// behindMarks returns what stands behind the marks of lists and quotes, at most maxDepth of them.
func behindMarks(line []byte) []byte {
	for range maxDepth {
		found := marker.Find(line)
		if len(found) == 0 {
			break
		}
		line = line[len(found):]
	}
	return line
}

// sizeOfLabel returns the size of a footnote's label, with the space after it, or 0.
func sizeOfLabel(text []byte) int {
	end := bytes.IndexByte(text, ']')
	if end <= len("[^") || !bytes.HasPrefix(text[end:], []byte("]:")) {
		return 0
	}
	for _, space := range []byte(" \n\t\r\f") {
		if bytes.IndexByte(text[:end], space) >= 0 {
			return 0
		}
	}
	return len(text) - len(bytes.TrimLeft(text[end+len("]:"):], " \t"))
}

func asGitHub(found []byte) []byte {
	with := slices.Clone(found)
	switch end := len(with) - 1; {
	case end < 0:
	case with[0] == '\t': // after a tag alone on its line
		return bytes.ReplaceAll(with, []byte("\t"), []byte(" "))
	case with[end] == '\t': // ends the name of a tag, or is no indent in a quote
		with[end] = ' '
	case with[end] == '<': // the backslash belongs to the address
		with[end-1] = 'x'
	case bytes.HasPrefix(with, []byte("<?")): // ends at the last of these
		for i := 2; i < end-1; i++ {
			if i == 2 && with[i] == '>' || with[i] == '?' && with[i-1] != '<' {
				with[i] = 'x'
			}
		}
	case with[0] == '[': // all characters are allowed in the label of a footnote, and space after it
		return append([]byte("[^"+strings.Repeat("x", end-3)), "]:"...)
	}
	return with
}

var (
	cutAddress  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)(?:://|www\.)[^\s<]*\\<`) })
	differing   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)[a-z0-9]\t|>[ \t]*\t|\t+\n|<![a-z]|<\?|\[\^`) })
	instruction = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?s)^<\?(?:[^?]|\?[^>])+\?>`) })
)

var textareaTag = regexp.MustCompile(`(?i)(<)(/?)textarea`) // like others on GitHub

// addLazyHTML adds paragraphs in which only GitHub sees a block of HTML: after a line of a
// quote or list, or of a closing tag.
func (p *document) addLazyHTML(source string) {
	masked := mask(source, p.fences)
	at, end, within := 0, 0, false
	for line := range strings.Lines(masked) {
		from := at
		at += len(line)
		switch blank := strings.TrimSpace(line) == ""; {
		case blank:
			within = false
		case closingLine().MatchString(line), within && lazyTag.MatchString(line):
			if from < end {
				continue
			}
			end = endOfParagraph(masked, from)
			p.lazy = append(p.lazy, region{from, end})
			copy(p.page[from:end], quoteMarks.ReplaceAllFunc(p.page[from:end], func(marks []byte) []byte {
				return bytes.Repeat([]byte(" "), len(marks))
			}))
		case marker.MatchString(line), tableHead.MatchString(line):
			within = true
		}
	}
	isHTML := cover(len(source)+1, p.lazy)
	begins := func(code region) bool { return isHTML[code.from] }
	for _, fence := range p.fences { // of which GitHub hides the words behind the language, if it is one
		if begins(fence) && shownOfFence(source[fence.from:fence.to]) != source[fence.from:fence.to] && p.unsure < 0 {
			p.unsure = p.lazy[slices.IndexFunc(p.lazy, func(r region) bool { return r.from <= fence.from && fence.from < r.to })].from
		}
	}
	p.code, p.fences = slices.DeleteFunc(p.code, begins), slices.DeleteFunc(p.fences, begins)
}

func endOfParagraph(text string, at int) int {
	if found := emptyLine.FindStringIndex(text[at:]); found != nil {
		return at + found[0]
	}
	return len(text)
}

var (
	lazyTag     = regexp.MustCompile(`^ {0,3}</?[A-Za-z].*>\s*$`)
	closingLine = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^(?: {0,3}>)* {0,3}(?:[-+*] +|[0-9]+[.)] +)*(?:</(?:script|style|pre)>\s*$|<textarea)`)
	})
	tableHead  = regexp.MustCompile(`^[ \t>]*[|:-][-:| \t]*\s*$`) // the line below it
	underline  = regexp.MustCompile(`^[ \t>]*=+\s*$`)
	quoteMarks = regexp.MustCompile(`(?m)^[ \t>]+`)
	emptyLine  = regexp.MustCompile(`\n[ \t]*(?:\n|$)`)
)
