package checkdef

import (
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// including is a line by which a Makefile reads another; one that may be missing
// may come.
var including = pattern.Of(`^\s*(?:-?include|sinclude)\s+([^#]*)`)

// wildcards are the forms by which a Makefile lists files.
var wildcards = pattern.Of(`\$[({]wildcard\s+([^)}]*)[)}]`)

// included are the other files that the lines of a Makefile or justfile
// include. Names in variables cannot be resolved.
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

// beside takes hold of what the files say that a Makefile reads besides: of the
// same targets, and of the variables that those use.
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

// bears tells whether a file that a Makefile reads has another say in some
// targets than it had. One that is not there has none.
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
