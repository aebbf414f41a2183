// Package makefile reads the rules of a Makefile or justfile. It
// expands no variables, includes no files and runs nothing.
package makefile

import (
	"strings"

	"github.com/ralph-loop/ralph/internal/lib/pattern"
)

// Rule is one or more targets with their recipe, or a line outside of rules.
type Rule struct {
	Targets []string
	Needs   []string
	Head    string   // the first line, without the breaks after backslashes
	Lines   []string // as written, with blank lines that follow
	inline  string   // the recipe after a semicolon
}

var (
	ruleLine = pattern.Of(`^@?([A-Za-z0-9_./%$(){}-][^:=#\t]*?)\s*::?(?:[^=:]|$)`)
	// affectsAllRules matches lines outside of rules that can change any recipe.
	affectsAllRules = pattern.Of(`^\s*(override\s+|export\s+)*(SHELL|\.SHELLFLAGS|MAKEFLAGS|MFLAGS|GNUMAKEFLAGS)\b|^\s*(-?include|sinclude|define|ifeq|ifneq|ifdef|ifndef|else|endif|vpath)\b|^\.[A-OQ-Z]|^\s*set\s+\w|^\s*import\b|^\s*mod\b`)
)

// Rules returns all lines of a text, by rule.
func Rules(text []byte) (all []Rule) {
	for _, line := range logicalLines(string(text)) {
		last, r := len(all)-1, Rule{Head: flat(line), Lines: []string{line}}
		indented := strings.HasPrefix(line, "\t") || strings.HasPrefix(line, " ")
		if last >= 0 && (strings.TrimSpace(line) == "" || indented && len(all[last].Targets) > 0) {
			all[last].Lines = append(all[last].Lines, line)
			continue
		}
		if found := ruleLine.FindStringSubmatch(r.Head); found != nil && !r.AffectsAll() {
			_, needs, _ := strings.Cut(r.Head, ":")
			needs, r.inline, _ = strings.Cut(strings.TrimPrefix(needs, ":"), ";")
			needs, _, _ = strings.Cut(needs, "#")
			r.Targets, r.Needs = strings.Fields(found[1]), strings.Fields(needs)
		}
		all = append(all, r)
	}
	return all
}

// AffectsAll reports whether a line outside of rules can change any recipe.
func (r Rule) AffectsAll() bool { return affectsAllRules.MatchString(r.Head) }

// Recipe returns the recipe's lines, without comments.
func (r Rule) Recipe() string {
	var text strings.Builder
	for _, line := range append([]string{r.inline}, r.Lines[1:]...) {
		if line = strings.TrimSpace(flat(line)); line != "" && !strings.HasPrefix(line, "#") {
			text.WriteString(line + "\n")
		}
	}
	return text.String()
}

// logicalLines returns the lines of a text. A backslash at the end joins a line with the next.
func logicalLines(text string) (lines []string) {
	start := 0
	for at := range len(text) {
		if text[at] == '\n' && text[max(at-1, 0)] != '\\' {
			lines, start = append(lines, text[start:at]), at+1
		}
	}
	if start < len(text) {
		lines = append(lines, text[start:])
	}
	return lines
}

func flat(line string) string { return strings.ReplaceAll(line, "\\\n", " ") }
