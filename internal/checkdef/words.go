package checkdef

import (
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
	"github.com/ralph-loop/ralph/internal/suite"
)

// calls returns the commands in a shell script, as lists of words. Nothing is
// expanded, and quoted text is read, too.
func calls(text string) [][]string {
	var all [][]string
	text = strings.ReplaceAll(text, "\\\n", " ")
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		for part := range strings.FieldsFuncSeq(line, func(r rune) bool { return strings.ContainsRune(";|&(){}`\n", r) }) {
			if words := strings.FieldsFunc(part, func(r rune) bool { return strings.ContainsRune(" \t\r'\"", r) }); len(words) > 0 {
				all = append(all, words)
			}
		}
	}
	return all
}

var (
	assignment = pattern.Of(`^[A-Za-z_][A-Za-z0-9_]*=`)
	wrappers   = words("env command exec time nice nohup sudo then do else if while until ! eval xvfb-run")
	shells     = words("sh bash dash zsh ksh ash source .")
	mentioning = words("echo printf which type v apt apt-get apk dnf yum brew git grep") // v: command -v
	languages  = words("python python3 node ruby perl php pwsh Rscript tsx ts-node deno bun")
)

func words(text string) map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		all[word] = true
	}
	return all
}

// withoutWrappers returns a command without make's prefixes, variables, and programs that run another.
func withoutWrappers(call []string) []string {
	for len(call) > 0 {
		call[0] = strings.TrimLeft(call[0], "@-+")
		if call[0] != "" && !assignment.MatchString(call[0]) && !wrappers[call[0]] {
			return call
		}
		call = call[1:]
	}
	return nil
}

// checkName matches the names of scripts that check. Another script may be the
// product. A script of the setup may have any name.
var checkName = pattern.Of(`(?i)(^|[^a-z])(pre-?)?(tests?|testing|runtests?|checks?|checkall|lint|linters?|verify|validate|ci|specs?|e2e|unit|integration|smoke|suite|coverage|qa)([^a-z]|$)`)

func (f *follower) followScript(call []string, in shellText) {
	called, shell := scriptOf(call)
	if module, is := pythonModule(call); is {
		f.addPackage(module, in)
		called = module + ".py"
	}
	name := inRepository(in.dir, called)
	if name == "" || name == in.dir || isTest(name) {
		return
	}
	if call[0] == "." || call[0] == "source" {
		f.addSourced(name, in)
	}
	text := f.base(name)
	first, _, _ := strings.Cut(string(text), "\n")
	shell = shell || strings.HasSuffix(name, ".sh") || strings.HasPrefix(first, "#!") && strings.Contains(first, "sh")
	checks := checkName.MatchString(path.Base(name)) || in.isSetup && shell
	if text == nil || !checks {
		return
	}
	f.addWhole(name)
	if shell {
		beside := ownFolder.ReplaceAllStringFunc(string(text), func(string) string { return path.Dir(called) })
		f.enqueue(shellText{beside, in.dir, in.isSetup})
	}
	f.addImports(name, string(text))
}

// addPackage adds a package of python whose name says that it checks.
func (f *follower) addPackage(module string, in shellText) {
	for _, end := range []string{"/__init__.py", "/__main__.py"} {
		if name := inRepository(in.dir, module+end); name != "" && checkName.MatchString(path.Base(module)) && !isTest(name) && f.base(name) != nil {
			f.addWhole(name)
			f.addImports(name, string(f.base(name)))
		}
	}
}

// ownFolder matches how a script finds its own folder.
var ownFolder = pattern.Of(`\$\(\s*dirname\s+(--\s+)?["']?\$(0|\{0\}|BASH_SOURCE|\{BASH_SOURCE(\[0\])?\})["']?\s*\)|\$\{(0|BASH_SOURCE(\[0\])?)%/\*\}`)

// pythonModule returns the path of the module that python -m runs, without an ending.
func pythonModule(call []string) (string, bool) {
	if at := slices.Index(call, "-m"); at > 0 && at+1 < len(call) && interpreter.MatchString(path.Base(call[0])) {
		return strings.ReplaceAll(call[at+1], ".", "/"), true
	}
	return "", false
}

// scriptOf returns the file of the project that a command runs, if any, and whether a shell runs it.
func scriptOf(call []string) (name string, shell bool) {
	shell = shells[path.Base(call[0])]
	if !shell && !languages[path.Base(call[0])] && !interpreter.MatchString(path.Base(call[0])) {
		if strings.Contains(call[0], "/") {
			return call[0], false
		}
		return "", false
	}
	for _, word := range call[1:] {
		switch {
		case word == "-c" || word == "-m" || word == "-e":
			return "", false
		case !strings.HasPrefix(word, "-"):
			return word, shell
		}
	}
	return "", false
}

// isTest reports whether a file is a test or serves one. It belongs to the work.
func isTest(name string) bool { return suite.Of(name) != suite.None }

// Named returns the files of the repository that words of the checks may name, in the
// folder in which they run or in one that another word names.
func (c CommandSet) Named() []string {
	var all []string
	for _, check := range c.Checks {
		words := strings.FieldsFunc(check, func(r rune) bool { return strings.ContainsRune(" \t\r\n;|&(){}<>`'\"=", r) })
		for _, dir := range append([]string{"."}, words[:min(len(words), maxNaming)]...) {
			for _, word := range words {
				if name := inRepository(path.Join(c.Within, dir), word); name != "" && !path.IsAbs(dir) && !path.IsAbs(word) {
					all = append(all, name)
				}
			}
		}
	}
	return all
}

const maxNaming = 20
