// Package upkeep decides what a pull request that ralph opened needs until it is merged or closed. It takes texts and
// facts from GitHub, and returns texts and decisions; it makes no calls.
package upkeep

import (
	"strings"
	"unicode/utf8"
)

// The marks around the newest run's text, above that of the run that opened the pull request.
const (
	laterBegins = "<!-- ralph:later -->"
	laterEnds   = "<!-- /ralph:later -->"
)

// maxBody is less than the characters that GitHub takes for a text.
const maxBody = 60_000

// Join puts the text of the newest run above that of the run that opened the pull request, and
// drops that of runs between. The first line holds marks and stays the first.
func Join(body, newest string) string {
	marks, opened, _ := strings.Cut(strings.ReplaceAll(body, "\r\n", "\n"), "\n")
	opened = without(opened, laterBegins, laterEnds)
	_, newest, _ = strings.Cut(newest, "\n")
	top := marks + "\n" + laterBegins + "\n\n" + strings.TrimSpace(newest) +
		"\n\n---\n\n**The work before that:**\n\n" + laterEnds + "\n\n"
	opened = strings.TrimSpace(opened)
	if utf8.RuneCountInString(top+opened) > maxBody {
		opened = links(opened)
	}
	return top + opened + "\n"
}

func links(text string) string {
	var kept []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "Closes #") || strings.HasPrefix(line, "Refs #") {
			kept = append(kept, strings.TrimSpace(line))
		}
	}
	return strings.Join(kept, "\n")
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
