package upkeep

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/lib/pattern"
)

// The marks around the note that somebody else pushed.
const (
	foreignBegins = "<!-- ralph:foreign -->"
	foreignEnds   = "<!-- /ralph:foreign -->"
)

// named finds the commit of the evidence in a pull request's text, and a head without evidence.
var named = pattern.Of("(?m)^(### Checked on a clean checkout of|The newest commit,) `([0-9a-f]{7,40})`")

// Foreign adds a note to the text of a pull request whose head somebody else pushed: the head is
// not proven yet, and the evidence is of another commit. It changes no text that says so, or
// whose evidence is of the head.
func Foreign(body, head, who string) string {
	marks, rest, _ := strings.Cut(strings.ReplaceAll(body, "\r\n", "\n"), "\n")
	rest = without(rest, foreignBegins, foreignEnds)
	newest, _, _ := strings.Cut(rest, laterEnds)
	short := head[:min(7, len(head))]
	of := "an older commit"
	for _, m := range named.FindAllStringSubmatch(newest, -1) {
		if strings.HasPrefix(head, m[2]) {
			return body
		}
		if m[1] != "The newest commit," {
			of = "`" + m[2] + "`"
		}
	}
	note := fmt.Sprintf("> ❗ **Not yet proven:** `%s`, which %s pushed. The evidence below belongs to %s. "+
		"`/ralph prove` or the next run proves the new commit.", short, who, of)
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
