package checkdef

import (
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// Files that a runner preloads or a script sources run before any test.

// loadFlags are node's flags that preload a file. The short one means something else for other programs.
var (
	loadFlags   = words("--require --import --loader --experimental-loader")
	nodeRunners = words("node mocha tsx ts-node nyc c8 ava tape")
	configFlags = words("--config -c --rcfile --config-file --ini")
	scriptEnds  = []string{"", ".js", ".cjs", ".mjs", ".ts", "/index.js"}
)

// addPreloads adds the files that a call preloads or reads settings from.
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
	_, known := filesOf[tool]
	switch {
	case loadFlags[flag], flag == "-r" && nodeRunners[tool]:
		f.addNodeModule(value, in)
	case configFlags[flag] && known:
		f.addConfigFile(value, in)
	case flag == "PYTHONPATH":
		for dir := range strings.SplitSeq(value, ":") {
			if dir = inRepository(in.dir, dir); dir != "" {
				f.addFiles("python", dir)
			}
		}
	}
}

// addConfigFile adds the settings file that a flag names.
func (f *follower) addConfigFile(name string, in shellText) {
	if name = inRepository(in.dir, name); name != "" && f.base(name) != nil {
		f.addWhole(name)
	}
}

// addNodeModule adds a module of node, whose name may have no extension.
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

// assertFunction matches a script's function that compares a result.
var assertFunction = pattern.Of(`(?im)^\s*(function\s+)?\w*(assert|expect|same|equal|refute|should|must|fail)\w*\s*\(\)`)

// addSourced adds files that a script sources: new ones, those with assertions, and
// those with variables. Others may be the product.
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

// A check's script may consist of several files. Those beside it in a folder of tools
// belong to it. Others may be the product.

var (
	toolFolder      = pattern.Of(`(^|/)(tools?|scripts?|ci|hack|dev|checks?)(/|$)`)
	importStatement = pattern.Of(`(?m)^\s*(?:from|import)\s+([\w.]+)|\b(?:require|import)\s*\(?\s*["'](\.{1,2}/[^"']+)["']|\bfrom\s+["'](\.{1,2}/[^"']+)["']`)
)

const maxImports = 200

// addImports adds the other files of a script.
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

// addGoProgram adds the touched files of a Go program that checks.
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
