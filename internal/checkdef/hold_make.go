package checkdef

import (
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

func otherTargets(was, now []byte, parts []string) bool {
	old, young := rulesOf(was), rulesOf(now)
	return !slices.Equal(oddLines(old), oddLines(young)) || lost(phony(old), phony(young), parts) || narrowed(old, young, parts) ||
		slices.ContainsFunc(parts, func(name string) bool { return differ(named(old, name), named(young, name)) })
}

func named(rules []rule, name string) []rule {
	var some []rule
	for _, r := range rules {
		if slices.Contains(r.names, name) {
			some = append(some, r)
		}
	}
	return some
}

// differ tells whether the rules of a target do otherwise. To need more is no
// matter.
func differ(old, young []rule) bool {
	return !slices.EqualFunc(old, young, func(a, b rule) bool {
		return a.recipe() == b.recipe() && !slices.ContainsFunc(a.needs, func(need string) bool { return !slices.Contains(b.needs, need) })
	})
}

// loose are the lines that belong to no rule.
func loose(rules []rule) []string {
	var all []string
	for _, r := range rules {
		if len(r.names) == 0 {
			all = append(all, r.lines...)
		}
	}
	return all
}

func oddLines(rules []rule) []string {
	var all []string
	for _, line := range loose(rules) {
		if odd.MatchString(line) {
			all = append(all, strings.TrimSpace(line))
		}
	}
	return all
}

// phony are the targets that are made though a file has their name.
func phony(rules []rule) []string {
	var all []string
	for _, r := range named(rules, ".PHONY") {
		all = append(all, r.needs...)
	}
	return all
}

// lost tells whether one of some words is gone from a list.
func lost(old, young, of []string) bool {
	return slices.ContainsFunc(of, func(word string) bool { return slices.Contains(old, word) && !slices.Contains(young, word) })
}

// narrowed tells whether a variable that the recipes use, directly or not, holds less than it did.
func narrowed(old, young []rule, parts []string) bool {
	was, now, last, latest := variables(old), variables(young), effective(old), effective(young)
	var used []string
	for _, name := range parts {
		for _, r := range named(old, name) {
			used = append(used, uses(r.recipe()+strings.Join(r.needs, " "))...)
		}
	}
	for n := 0; n < len(used) && n < mostErrands; n++ {
		if lost(was[used[n]], now[used[n]], was[used[n]]) || lost(last[used[n]], latest[used[n]], last[used[n]]) {
			return true
		}
		for _, more := range uses(strings.Join(was[used[n]], " ")) {
			if !slices.Contains(used, more) {
				used = append(used, more)
			}
		}
	}
	return false
}

// variables are what is assigned, in words.
func variables(rules []rule) map[string][]string {
	all := map[string][]string{}
	for _, line := range loose(rules) {
		if found := assigned.FindStringSubmatch(strings.TrimSpace(line)); found != nil {
			all[found[1]] = append(all[found[1]], strings.Fields(found[3])...)
		}
	}
	return all
}

// effective is what variables hold in the end, as far as no condition says otherwise.
func effective(rules []rule) map[string][]string {
	all := map[string][]string{}
	for _, line := range loose(rules) {
		found := assigned.FindStringSubmatch(strings.TrimSpace(line))
		if found == nil || found[2] == "?=" && all[found[1]] != nil {
			continue
		}
		if found[2] != "+=" {
			all[found[1]] = nil
		}
		all[found[1]] = append(all[found[1]], strings.Fields(found[3])...)
	}
	return all
}

func uses(text string) []string {
	var all []string
	for _, found := range called.FindAllStringSubmatch(text, -1) {
		all = append(all, found[1]+found[2])
	}
	return all
}

// including is a line by which a Makefile reads another, which may be missing.
var including = pattern.Of(`^\s*(?:-?include|sinclude)\s+([^#]*)`)

// wildcards are the forms by which a Makefile lists files.
var wildcards = pattern.Of(`\$[({]wildcard\s+([^)}]*)[)}]`)

// included are the files that a Makefile or justfile includes, but for names in variables.
func (t *trail) included(rules []rule, dir string) []string {
	var files []string
	for _, line := range loose(rules) {
		found := including.FindStringSubmatch(line)
		if found == nil {
			continue
		}
		for name := range strings.FieldsSeq(wildcards.ReplaceAllString(found[1], "$1")) {
			files = append(files, t.meant(name, dir)...)
			if name = atFolder(dir, name); name != "" && !strings.ContainsAny(name, "$*?") {
				files = append(files, name)
			}
		}
	}
	return files
}

// beside takes hold of the same targets, and of the variables that they use, in included files.
func (t *trail) beside(main string, files []string, rules []rule) {
	if t.led[main].whole {
		return
	}
	wanted := t.led[main].parts
	var used []string
	for _, name := range wanted {
		for _, r := range named(rules, name) {
			used = append(used, uses(r.recipe()+strings.Join(r.needs, " "))...)
		}
	}
	assigned := variables(rules)
	for n := 0; n < len(used) && n < mostErrands; n++ {
		for _, more := range uses(strings.Join(assigned[used[n]], " ")) {
			if !slices.Contains(used, more) {
				used = append(used, more)
			}
		}
	}
	for _, file := range files {
		t.some(file, lines, append(variablesOf(used), wanted...)...)
	}
}

// variablesOf are variables as parts of a file, told from targets.
func variablesOf(names []string) []string {
	var all []string
	for _, name := range names {
		all = append(all, "$"+name)
	}
	return all
}

// bears tells whether an included file says something else of some targets than it did.
func bears(was, now []byte, parts []string) bool {
	old, young := rulesOf(was), rulesOf(now)
	if !slices.Equal(oddLines(old), oddLines(young)) {
		return true
	}
	before, after := variables(old), variables(young)
	return slices.ContainsFunc(parts, func(part string) bool {
		if name, is := strings.CutPrefix(part, "$"); is {
			was, had := before[name]
			now, has := after[name]
			return had != has || !slices.Equal(was, now)
		}
		return differ(named(old, part), named(young, part))
	})
}
