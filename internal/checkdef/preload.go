package checkdef

import (
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// What a runner is told to load, and what a script reads in, has its say before
// any test has.

// loadFlags are node's flags that load a file first; the short one means other things elsewhere.
var (
	loadFlags   = words("--require --import --loader --experimental-loader")
	nodeRunners = words("node mocha tsx ts-node nyc c8 ava tape")
	configFlags = words("--config -c --rcfile --config-file --ini")
	scriptEnds  = []string{"", ".js", ".cjs", ".mjs", ".ts", "/index.js"}
)

// addPreloads adds the files that a call loads first, or reads settings from.
func (f *follower) addPreloads(call []string, in shellText) {
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
		f.addFlagFile(tool, flag, value, in)
	}
}

func (f *follower) addFlagFile(tool, flag, value string, in shellText) {
	_, known := settingsOf[tool]
	switch {
	case loadFlags[flag], flag == "-r" && nodeRunners[tool]:
		f.addNodeModule(value, in)
	case configFlags[flag] && known:
		f.addConfigFile(value, in)
	case flag == "PYTHONPATH":
		for dir := range strings.SplitSeq(value, ":") {
			if dir = inRepository(in.dir, dir); dir != "" {
				f.addShadowing("python", dir)
			}
		}
	}
}

// addConfigFile adds settings that a tool is told of.
func (f *follower) addConfigFile(name string, in shellText) {
	if name = inRepository(in.dir, name); name != "" && f.base(name) != nil {
		f.addWhole(name)
	}
}

// addNodeModule adds a file of node's, with the ending that its name leaves out.
func (f *follower) addNodeModule(name string, in shellText) {
	if name = inRepository(in.dir, name); name == "" || name == "." || isTest(name) {
		return
	}
	for _, end := range scriptEnds {
		if f.base(name+end) != nil {
			f.addWhole(name + end)
			return
		}
	}
}

// assertFunction is a script's function that says whether something is as it should be.
var assertFunction = pattern.Of(`(?im)^\s*(function\s+)?\w*(assert|expect|same|equal|refute|should|must|fail)\w*\s*\(\)`)

// addSourced adds what a script reads in: new files, those that say how
// things are compared, and variables for it. The rest may be what is checked.
func (f *follower) addSourced(name string, in shellText) {
	text := f.base(name)
	switch {
	case text == nil:
		f.addIfNew(name)
	case strings.HasPrefix(path.Base(name), ".env") || assertFunction.MatchString(string(text)):
		f.addWhole(name)
		f.enqueue(shellText{string(text), in.dir, in.isSetup})
	}
}

// A script that checks may be made of several files. Those that lie with it in a
// folder of tools are part of it; elsewhere they may be what is checked.

var (
	toolFolder      = pattern.Of(`(^|/)(tools?|scripts?|ci|hack|dev|checks?)(/|$)`)
	importStatement = pattern.Of(`(?m)^\s*(?:from|import)\s+([\w.]+)|\b(?:require|import)\s*\(?\s*["'](\.{1,2}/[^"']+)["']|\bfrom\s+["'](\.{1,2}/[^"']+)["']`)
)

const maxImports = 200

// addImports adds what a script is made of besides.
func (f *follower) addImports(name, text string) {
	if !toolFolder.MatchString(path.Dir(name)) {
		return
	}
	for _, found := range importStatement.FindAllStringSubmatch(text, maxImports) {
		asked := found[2] + found[3]
		if module := strings.TrimLeft(found[1], "."); module != "" {
			asked = strings.ReplaceAll(module, ".", "/")
		}
		for _, end := range append([]string{".py", "/__init__.py"}, scriptEnds...) {
			file := inRepository(path.Dir(name), asked+end)
			_, held := f.defining[file]
			if file == "" || held || !toolFolder.MatchString(path.Dir(file)) || isTest(file) || f.base(file) == nil {
				continue
			}
			f.addWhole(file)
			f.addImports(file, string(f.base(file)))
		}
	}
}

// addGoProgram adds a program in Go that checks, as far as a change touches it.
func (f *follower) addGoProgram(args []string, in shellText) {
	args = slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return strings.HasPrefix(arg, "-") })
	if len(args) < 2 || args[0] != "run" || !checkName.MatchString(path.Base(args[1])) {
		return
	}
	of := inRepository(in.dir, args[1])
	for _, name := range f.touched {
		if of != "" && of != "." && !isTest(name) && (name == of || strings.HasPrefix(name, of+"/")) {
			f.addWhole(name)
		}
	}
}
