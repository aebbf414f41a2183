package demo

import (
	"html"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

var (
	summary = regexp.MustCompile(`<summary>(.*?)</summary>`)
	markup  = regexp.MustCompile("(?s)<!--.*?-->|</?[a-z]+>|\\*\\*|`")
	link    = regexp.MustCompile(`\[([^\]]+)\]\(([^)]+)\)`)
	bare    = regexp.MustCompile(`^[-| :]+$`)
)

// terminal is Markdown of ralph's own as a reader sees it on GitHub, as plain text.
func terminal(text string) string {
	text = strings.ReplaceAll(summary.ReplaceAllString(text, "▸ $1"), "<br>", ", ")
	text = html.UnescapeString(markup.ReplaceAllString(link.ReplaceAllString(text, "$1"), ""))
	var lines []string
	var table [][]string
	for line := range strings.SplitSeq(text+"\n", "\n") {
		if cells, is := strings.CutPrefix(line, "| "); is {
			table = append(table, strings.Split(strings.TrimSuffix(cells, " |"), " | "))
			continue
		}
		if bare.MatchString(line) && strings.Contains(line, "|") {
			continue
		}
		lines, table = append(lines, columns(table)...), nil
		lines = append(lines, shown(line)...)
	}
	return strings.Join(slices.CompactFunc(lines, func(a, b string) bool { return a == "" && b == "" }), "\n")
}

// shown returns a line that is no table's.
func shown(line string) []string {
	indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
	rest := line[len(indent):]
	if strings.HasPrefix(rest, "#") {
		title := strings.TrimLeft(rest, "# ")
		return []string{title, strings.Repeat("─", utf8.RuneCountInString(title))}
	}
	for _, sign := range [][2]string{{"- [x] ", "☑ "}, {"- [ ] ", "☐ "}, {"- ", "• "}, {"> ", "│ "}} {
		if words, is := strings.CutPrefix(rest, sign[0]); is {
			return []string{indent + sign[1] + words}
		}
	}
	return []string{line}
}

// columns returns the rows of a table, each cell as wide as its column.
func columns(table [][]string) (lines []string) {
	widths := map[int]int{}
	for _, row := range table {
		for i, cell := range row {
			widths[i] = max(widths[i], cellWidth(cell))
		}
	}
	for _, row := range table {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(cell + strings.Repeat(" ", widths[i]-cellWidth(cell)+2))
		}
		lines = append(lines, "  "+strings.TrimRight(line.String(), " "))
	}
	return lines
}

// cellWidth counts the signs of the table's results as two.
func cellWidth(cell string) int {
	return utf8.RuneCountInString(cell) + strings.Count(cell, "✅") + strings.Count(cell, "❌")
}
