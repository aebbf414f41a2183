package view

import (
	"fmt"
	"strings"
)

// trim leaves out rows of what a page says beside its stories until it fits, the
// last first, and says how many. Each is a line of its own, so nothing is torn.
func trim(text string) string {
	if len(text) <= Limit {
		return text
	}
	lines := strings.Split(text, "\n")
	size, gone, at := len(text)+len("> … and 1000000 more\n\n"), 0, 0
	for i := len(lines) - 1; i >= 0 && size > Limit; i-- {
		if !spare(lines[i]) {
			continue
		}
		size -= len(lines[i]) // its line break stays, for the worst case
		lines[i], gone, at = "", gone+1, i
	}
	if gone == 0 {
		return text
	}
	lines[at] = fmt.Sprintf("\n> … and %d more\n", gone)
	return blank(strings.Join(lines, "\n"))
}

// spare tells of a row that is no story's.
func spare(line string) bool {
	return strings.HasPrefix(line, "> ") || strings.HasPrefix(line, "- ") && !strings.HasPrefix(line, "- [")
}
