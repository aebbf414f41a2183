package upkeep

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// The marks around the note that somebody else pushed.
const (
	foreignBegins = "<!-- ralph:foreign -->"
	foreignEnds   = "<!-- /ralph:foreign -->"
)

// checked is how the text of a pull request names the commit that its evidence is of.
var checked = pattern.Of("Checked on a clean checkout of `([0-9a-f]{7,40})`")

// Foreign is the text of a pull request whose head somebody else pushed: a note on top
// says that this head is not yet proven, and which commit the evidence is of. A text
// that names the head is ralph's own of that head, and stays as it is.
func Foreign(body, head, who string) string {
	marks, rest, _ := strings.Cut(strings.ReplaceAll(body, "\r\n", "\n"), "\n")
	rest = without(rest, foreignBegins, foreignEnds)
	newest, _, _ := strings.Cut(rest, laterEnds)
	short := head[:min(7, len(head))]
	if strings.Contains(newest, "`"+short+"`") {
		return body
	}
	of := "an older commit"
	if m := checked.FindStringSubmatch(newest); m != nil {
		of = "`" + m[1] + "`"
	}
	note := fmt.Sprintf("> ❗ **Not yet proven:** `%s`, which %s pushed. The evidence below belongs to %s. `/ralph prove` or the next run proves the new commit.", short, who, of)
	return marks + "\n" + foreignBegins + "\n\n" + note + "\n\n" + foreignEnds + "\n\n" + strings.TrimLeft(rest, "\n")
}

// without is text without the first part between two marks.
func without(text, begins, ends string) string {
	before, rest, found := strings.Cut(text, begins)
	if !found {
		return text
	}
	_, after, _ := strings.Cut(rest, ends)
	return before + after
}
