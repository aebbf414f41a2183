package tamper

import (
	"maps"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// layout are the rules that a formatter does better.
var layout = set("indent quotes semi max-len comma-dangle space-before-function-paren arrow-parens object-curly-spacing no-extra-semi no-mixed-spaces-and-tabs brace-style linebreak-style eol-last no-trailing-spaces keyword-spacing padded-blocks operator-linebreak quote-props")

// sister tells whether another rule of the same name, of a plugin, does the
// work, or a formatter does.
func sister(name string, level int, after map[string]int) bool {
	base := name[strings.LastIndex(name, "/")+1:]
	if layout[base] {
		return true
	}
	for other, at := range after {
		if other != name && other[strings.LastIndex(other, "/")+1:] == base && at >= max(level, 1) {
			return true
		}
	}
	return false
}

var ruleKey = pattern.Of(`(?:linter\.rules\.\w+\.|(?:^|\.)rules\.)([^.\[]+)(?:\.level)?(\[\])?$`)

// levels are the rules of one side, each at its lowest.
func levels(s sheet) map[string]int {
	found := map[string]int{}
	for name := range s.files {
		seen := map[string]bool{}
		for _, entry := range s.files[name] {
			rule, level, is := ruleName(entry)
			if !is || seen[entry.key] {
				continue
			}
			seen[entry.key] = true // of a list only the first is the level
			if old, known := found[rule]; !known || level < old {
				found[rule] = level
			}
		}
	}
	return found
}

func ruleName(s setting) (name string, level int, is bool) {
	m := ruleKey.FindStringSubmatch(s.key)
	if m == nil {
		return "", 0, false
	}
	switch s.value {
	case "off", "0", "none":
		return m[1], 0, true
	case "warn", "1", "info":
		return m[1], 1, true
	case "error", "2", "on", "deny":
		return m[1], 2, true
	default:
		return "", 0, false
	}
}

// severities compares the rules of eslint and its kin, over all of its files:
// people move them about.
func (r *report) severities(was, now sheet) {
	before, after := levels(was), levels(now)
	for _, c := range r.changes {
		if !has(c.Path, lints) || c.After == nil && replacedTool(c, was, now) {
			continue
		}
		for _, name := range rulesIn(was.files[c.Path], now.files[c.Path]) {
			one, known := before[name]
			two, still := after[name]
			switched := !known && still && two == 0 && c.Before != nil
			var why string
			switch {
			case (known && two < one || switched) && !sister(name, one, after):
				why = "the rule " + short(name, 60) + " is off, or only warns"
			case grown(name, was.files[c.Path], now.files[c.Path]):
				why = "the limit of the rule " + short(name, 60) + " is raised"
			default:
				continue
			}
			r.add(Finding{c.Path, LintLoosened, c.differing(name), why})
		}
	}
}

// grown tells whether the number of a rule about the most there may be grows.
func grown(name string, was, now []setting) bool {
	if !strings.Contains(name, "max") && !strings.Contains(name, "complexity") {
		return false
	}
	most := func(all []setting) float64 {
		n := 0.0
		for _, s := range all {
			if _, rest, found := strings.Cut(s.key, "rules."+name); found && (rest == "[]" || strings.HasPrefix(rest, ".max")) {
				n = max(n, parse(s.value))
			}
		}
		return n
	}
	return most(was) > 2 && most(now) > most(was)
}

// replacedTool tells whether another linter is new where one went.
func replacedTool(c Change, was, now sheet) bool {
	for name := range now.files {
		if _, old := was.texts[name]; !old && has(name, lints) && !strings.Contains(name, "eslint") && strings.Contains(c.Path, "eslint") && languageOf(name) == noLanguage && !strings.Contains(name, "config") {
			return true
		}
	}
	return false
}

func rulesIn(was, now []setting) []string {
	names := map[string]bool{}
	for _, s := range append(slices.Clone(was), now...) {
		if name, _, is := ruleName(s); is {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}
