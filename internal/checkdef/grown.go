package checkdef

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// A trial keeps the growth of a Makefile: new rules with new names, and new files in the
// lists of what is built.

var (
	plainRule = pattern.Of(`^([A-Za-z0-9_]+(?:-[A-Za-z0-9_]+)*) *: *(?:(?:[\w./-]+|\$\(\w+\)) *)*$`)
	plainList = pattern.Of(`^([A-Za-z_]\w*)\s*([:+?]?=)\s*(.*)$`)
	compilers = pattern.Of(`^((C|CXX|CPP|LD)FLAGS|LDLIBS)$`)
	plainFlag = pattern.Of(`^[\w./=+,-]+$`)
	plainFile = pattern.Of(`^[\w./-]+\.\w+$`)
	// silent matches lines without effect, and those that name phony targets.
	silent = pattern.Of(`^ *(#.*)?$|^\.PHONY:[\w ./-]*$`)
	// remarkable matches lines that change the meaning of others.
	remarkable = pattern.Of(`(?m)%|^\s*define\b|^\s*-?include\b|^\s*sinclude\b|^\s*(mod|import)\b|\.RECIPEPREFIX|\.ONESHELL`)
)

// makefile is a Makefile or justfile of the base.
type makefile struct {
	name  string
	lines []string
	parts []string // the targets of the checks
	base  Files
}

// keepGrowth returns the base's file with the growth of the new one.
func (m makefile) keepGrowth(is []byte) (text []byte, same bool) {
	was := strings.Join(m.lines, "\n")
	if len(m.lines) == 0 || remarkable.MatchString(was) {
		return m.base(m.name), false
	}
	young, trial := logicalLines(is), slices.Clone(m.lines)
	before, now := assignments(m.lines), assignments(young)
	rules := rulesOf([]byte(was))
	checked := variablesIn(textOf(rules, m.parts, rule.recipe), variables(rules))
	for at, line := range trial {
		list := plainList.FindStringSubmatch(flat(line))
		if list == nil || affectsAllRules.MatchString(line) || slices.Contains(checked, list[1]) {
			continue
		}
		if to := now[list[1]]; len(to) == 1 && len(before[list[1]]) == 1 && m.grows(line, to[0]) {
			trial[at] = to[0]
		}
	}
	added, rest := newRules(young, was+"\n"+strings.Join(m.parts, " "), strings.Contains(strings.ToLower(path.Base(m.name)), "justfile"))
	same = slices.Equal(said(trial), said(rest)) && !lost(phonyTargets(rules), phonyTargets(rulesOf(is)))
	return []byte(strings.Join(append(trial, added...), "\n") + "\n"), same
}

// grows reports whether a list keeps its words in their order, and all others are names of
// new files or flags of a compiler.
func (m makefile) grows(was, now string) bool {
	old, young := plainList.FindStringSubmatch(flat(was)), plainList.FindStringSubmatch(flat(now))
	left := strings.Fields(old[3])
	for word := range strings.FieldsSeq(young[3]) {
		file := path.Join(path.Dir(m.name), word)
		switch {
		case len(left) > 0 && word == left[0]:
			left = left[1:]
		case compilers.MatchString(old[1]) && plainFlag.MatchString(word):
		case plainFile.MatchString(word) && m.base(file) == nil && !isTest(file):
		default:
			return false
		}
	}
	return len(left) == 0 && old[2] == young[2]
}

// logicalLines returns the lines of a text. A backslash at the end joins a line with the next.
func logicalLines(text []byte) (lines []string) {
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		if last := len(lines) - 1; last >= 0 && strings.HasSuffix(lines[last], `\`) {
			lines[last] += "\n" + line
		} else {
			lines = append(lines, line)
		}
	}
	return lines
}

func flat(line string) string { return strings.ReplaceAll(line, "\\\n", " ") }

// assignments returns the lines that assign a list, by its name.
func assignments(lines []string) map[string][]string {
	all := map[string][]string{}
	for _, line := range lines {
		if found := plainList.FindStringSubmatch(flat(line)); found != nil {
			all[found[1]] = append(all[found[1]], line)
		}
	}
	return all
}

func said(lines []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return silent.MatchString(line) })
}

// mentions reports whether a text contains a name as a word.
func mentions(text, name string) bool {
	return regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`).MatchString(text)
}

// newRules returns the rules with new names that follow each rule of the base, and all other
// lines as rest. It looks for at most maxScripts names in the base.
func newRules(now []string, was string, just bool) (added, rest []string) {
	behind, in, searched := false, false, 0
	for _, line := range now {
		found := plainRule.FindStringSubmatch(line)
		indented := strings.HasPrefix(line, "\t") || just && strings.HasPrefix(line, " ")
		switch {
		case in && (indented || line == ""):
		case behind && found != nil && searched < maxScripts:
			searched++
			in = !mentions(was, found[1])
		default:
			in = false
		}
		if in {
			added = append(added, line)
			continue
		}
		behind = behind || ruleLine.MatchString(line) && !strings.HasPrefix(line, ".")
		rest = append(rest, line)
	}
	return added, rest
}

// workspaces returns the member of that name if a package.json only gets more of them. Otherwise
// checks may no longer run in a folder.
func workspaces(was, is []byte) []string {
	folders := func(text []byte) (all []string) {
		pack, _ := readPackageJSON(text)
		if list := pack.object("workspaces")["packages"]; list != nil {
			pack["workspaces"] = list
		}
		_ = json.Unmarshal(pack["workspaces"], &all) // anything else has no folders
		return all
	}
	before, now := folders(was), folders(is)
	out := func(folder string) bool { return strings.HasPrefix(folder, "!") && !slices.Contains(before, folder) }
	if lost(before, now) || slices.ContainsFunc(now, out) {
		return nil
	}
	return []string{"workspaces"}
}
