package checkdef

import (
	"path"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
	"github.com/ralph-loop/ralph/internal/suite"
)

// calls are the commands in a shell's text, as lists of words. It is read for
// its words alone: nothing is expanded, and what is quoted is read as well.
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
	languages  = words("python python3 node ruby perl php pwsh Rscript tsx ts-node deno bun")
)

func words(text string) map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		all[word] = true
	}
	return all
}

// bare is a command without make's signs, variables, and programs that run another.
func bare(call []string) []string {
	for len(call) > 0 {
		call[0] = strings.TrimLeft(call[0], "@-+")
		if call[0] != "" && !assignment.MatchString(call[0]) && !wrappers[call[0]] {
			return call
		}
		call = call[1:]
	}
	return nil
}

// checking are names of scripts that check. Another script may be what is
// checked: that one is the work's. What makes a folder ready may have any name.
var checking = pattern.Of(`(?i)(^|[^a-z])(pre-?)?(tests?|testing|runtests?|checks?|checkall|lint|linters?|verify|validate|ci|specs?|e2e|unit|integration|smoke|suite|coverage|qa)([^a-z]|$)`)

func (t *trail) script(call []string, in errand) {
	called, shell := ran(call)
	name := atFolder(in.dir, called)
	if name == "" || name == in.dir || ofTests(name) {
		return
	}
	if call[0] == "." || call[0] == "source" {
		t.read(name, in)
	}
	text := t.base(name)
	first, _, _ := strings.Cut(string(text), "\n")
	shell = shell || strings.HasSuffix(name, ".sh") || strings.HasPrefix(first, "#!") && strings.Contains(first, "sh")
	checks := checking.MatchString(path.Base(name)) || in.ready && shell
	if text == nil || !checks {
		return
	}
	t.all(name)
	if shell {
		beside := itsFolder.ReplaceAllStringFunc(string(text), func(string) string { return path.Dir(called) })
		t.add(errand{beside, in.dir, in.ready})
	}
	t.imports(name, string(text))
}

// itsFolder is how a script tells the folder that it lies in.
var itsFolder = pattern.Of(`\$\(\s*dirname\s+(--\s+)?["']?\$(0|\{0\}|BASH_SOURCE|\{BASH_SOURCE(\[0\])?\})["']?\s*\)|\$\{(0|BASH_SOURCE(\[0\])?)%/\*\}`)

// ran is the file that a command runs, and whether a shell does; empty: a program from elsewhere.
func ran(call []string) (name string, shell bool) {
	shell = shells[path.Base(call[0])]
	if !shell && !languages[path.Base(call[0])] {
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

// ofTests tells of a file that is a test, or serves one: the work's own.
func ofTests(name string) bool { return suite.Of(name) != suite.None }
