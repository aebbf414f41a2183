package clean

import (
	"regexp"
	"strings"
	"sync"
)

// GitHub draws formulas, diagrams, maps and models instead of showing their text. It
// also hides the words after a fence's language.

func (p document) findUndrawn(source string, add func(string, region, string)) {
	for _, f := range p.fences {
		add(notDrawn, f, shownOfFence(source[f.from:f.to]))
	}
	findFormulas(tickFormula, source, 0, add)
	at := 0
	for _, c := range append(p.code, region{len(source), len(source)}) {
		findFormulas(dollarFormula, source[at:c.from], at, add)
		at = c.to
	}
}

const notDrawn = "parts of blocks or formulas that are not shown"

// shownOfFence takes a block from its opening fence to its last line.
func shownOfFence(block string) string {
	head, body, _ := strings.Cut(block, "\n")
	rest := strings.TrimLeft(head, " \t")
	if rest == "" || rest[0] != '`' && rest[0] != '~' {
		return block
	}
	info := strings.TrimLeft(rest, rest[:1])
	name := languageName.FindString(strings.TrimLeft(info, " \t"))
	if strings.TrimSpace(info) != name {
		head = strings.TrimSuffix(head, info) + name
	}
	switch lower := strings.ToLower(name); {
	case lower == "mermaid", lower == "geojson", lower == "topojson", lower == "stl", lower == "math" && hidesText(body):
		body = ""
	}
	if body == "" && !strings.Contains(block, "\n") {
		return head
	}
	return head + "\n" + body
}

var languageName = regexp.MustCompile(`^[A-Za-z0-9_+#.-]{1,32}`)

var (
	dollarFormula = regexp.MustCompile(`\$\$[^$]+\$\$|\$[^\s$]\$|\$[^\s$][^$\n]*[^\s$]\$`)
	tickFormula   = regexp.MustCompile("\\$`[^`\n]+`\\$")
	hidingCommand = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\\(?:[hv]?phantom|(?:text|define|f?)color(?:box)?|math[lrc]lap|[lr]lap|smash|tiny|label|(?:re)?newcommand|newenvironment|[gex]?def|let|mathchoice|kern|[hm]?skip|hspace|raise|lower|moveleft|rule|require|DeclareMathOperator|href|style|class|cssId)\b|(?:^|[^\\])%`)
	})
)

func hidesText(formula string) bool { return hidingCommand().MatchString(formula) }

func findFormulas(shape *regexp.Regexp, text string, offset int, add func(string, region, string)) {
	for at := 0; ; {
		found := shape.FindStringIndex(text[at:])
		if found == nil {
			return
		}
		from, to := at+found[0], at+found[1]
		at = to
		switch {
		case !strings.Contains("$`", text[from+1:from+2]) && wordCharacter.MatchString(text[to:]):
			at = from + 1 // the next dollar may begin a formula
		case hidesText(text[from:to]):
			add(notDrawn, region{offset + from, offset + to}, "")
		}
	}
}

// wordCharacter: GitHub draws no formula before one, as in names of shell variables.
var wordCharacter = regexp.MustCompile(`^[A-Za-z0-9_]`)
