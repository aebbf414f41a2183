package git

import (
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

var trailer = pattern.Of(`^[A-Za-z][A-Za-z0-9-]*: \S`)

// signedOff is a message with the line by which its author vouches for the
// commit; as it is where that line stands there already.
func signedOff(message, author string) string {
	line := "Signed-off-by: " + author
	text := strings.TrimRight(message, "\n")
	paragraphs := strings.Split(text, "\n\n")
	last := strings.Split(paragraphs[len(paragraphs)-1], "\n")
	if slices.Contains(last, line) {
		return message
	}
	if len(paragraphs) > 1 && trailer.MatchString(last[len(last)-1]) {
		return text + "\n" + line + "\n"
	}
	return text + "\n\n" + line + "\n"
}

// vouched is the commit with that line; it has to be made again where it had
// none.
func (c commit) vouched() commit {
	for _, line := range c.lines {
		who, is := strings.CutPrefix(line, "author ")
		end := strings.LastIndex(who, ">")
		if !is || end < 0 {
			continue
		}
		message := signedOff(c.message, who[:end+1])
		c.again, c.message = c.again || message != c.message, message
	}
	return c
}
