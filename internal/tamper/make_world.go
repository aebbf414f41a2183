package tamper

import (
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

var (
	makeAssigned = pattern.Of(`^\s*(?:override\s+|export\s+|private\s+)*([A-Za-z_.][\w.]*)\s*([:?+!]{0,3}=)\s*(.*?)\s*(?:#.*)?$`)
	makeSpecial  = pattern.Of(`^\.(IGNORE|ONESHELL)\s*:\s*(.*)$`)
	makeCalled   = pattern.Of(`\$[({]([A-Za-z_]\w*)[)}]`)
	makeCareless = pattern.Of(`(^|\s)(-?[a-jl-zB-Z]*[inqt][a-jl-zB-Z]*|--ignore-errors|--dry-run|--just-print|--question|--touch)(\s|$)`)
)

// loosenings are what of a Makefile keeps all of its recipes from failing, or
// tells the tools behind them to leave tests out.
func loosenings(text string) []mark {
	var marks []mark
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimRight(line, "\r\n")
		if !strings.HasPrefix(line, "\t") && loosening(line) {
			marks = append(marks, mark{number, strings.Join(strings.Fields(line), " ")})
		}
	}
	return marks
}

func loosening(line string) bool {
	if found := makeSpecial.FindStringSubmatch(line); found != nil {
		targets := strings.Fields(found[2])
		return found[1] == "IGNORE" && (len(targets) == 0 || slices.ContainsFunc(targets, checking.MatchString))
	}
	found := makeAssigned.FindStringSubmatch(line)
	if found == nil {
		return false
	}
	switch called, value := found[1], found[3]; called {
	case "MAKEFLAGS", "MFLAGS", "GNUMAKEFLAGS":
		return makeCareless.MatchString(value)
	case "SHELL":
		return value != "" && !strings.Contains(value, "$") && !slices.ContainsFunc(strings.Fields(value), isShell)
	case ".SHELLFLAGS":
		return !strings.Contains(value, "c")
	default:
		class, known := optionsOf[called]
		return known && leavesOut(class, value)
	}
}

var shells = set("sh bash dash zsh ksh ash fish pwsh powershell cmd cmd.exe busybox nu")

func isShell(word string) bool { return shells[path.Base(strings.ReplaceAll(word, `\`, "/"))] }

// optionsOf are the variables by which runners are given options, with a tool of
// theirs.
var optionsOf = map[string]string{"GOFLAGS": "go test", "PYTEST_ADDOPTS": "pytest", "JEST_FLAGS": "jest", "VITEST_FLAGS": "vitest"}

// leavesOut tells whether options that a tool is given leave tests out.
func leavesOut(tool, value string) bool {
	given := strings.Fields(strings.NewReplacer(`"`, " ", "'", " ").Replace(value))
	plain := command{tool: tool, class: testing}
	with := plain
	with.args = given
	why := weakened(plain, with)
	return strings.HasPrefix(why, "it has ")
}

// worlds reports what is new of that.
func (r *report) worlds(was, now sheet) {
	for _, c := range r.changes {
		before, after := loosenings(was.texts[c.Path]), loosenings(now.texts[c.Path])
		if !isMake(c.Path) || c.Before == nil {
			continue
		}
		for _, m := range after {
			if !slices.ContainsFunc(before, func(old mark) bool { return old.text == m.text }) {
				r.add(Finding{c.Path, CheckChanged, pick(c.After, true, m.line), "make lets more pass, whatever it runs: " + short(m.text, 80)})
			}
		}
	}
}

func isMake(name string) bool {
	base := path.Base(name)
	return strings.HasPrefix(strings.ToLower(base), "makefile") || base == "GNUmakefile" || strings.HasSuffix(base, ".mk")
}

// makeVariables are the variables of a Makefile that stand for plain words.
func makeVariables(text string) map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(text) {
		found := makeAssigned.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		if found == nil || strings.HasPrefix(line, "\t") {
			continue
		}
		called, how, value := found[1], found[2], found[3]
		old, known := all[called]
		switch {
		case strings.HasSuffix(value, `\`):
			value = "$" // goes on: it is not read
		case how == "+=":
			value = strings.TrimSpace(old + " " + value)
		case how == "?=" && known:
			value = old
		}
		if len(value) <= 200 && len(all) < 500 {
			all[called] = value
		}
	}
	return all
}

// expanded puts the values of variables in the place of their names, as far as
// nothing has to be run for it.
func expanded(text string, variables map[string]string) string {
	for range 4 {
		text = makeCalled.ReplaceAllStringFunc(text, func(call string) string {
			value, known := variables[call[2:len(call)-1]]
			if !known || strings.Contains(makeCalled.ReplaceAllString(value, ""), "$") {
				return call
			}
			return value
		})
		if len(text) > 64<<10 || !strings.Contains(text, "$") {
			break
		}
	}
	return text
}
