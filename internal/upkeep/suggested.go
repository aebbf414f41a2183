package upkeep

import (
	"slices"
	"strings"
	"unicode"

	"github.com/ralph-loop/ralph/internal/clean"
)

// Suggested returns the one suggestion of a reviewer's comment. ok is false if there is none or
// more than one, or if people do not see all of it. more tells that the comment says more.
func Suggested(comment string) (text string, more, ok bool) {
	seen, _ := clean.ForAgent(comment, len(comment))
	shown, more, is := block(seen)
	text, _, ok = block(comment)
	return text, more, ok && is && shown == text
}

// block returns the one suggestion in a text, and whether there is more in it.
func block(comment string) (text string, more, ok bool) {
	lines := strings.Split(strings.ReplaceAll(comment, "\r\n", "\n"), "\n")
	for len(lines) > 0 {
		fence, info := opens(lines[0])
		more = more || info != suggestion && strings.Trim(lines[0], "-*> \t") != ""
		if lines = lines[1:]; fence == "" {
			continue
		}
		end := slices.IndexFunc(lines, func(line string) bool { return closes(line, fence) })
		if end < 0 || ok && info == suggestion {
			return "", more, false
		}
		if info == suggestion && end > 0 {
			text = strings.Join(lines[:end], "\n") + "\n"
		}
		ok, lines = ok || info == suggestion, lines[end+1:]
	}
	return text, more, ok && !strings.ContainsFunc(text, unseen)
}

const suggestion = "suggestion"

// unseen reports a character that a page does not show.
func unseen(r rune) bool {
	return clean.IsInvisible(r) || unicode.IsControl(r) && r != '\n' && r != '\t'
}

// opens returns the fence with which a line begins a block of code, and what it is of.
func opens(line string) (fence, info string) {
	line = strings.TrimSpace(line)
	for _, mark := range []string{"`", "~"} {
		rest := strings.TrimLeft(line, mark)
		if n := len(line) - len(rest); n >= 3 && !strings.Contains(rest, "`") {
			return line[:n], strings.TrimSpace(rest)
		}
	}
	return "", ""
}

func closes(line, fence string) bool {
	line = strings.TrimSpace(line)
	return strings.HasPrefix(line, fence) && strings.Trim(line, fence[:1]) == ""
}
