package clean

import (
	"html"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// dropLinkTexts removes texts of pictures, titles and unused definitions, which the page does not show.
func dropLinkTexts(text string, gone Removed) string {
	if !strings.Contains(text, "[") {
		return text
	}
	text = dropDefinitions(dropFootnotes(text, gone), gone)
	p := parseMarkdown(text)
	masked := p.maskCode(text)
	pairs := bracketPairs(masked)
	labels := make(map[string]bool)
	for _, d := range p.definitions {
		labels[normalizeLabel(d.label)] = true
	}
	var edits []edit
	for i := 0; i < len(text); i++ {
		if masked[i] != '!' && masked[i] != ']' {
			continue
		}
		cut, ok := hiddenLinkText(text, i, pairs, labels)
		if !ok {
			continue
		}
		if text[i] == '!' {
			gone.add("texts of images")
		} else {
			gone.add("titles of links")
		}
		edits = append(edits, edit{region: cut})
		i = cut.to - 1
	}
	return apply(text, edits)
}

// hiddenLinkText returns an image's text that begins at i, or the title of a link whose text ends there.
func hiddenLinkText(text string, i int, pairs map[int]int, labels map[string]bool) (region, bool) {
	switch {
	case text[i] == '!':
		end, ok := pairs[i+1]
		if !ok {
			return region{}, false
		}
		return imageText(text, i, end, labels)
	case text[i] == ']' && strings.HasPrefix(text[i+1:], "("):
		m := linkTail.FindStringSubmatchIndex(truncate(text[i+1:], maxLinkTail))
		if m == nil || m[2] < 0 {
			return region{}, false
		}
		return region{i + 1 + m[2], i + 1 + m[3]}, true
	}
	return region{}, false
}

// A picture whose text is its label is removed as a whole.
func imageText(text string, at, end int, labels map[string]bool) (region, bool) {
	rest := text[end+1:]
	switch {
	case strings.HasPrefix(rest, "[]"), !strings.HasPrefix(rest, "(") && !strings.HasPrefix(rest, "["):
		if !labels[normalizeLabel(text[at+2:end])] {
			return region{}, false
		}
		return region{at, end + 1}, true
	case end == at+2:
		return region{}, false
	}
	return region{at + 2, end}, true
}

const maxLinkTail = 4096

// linkTail matches the part after a link's text; its group is the title with the
// space before it. Destinations can hold balanced parentheses two deep.
var linkTail = regexp.MustCompile(`^\(\s*(?:<[^<>\n]*>|(?:[^\s()\\]|\\.|\((?:[^\s()\\]|\\.|\([^\s()]*\))*\))+)?` +
	`(\s+(?:"(?:[^"\\]|\\.|\\\n)*"|'(?:[^'\\]|\\.|\\\n)*'|\((?:[^()\\]|\\.|\\\n)*\)))\s*\)`)

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

const maxLabel = 999

func normalizeLabel(text string) string {
	if len(text) > maxLabel {
		return ""
	}
	return strings.ToLower(strings.Join(strings.Fields(text), " "))
}

// dropDefinitions removes unused definitions, which can hide text, and titles of the others.
func dropDefinitions(text string, gone Removed) string {
	p := parseMarkdown(text)
	if len(p.definitions) == 0 {
		return text
	}
	used := usedLabels(text, p)
	var edits []edit
	for _, d := range p.definitions {
		switch {
		case d.to <= d.from:
		case !used[normalizeLabel(d.label)]:
			gone.add("unused definitions")
			edits = append(edits, edit{region: d.region})
		case d.title != "":
			gone.add("titles of links")
			edits = append(edits, edit{d.region, "[" + d.label + "]: <" + d.destination + ">"})
		}
	}
	return apply(text, edits)
}

func usedLabels(text string, p document) map[string]bool {
	used := make(map[string]bool)
	next := 0
	pairs := bracketPairs(p.maskCode(text))
	for _, from := range slices.Sorted(maps.Keys(pairs)) {
		for next < len(p.definitions) && p.definitions[next].to <= from {
			next++
		}
		if next < len(p.definitions) && p.definitions[next].from <= from {
			continue
		}
		used[normalizeLabel(text[from+1:pairs[from]])] = true
	}
	delete(used, "")
	return used
}

var (
	footnote     = regexp.MustCompile(`(?m)^ {0,3}\[(\^[^\]\s]+)\]:.*(?:\n.*\S.*)*`)
	footnoteMark = regexp.MustCompile(`\[(\^[^\]\s]+)\](:?)`)
)

// GitHub does not show unused footnotes.
func dropFootnotes(text string, gone Removed) string {
	found := footnote.FindAllStringSubmatchIndex(text, -1)
	if len(found) == 0 {
		return text
	}
	used := make(map[string]bool)
	for _, m := range footnoteMark.FindAllStringSubmatch(text, -1) {
		used[m[1]] = used[m[1]] || m[2] == ""
	}
	masked := parseMarkdown(text).maskCode(text)
	var edits []edit
	for _, m := range found {
		if masked[m[2]-1] != '[' || used[text[m[2]:m[3]]] {
			continue
		}
		gone.add("unused definitions")
		edits = append(edits, edit{region: region{m[0], m[1]}})
	}
	return apply(text, edits)
}

const maxEntity = 40

var entityPattern = regexp.MustCompile(`^&(?:#[0-9]+|#[xX][0-9a-fA-F]+|[A-Za-z][A-Za-z0-9]*);`)

// decodeProse decodes the character references outside code. A reference never
// makes a tag on the page, so a backslash goes before a decoded tag that the page
// would drop (Vec&lt;String&gt;).
func decodeProse(text string) string {
	if !strings.Contains(text, "&") {
		return text
	}
	return parseMarkdown(text).mapProse(text, decode)
}

// decode needs one pass: each ';' looks back at the decoded text, as in &amp;amp;lt;.
func decode(text string) string {
	out := make([]byte, 0, len(text))
	var opened []int // positions of decoded '<'
	for i := range len(text) {
		out = append(out, text[i])
		for len(out) > 0 && out[len(out)-1] == ';' {
			at, plain, ok := lastEntity(out)
			if !ok {
				break
			}
			out = append(out[:at], plain...)
			switch plain {
			case "<":
				opened = append(opened, at)
			case "|": // begins no cell
				out = append(out[:at], `\|`...)
			}
		}
	}
	return escapeTags(string(out), opened)
}

func lastEntity(out []byte) (at int, plain string, ok bool) {
	for at = len(out) - 2; at >= 0 && at >= len(out)-maxEntity; at-- {
		if out[at] != '&' {
			continue
		}
		source := string(out[at:])
		if entityPattern.FindString(source) != source {
			return 0, "", false
		}
		plain = html.UnescapeString(source)
		// A legacy name that begins source (&notit;) is only part of it. The
		// page shows such a reference as it is.
		whole := plain == ";" || !strings.HasSuffix(plain, ";")
		return at, plain, whole
	}
	return 0, "", false
}

var tagStart = regexp.MustCompile(`^</?([A-Za-z][A-Za-z0-9-]*)[\s/>]`)

func escapeTags(text string, opened []int) string {
	var edits []edit
	for _, at := range opened {
		m := tagStart.FindStringSubmatch(text[min(at, len(text)):])
		if m != nil && tagKinds[strings.ToLower(m[1])] == droppedTag {
			edits = append(edits, edit{region{at, at}, `\`})
		}
	}
	return apply(text, edits)
}
