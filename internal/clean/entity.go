package clean

import (
	"html"
	"regexp"
	"strings"
)

// No character reference that a browser knows is longer than this.
const longestEntity = 40

var entityShape = regexp.MustCompile(`^&(?:#[0-9]+|#[xX][0-9a-fA-F]+|[A-Za-z][A-Za-z0-9]*);`)

// decodeProse decodes the character references outside code. What was told by
// reference is not markup on the page, so where it would become a tag that
// the page does not show (Vec&lt;String&gt;), a backslash keeps it text.
func decodeProse(text string) string {
	if !strings.Contains(text, "&") {
		return text
	}
	return read(text).prose(text, decode)
}

// decode takes references apart until none is left, in one pass: each ';'
// looks back at what is already decoded, so &amp;amp;lt; costs no second pass.
func decode(text string) string {
	out := make([]byte, 0, len(text))
	var opened []int // where a '<' came out of a reference
	for i := range len(text) {
		out = append(out, text[i])
		for len(out) > 0 && out[len(out)-1] == ';' {
			at, plain, ok := lastEntity(out)
			if !ok {
				break
			}
			out = append(out[:at], plain...)
			if plain == "<" {
				opened = append(opened, at)
			}
		}
	}
	return shield(string(out), opened)
}

// lastEntity is the reference that out ends with.
func lastEntity(out []byte) (at int, plain string, ok bool) {
	for at = len(out) - 2; at >= 0 && at >= len(out)-longestEntity; at-- {
		if out[at] != '&' {
			continue
		}
		source := string(out[at:])
		if entityShape.FindString(source) != source {
			return 0, "", false
		}
		plain = html.UnescapeString(source)
		// A legacy name that is a beginning of source (&notit;) leaves the
		// rest behind; the page shows such a one as it stands.
		whole := plain == ";" || !strings.HasSuffix(plain, ";")
		return at, plain, whole
	}
	return 0, "", false
}

var tagStart = regexp.MustCompile(`^</?([A-Za-z][A-Za-z0-9-]*)[\s/>]`)

func shield(text string, opened []int) string {
	var out strings.Builder
	from := 0
	for _, at := range opened {
		// A later reference can have swallowed this place.
		if at < from || at >= len(text) || text[at] != '<' {
			continue
		}
		m := tagStart.FindStringSubmatch(text[at:])
		if m == nil || fate(strings.ToLower(m[1])) != strayTag {
			continue
		}
		out.WriteString(text[from:at])
		out.WriteByte('\\')
		from = at
	}
	out.WriteString(text[from:])
	return out.String()
}
