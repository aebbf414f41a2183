package checkdef

import (
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// What a runner is told to load, and what a script reads in, has its say before
// any test has.

// loading are node's flags that load a file first; the short one means other things elsewhere.
var (
	loading    = words("--require --import --loader --experimental-loader")
	nodeLike   = words("node mocha tsx ts-node nyc c8 ava tape")
	settling   = words("--config -c --rcfile --config-file --ini")
	scriptEnds = []string{"", ".js", ".cjs", ".mjs", ".ts", "/index.js"}
)

// preloads takes hold of the files that a call loads first, or reads settings from.
func (t *trail) preloads(call []string, in errand) {
	tool := ""
	for _, word := range call {
		if tool = path.Base(word); !assignment.MatchString(word) && !wrappers[word] && !strings.HasPrefix(word, "-") {
			break
		}
	}
	for i, word := range call {
		flag, value, joined := strings.Cut(word, "=")
		if !joined && i+1 < len(call) {
			value = call[i+1]
		}
		t.told(tool, flag, value, in)
	}
}

func (t *trail) told(tool, flag, value string, in errand) {
	_, known := settingsOf[tool]
	switch {
	case loading[flag], flag == "-r" && nodeLike[tool]:
		t.loaded(value, in)
	case settling[flag] && known:
		t.settled(value, in)
	case flag == "PYTHONPATH":
		for dir := range strings.SplitSeq(value, ":") {
			if dir = atFolder(in.dir, dir); dir != "" {
				t.shaded("python", dir)
			}
		}
	}
}

// settled takes hold of settings that a tool is told of.
func (t *trail) settled(name string, in errand) {
	if name = atFolder(in.dir, name); name != "" && t.base(name) != nil {
		t.all(name)
	}
}

// loaded takes hold of a file of node's, with the ending that its name leaves out.
func (t *trail) loaded(name string, in errand) {
	if name = atFolder(in.dir, name); name == "" || name == "." || ofTests(name) {
		return
	}
	for _, end := range scriptEnds {
		if t.base(name+end) != nil {
			t.all(name + end)
			return
		}
	}
}

// comparing is a script's function that says whether something is as it should be.
var comparing = pattern.Of(`(?im)^\s*(function\s+)?\w*(assert|expect|same|equal|refute|should|must|fail)\w*\s*\(\)`)

// read takes hold of what a script reads in: of what comes, of what says how
// things are compared, and of variables for it. The rest may be what is checked.
func (t *trail) read(name string, in errand) {
	text := t.base(name)
	switch {
	case text == nil:
		t.fresh(name)
	case strings.HasPrefix(path.Base(name), ".env") || comparing.MatchString(string(text)):
		t.all(name)
		t.add(errand{string(text), in.dir, in.ready})
	}
}

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
