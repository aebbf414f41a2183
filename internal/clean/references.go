package clean

import (
	"html"
	"regexp"
	"strings"
)

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
