package clean

import (
	"regexp"
	"strings"
)

// Fence is text in a code fence that nothing in text can close. Mentions and
// references are left as they are, as GitHub looks for none in code; a line
// that a bot would take for a command gets a space before it.
func Fence(text string) string {
	var gone Removed
	text = strings.TrimRight(characters(text, &gone), "\n")
	return strings.Join(fence("", strings.Split(text, "\n")), "\n")
}

func fence(language string, lines []string) []string {
	mark := "```"
	for _, line := range lines {
		for strings.Contains(line, mark) {
			mark += "`"
		}
	}
	block := []string{mark + language}
	for _, line := range lines {
		if command.MatchString(line) {
			line = " " + line
		}
		block = append(block, line)
	}
	return append(block, mark)
}

var (
	command   = regexp.MustCompile(`^/[A-Za-z]`)
	fenceOpen = regexp.MustCompile("^([ \t]*)(`{3,}|~{3,})[ \t]*([^`]*)$")
	language  = regexp.MustCompile(`^[A-Za-z0-9_+#.-]{1,32}`)
)

// fencedLines is the fenced block that begins at lines[i], written anew, and
// the line after it. It is moved to the margin and always closed: a fence in
// a list is a fence only while the list lasts, and that must not be left to
// the text.
func fencedLines(lines []string, i int) (block []string, next int) {
	m := fenceOpen.FindStringSubmatch(lines[i])
	if m == nil {
		return nil, i
	}
	var inside []string
	for next = i + 1; next < len(lines); next++ {
		if closes(lines[next], m[2]) {
			next++
			break
		}
		inside = append(inside, outdent(lines[next], len(m[1])))
	}
	return fence(languageOf(m[3]), inside), next
}

func closes(line, mark string) bool {
	line = strings.TrimSpace(line)
	return len(line) >= len(mark) && strings.Trim(line, mark[:1]) == ""
}

// outdent takes at most width white space from the front of line.
func outdent(line string, width int) string {
	for width > 0 && line != "" && (line[0] == ' ' || line[0] == '\t') {
		line = line[1:]
		width--
	}
	return line
}

// languageOf is the language a fence names. A suggestion would be offered to
// be committed with one click, so it is not one.
func languageOf(info string) string {
	name := language.FindString(info)
	if strings.EqualFold(name, "suggestion") {
		return ""
	}
	return name
}
