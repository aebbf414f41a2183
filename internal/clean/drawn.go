package clean

import (
	"regexp"
	"strings"
)

// GitHub draws formulas, diagrams, maps and models instead of showing their text. It
// also hides the words after a fence's language.

func dropUndrawn(source string, gone Removed) string {
	if !strings.ContainsAny(source, "`~$") {
		return source
	}
	var edits []edit
	for _, f := range parseMarkdown(source).fences {
		edits = append(edits, edit{f, dropFromFence(source[f.from:f.to], gone)})
	}
	source = apply(source, edits)
	source = dropFormulas(tickFormula, source, gone)
	return parseMarkdown(source).mapProse(source, func(text string) string { return dropFormulas(dollarFormula, text, gone) })
}

// dropFromFence takes a block from its opening fence to its last line.
func dropFromFence(block string, gone Removed) string {
	head, body, _ := strings.Cut(block, "\n")
	rest := strings.TrimLeft(head, " \t")
	if rest == "" || rest[0] != '`' && rest[0] != '~' {
		return block
	}
	info := strings.TrimLeft(rest, rest[:1])
	name := languageName.FindString(strings.TrimLeft(info, " \t"))
	if kept := strings.TrimSuffix(head, info) + name; strings.TrimSpace(info) != name {
		gone.add("parts of blocks or formulas that are not shown")
		head = kept
	}
	switch lower := strings.ToLower(name); {
	case lower == "mermaid":
		body = dropUndrawnLines(body, gone)
	case lower == "geojson", lower == "topojson", lower == "stl", lower == "math" && hidesText(body):
		if strings.TrimSpace(body) != "" {
			gone.add("parts of blocks or formulas that are not shown")
			body = ""
		}
	}
	if body == "" && !strings.Contains(block, "\n") {
		return head
	}
	return head + "\n" + body
}

var languageName = regexp.MustCompile(`^[A-Za-z0-9_+#.-]{1,32}`)

var undrawnLine = regexp.MustCompile(`^[ \t>]*(?:%%|acc(?:Title|Descr)\b|click\b|style\b|classDef\b|linkStyle\b)`)

func dropUndrawnLines(diagram string, gone Removed) string {
	var kept strings.Builder
	within := false // within the braces of a description
	for line := range strings.Lines(diagram) {
		described := strings.HasPrefix(strings.TrimLeft(line, " \t>"), "accDescr") && strings.Contains(line, "{")
		if within || undrawnLine.MatchString(line) {
			gone.add("parts of blocks or formulas that are not shown")
			within = (within || described) && !strings.Contains(line, "}")
			continue
		}
		kept.WriteString(line)
	}
	return kept.String()
}

var (
	dollarFormula = regexp.MustCompile(`\$\$[^$]+\$\$|\$[^\s$]\$|\$[^\s$][^$\n]*[^\s$]\$`)
	tickFormula   = regexp.MustCompile("\\$`[^`\n]+`\\$")
	hidingCommand = regexp.MustCompile(`\\(?:[hv]?phantom|(?:text|define|f?)color(?:box)?|math[lrc]lap|[lr]lap|smash|tiny|label|(?:re)?newcommand|newenvironment|def|let|DeclareMathOperator|href|style|class|cssId)\b|(?:^|[^\\])%`)
)

func hidesText(formula string) bool { return hidingCommand.MatchString(formula) }

func dropFormulas(shape *regexp.Regexp, text string, gone Removed) string {
	var edits []edit
	for at := 0; ; {
		found := shape.FindStringIndex(text[at:])
		if found == nil {
			return apply(text, edits)
		}
		from, to := at+found[0], at+found[1]
		at = to
		switch {
		case !strings.Contains("$`", text[from+1:from+2]) && wordCharacter.MatchString(text[to:]):
			at = from + 1 // the next dollar may begin a formula
		case hidesText(text[from:to]):
			gone.add("parts of blocks or formulas that are not shown")
			edits = append(edits, edit{region: region{from, to}})
		}
	}
}

// wordCharacter: GitHub draws no formula before one, as in names of shell variables.
var wordCharacter = regexp.MustCompile(`^[A-Za-z0-9_]`)
