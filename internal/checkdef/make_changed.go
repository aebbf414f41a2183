package checkdef

import (
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/makefile"
	"github.com/ralph-loop/ralph/internal/pattern"
)

func targetsDiffer(was, now []byte, parts []string) bool {
	old, young := makefile.Rules(was), makefile.Rules(now)
	return variablesLost(old, young, parts) || slices.ContainsFunc(parts, func(name string) bool { return rulesDiffer(rulesFor(old, name), rulesFor(young, name)) })
}

func rulesFor(rules []makefile.Rule, name string) []makefile.Rule {
	return slices.DeleteFunc(slices.Clone(rules), func(r makefile.Rule) bool { return !slices.Contains(r.Targets, name) })
}

// rulesDiffer reports whether the rules of a target act differently. More prerequisites do
// not count.
func rulesDiffer(old, young []makefile.Rule) bool {
	return !slices.EqualFunc(old, young, func(a, b makefile.Rule) bool {
		return a.Recipe() == b.Recipe() && !lost(a.Needs, b.Needs)
	})
}

// lost reports whether a word is no longer there. A list can have 100,000 words.
func lost(was, now []string) bool {
	kept := words(strings.Join(now, " "))
	return slices.ContainsFunc(was, func(word string) bool { return !kept[word] })
}

// phonyTargets returns the targets that make runs even if a file has their name.
func phonyTargets(rules []makefile.Rule) []string {
	var all []string
	for _, r := range rulesFor(rules, ".PHONY") {
		all = append(all, r.Needs...)
	}
	return all
}

// variablesLost reports whether a variable that targets use, directly or not, has lost a word.
func variablesLost(old, young []makefile.Rule, targets []string) bool {
	was, now := makefile.Variables(old), makefile.Variables(young)
	text := textOf(old, targets, func(r makefile.Rule) string { return r.Recipe() + strings.Join(r.Needs, " ") })
	return slices.ContainsFunc(variablesIn(text, was), func(name string) bool { return lost(was[name].Words, now[name].Words) })
}

// textOf returns a part of the rules of some targets.
func textOf(rules []makefile.Rule, targets []string, of func(makefile.Rule) string) string {
	var text strings.Builder
	for _, name := range targets {
		for _, r := range rulesFor(rules, name) {
			text.WriteString(of(r) + "\n")
		}
	}
	return text.String()
}

// variablesIn returns the variables that a text uses, directly or not, each once.
func variablesIn(text string, assigned map[string]makefile.Variable) (used []string) {
	known := map[string]bool{}
	for n := 0; n <= len(used) && n < maxScripts; n++ {
		for _, found := range usedVariable.FindAllStringSubmatch(text, -1) {
			if name := found[1] + found[2]; !known[name] {
				known[name], used = true, append(used, name)
			}
		}
		if n < len(used) {
			text = strings.Join(assigned[used[n]].Words, " ")
		}
	}
	return used
}

// usedVariable matches where make or just expands a variable.
var usedVariable = pattern.Of(`\$[({]([A-Za-z_][A-Za-z0-9_.-]*)[)}]|\{\{\s*([A-Za-z_]\w*)\s*\}\}`)

// including matches a line that includes another Makefile, which may be missing.
var including = pattern.Of(`^\s*(?:-?include|sinclude)\s+([^#]*)`)

// wildcards matches the forms that list files in a Makefile.
var wildcards = pattern.Of(`\$[({]wildcard\s+([^)}]*)[)}]`)

// includedFiles returns the files that a Makefile or justfile includes by name, each once.
func (f *follower) includedFiles(rules []makefile.Rule, dir string) (files []string) {
	known := map[string]bool{}
	for _, word := range includedWords(rules) {
		found := f.matchingTouched(word, dir)
		if name := inRepository(dir, word); name != "" && !strings.ContainsAny(name, "$*?") {
			found = append(found, name)
		}
		for _, name := range found {
			if !known[name] {
				known[name], files = true, append(files, name)
			}
		}
	}
	return files
}

// includedWords returns at most maxWords names and patterns: a pattern is compared with all touched files.
func includedWords(rules []makefile.Rule) (words []string) {
	for _, r := range rules {
		if found := including.FindStringSubmatch(r.Head); found != nil {
			words = append(words, strings.Fields(wildcards.ReplaceAllString(found[1], "$1"))...)
		}
	}
	return words[:min(len(words), maxWords)]
}

// addIncluded adds the same targets in included files.
func (f *follower) addIncluded(main string, files []string) {
	for _, file := range files {
		f.addParts(file, f.defining[main].parts...)
	}
}
