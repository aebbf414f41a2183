package upkeep

import (
	"strings"

	"github.com/ralph-loop/ralph/internal/lib/clean"
)

// Suggested returns the one suggestion that the page of a reviewer's comment shows. ok is false if there is none or
// more than one, or if the comment has other characters in these lines. more tells that the comment says more.
func Suggested(comment string, page clean.Page) (text string, more, ok bool) {
	if len(page.Suggestions) != 1 {
		return "", false, false
	}
	text = page.Suggestions[0]
	lines := "\n" + strings.ReplaceAll(comment, "\r\n", "\n")
	more = strings.Trim(strings.Replace(page.Text, text, "", 1), "`-> \n") != "suggestion"
	return text, more, strings.Contains(lines, "\n"+text)
}
