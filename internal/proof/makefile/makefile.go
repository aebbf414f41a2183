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
	affectsAllRules = pattern.Of(
		`^\s*(override\s+|export\s+)*(SHELL|\.SHELLFLAGS|MAKEFLAGS|MFLAGS|GNUMAKEFLAGS)\b|` +
			`^\s*(-?include|sinclude|define|ifeq|ifneq|ifdef|ifndef|else|endif|vpath)\b|` +
			`^\.[A-OQ-Z]|^\s*set\s+\w|^\s*import\b|^\s*mod\b`)
)

// Rules returns all lines of a text, by rule.
func Rules(text []byte) []Rule {
	var all []Rule
	for _, line := range logicalLines(string(text)) {
		if len(all) > 0 {
			last := &all[len(all)-1]
			if last.continues(line) {
				last.Lines = append(last.Lines, line)
				continue
			}
		}
		all = append(all, newRule(line))
	}
	return all
}

// continues reports whether a line belongs to the rule before it.
func (r Rule) continues(line string) bool {
	if strings.TrimSpace(line) == "" {
		return true
	}
	indented := strings.HasPrefix(line, "\t") || strings.HasPrefix(line, " ")
	return indented && len(r.Targets) > 0
}

// newRule returns the rule that a line begins.
func newRule(line string) Rule {
	r := Rule{Head: flat(line), Lines: []string{line}}
	found := ruleLine.FindStringSubmatch(r.Head)
	if found == nil || r.AffectsAll() {
		return r
	}
	_, needs, _ := strings.Cut(r.Head, ":")
	needs, r.inline, _ = strings.Cut(strings.TrimPrefix(needs, ":"), ";")
	needs, _, _ = strings.Cut(needs, "#")
	r.Targets = strings.Fields(found[1])
	r.Needs = strings.Fields(needs)
	return r
}

// AffectsAll reports whether a line outside of rules can change any recipe.
func (r Rule) AffectsAll() bool { return affectsAllRules.MatchString(r.Head) }

// Recipe returns the recipe's lines, without comments.
func (r Rule) Recipe() string {
	var text strings.Builder
	for _, line := range append([]string{r.inline}, r.Lines[1:]...) {
		command := strings.TrimSpace(flat(line))
		if command != "" && !strings.HasPrefix(command, "#") {
			text.WriteString(command + "\n")
		}
	}
	return text.String()
}

// logicalLines returns the lines of a text. A backslash at the end joins a line with the next.
func logicalLines(text string) []string {
	var lines []string
	start := 0
	for at := range len(text) {
		if text[at] == '\n' && text[max(at-1, 0)] != '\\' {
			lines = append(lines, text[start:at])
			start = at + 1
		}
	}
	if start < len(text) {
		lines = append(lines, text[start:])
	}
	return lines
}

func flat(line string) string { return strings.ReplaceAll(line, "\\\n", " ") }
