package checkdef

import (
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// A script that checks may be made of several files. Those that lie with it in a
// folder of tools are part of it; elsewhere they may be what is checked.

var (
	tooling = pattern.Of(`(^|/)(tools?|scripts?|ci|hack|dev|checks?)(/|$)`)
	fetched = pattern.Of(`(?m)^\s*(?:from|import)\s+([\w.]+)|\b(?:require|import)\s*\(?\s*["'](\.{1,2}/[^"']+)["']|\bfrom\s+["'](\.{1,2}/[^"']+)["']`)
)

const mostImports = 200

// imports takes hold of what a script is made of besides.
func (t *trail) imports(name, text string) {
	if !tooling.MatchString(path.Dir(name)) {
		return
	}
	for _, found := range fetched.FindAllStringSubmatch(text, mostImports) {
		asked := found[2] + found[3]
		if module := strings.TrimLeft(found[1], "."); module != "" {
			asked = strings.ReplaceAll(module, ".", "/")
		}
		for _, end := range append([]string{".py", "/__init__.py"}, scriptEnds...) {
			file := atFolder(path.Dir(name), asked+end)
			_, held := t.led[file]
			if file == "" || held || !tooling.MatchString(path.Dir(file)) || ofTests(file) || t.base(file) == nil {
				continue
			}
			t.all(file)
			t.imports(file, string(t.base(file)))
		}
	}
}

// goRun takes hold of a program in Go that checks, as far as a change touches it.
func (t *trail) goRun(args []string, in errand) {
	args = slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return strings.HasPrefix(arg, "-") })
	if len(args) < 2 || args[0] != "run" || !checking.MatchString(path.Base(args[1])) {
		return
	}
	of := atFolder(in.dir, args[1])
	for _, name := range t.touched {
		if of != "" && of != "." && !ofTests(name) && (name == of || strings.HasPrefix(name, of+"/")) {
			t.all(name)
		}
	}
}
