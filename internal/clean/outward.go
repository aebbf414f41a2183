package clean

import (
	"regexp"
	"strings"
)

// Outward is the words of an agent or an outsider made fit to stand as a block
// of their own in Markdown that this program posts. Nobody is notified, no
// issue is linked or closed, no picture is fetched, no bot is commanded, and
// nothing leaves its place: HTML is shown as text and every fence is closed.
// Formatting, lists, code and plain links stay.
//
// GitHub looks for mentions and references in the rendered page, where neither
// a backslash nor a reference such as &#64; is left to stop it. So the one
// character that makes the mention is put in a code span: `@`name. That also
// breaks it for bots that read the source.
func Outward(text string) string {
	lines := strings.Split(outwardText(text), "\n")
	var out []string
	table := false
	for i := 0; i < len(lines); i++ {
		if block, next := fencedLines(lines, i); next > i {
			out = append(out, block...)
			i = next - 1
			continue
		}
		table = strings.TrimSpace(lines[i]) != "" && (table || isDelimiter(lines[i]) || i+1 < len(lines) && isDelimiter(lines[i+1]))
		out = append(out, proseLine(lines[i], writer{table: table}))
	}
	return strings.Join(out, "\n")
}

// outwardText decodes references so that what they stand for is judged; what
// they made invisible goes after that.
func outwardText(text string) string {
	var gone Removed
	text = characters(text, &gone)
	if strings.Contains(text, "&") {
		text = read(text).prose(text, func(s string) string { return plainly(decode(s)) })
		text = characters(text, &gone)
	}
	return text
}

// plainly undoes the backslash that decode puts before a stray tag; here all
// HTML becomes text anyway.
func plainly(text string) string { return strings.ReplaceAll(text, `\<`, "<") }

// isDelimiter says whether line can be the second row of a table.
func isDelimiter(line string) bool {
	return strings.Contains(line, "-") && strings.Trim(line, "|:- \t>") == ""
}

var commandLine = regexp.MustCompile(`^((?:[\s>*+-]|[0-9]+[.)])*)/([A-Za-z])`)

// proseLine is a line outside a fence.
func proseLine(line string, w writer) string {
	w.prose(line)
	return commandLine.ReplaceAllString(string(w.out), "${1}&#47;${2}")
}

// Inline is text on one line and at most limit characters long (0 is no limit),
// for a table's cell, a heading or the middle of a sentence.
func Inline(text string, limit int) string {
	text = strings.Join(strings.Fields(outwardText(text)), " ")
	if runes := []rune(text); limit > 0 && len(runes) > limit {
		text = strings.TrimRight(string(runes[:limit-1]), " ") + "…"
	}
	return proseLine(text, writer{table: true, cell: true})
}
