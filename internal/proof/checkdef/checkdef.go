// Package checkdef finds the files that define a project's checks: scripts that a check's command names, the Makefile
// that it calls, and the settings of test runners and linters. An agent that changes them could make its checks pass
// without doing the work. The package opens no files and runs nothing. Test files and manifests do not define checks.
package checkdef

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/lib/pattern"
	"github.com/ralph-loop/ralph/internal/proof/makefile"
	"github.com/ralph-loop/ralph/internal/proof/suite"
)

// Commands are the commands of the checks and of their setup.
type Commands struct {
	Within string // the folder in which they run
	Checks []string
	Setup  []string
}

// Files returns the text of a file, or nil if there is none.
type Files func(name string) []byte

// Defined is what the commands run.
type Defined struct {
	files   map[string]bool
	Scripts map[string]bool // scripts of package.json, by name
}

// settings matches the settings of test runners, linters and build tools, and wrappers that run these.
var settings = pattern.Of(`(^|/)((site|user)customize\.py|\.?pytest\.ini|tox\.ini|noxfile\.py|\.coveragerc|` +
	`\.?ruff\.toml|\.?mypy\.ini|\.flake8|\.?pylintrc|pyrightconfig\.json|` +
	`(jest|vitest|ava|karma|playwright|cypress|eslint|babel|vite)\.(config|conf|workspace)\.[a-z]+|` +
	`\.(mocharc|nycrc|c8rc|eslintrc|babelrc)(\.[a-z]+)?|\.eslintignore|biome\.jsonc?|tsconfig[^/]*\.json|` +
	`\.golangci\.[a-z]+|go\.work|phpunit\.xml(\.dist)?|\.rspec|\.rubocop\.yml|` +
	`\.pre-commit-config\.yaml|[Tt]askfile\.ya?ml|` +
	`rust-toolchain(\.toml)?|\.cargo/config(\.toml)?|\.mvn/.*|gradle/wrapper/.*|mvnw(\.cmd)?|gradlew(\.bat)?|` +
	`(GNUm|[Mm])akefile|[^/]+\.mk|\.?[Jj]ustfile|\.npmrc|\.bazelrc|\.bazelversion)$`)

// shadows matches files that Python loads instead of a test runner.
var shadows = pattern.Of(`^(unittest|pytest)\.py$`)

// Of follows the commands through Makefiles, scripts and package.json.
func Of(commands Commands, files Files) Defined {
	f := follower{
		read:    files,
		defined: Defined{files: map[string]bool{}, Scripts: map[string]bool{}},
		seen:    map[text]bool{},
	}
	for _, command := range slices.Concat(commands.Checks, commands.Setup) {
		f.add(text{script: command, dir: commands.Within})
	}
	for n := 0; n < len(f.queue) && n < maxTexts; n++ {
		f.followText(f.queue[n])
	}
	return f.defined
}

// followText follows the calls of a script, in its folder and in each that it names by `cd`, `make -C` or the like.
// Such a folder may be relative to where an earlier `cd` led, or not: that may have been in a subshell.
func (f *follower) followText(in text) {
	start, current := in.dir, in.dir
	dirs := []string{start}
	for _, call := range calls(in.script) {
		for i, word := range call[:len(call)-1] {
			if !intoFolder[word] || len(dirs) >= maxFolders {
				continue
			}
			inside := path.Join(current, call[i+1])
			dirs = append(dirs, path.Join(start, call[i+1]), inside)
			if word == "cd" || word == "pushd" {
				current = inside
			}
		}
		for _, dir := range dirs {
			in.dir = dir
			f.follow(call, in)
		}
	}
}

// intoFolder has words before the folder in which a command runs.
var intoFolder = map[string]bool{"cd": true, "pushd": true, "-C": true, "--prefix": true, "--dir": true, "--cwd": true}

// Has reports whether a file defines the checks.
func (d Defined) Has(name string) bool {
	if shadows.MatchString(name) {
		return true
	}
	if suite.Of(name) != suite.None || suite.Manifest(name) {
		return false
	}
	return d.files[name] || settings.MatchString(name)
}

const (
	maxTexts   = 500
	maxText    = 256 << 10
	maxDepth   = 5
	maxFolders = 20
)

// text is a shell script and the folder in which it runs.
type text struct {
	script, dir string
	depth       int // how many scripts call it
}

type follower struct {
	read    Files
	defined Defined
	queue   []text
	seen    map[text]bool
}

func (f *follower) add(t text) {
	if len(t.script) > maxText || t.depth > maxDepth || f.seen[t] {
		return
	}
	f.seen[t] = true
	f.queue = append(f.queue, t)
}

// follow follows one call of a script.
func (f *follower) follow(call []string, in text) {
	for i, word := range call {
		switch path.Base(word) {
		case "make", "gmake", "just":
			f.followMake(call[i+1:], in)
		case "npm", "pnpm", "yarn", "bun":
			f.followNode(call[i+1:], in)
		}
		f.followFile(call[:i], word, in)
	}
}

// beside matches how a script names its own folder.
var beside = pattern.Of(`\$\(dirname (--)? *"?\$(0|\{0\}|BASH_SOURCE|\{BASH_SOURCE(\[0\])?\})"?\)`)

// interpreters run the file that a word names.
var interpreters = pattern.Of(
	`^(sh|bash|dash|zsh|ksh|source|\.|python[0-9.]*|node|ruby|perl|php|tsx|ts-node|deno|bun)$`)

// checkName matches the names of scripts that check. Another script that a script runs may be the product.
var checkName = pattern.Of(`(?i)(^|[^a-z])(pre-?)?` +
	`(tests?|testing|runtests?|checks?|checkall|lint|linters?|verify|validate|ci|` +
	`specs?|e2e|unit|integration|smoke|suite|coverage|qa)([^a-z]|$)`)

// followFile adds a file of the project that a call runs.
func (f *follower) followFile(before []string, word string, in text) {
	if !isRun(before, word) || strings.HasPrefix(word, "-") || path.IsAbs(word) {
		return
	}
	name := path.Join(in.dir, word)
	if strings.HasPrefix(name, "../") {
		return
	}
	script := f.read(name)
	if script == nil {
		return
	}
	if in.depth > 0 && !isSourced(before) && !checkName.MatchString(name) {
		return
	}
	f.defined.files[name] = true
	if isShell(name, string(script)) {
		f.add(text{beside.ReplaceAllString(string(script), path.Dir(word)), in.dir, in.depth + 1})
	}
}

// isRun reports whether a word of a call is the file that it runs: its first word is a path, or an interpreter stands
// before it.
func isRun(before []string, word string) bool {
	if len(before) == 0 {
		return strings.Contains(word, "/")
	}
	return slices.ContainsFunc(before, func(earlier string) bool {
		return interpreters.MatchString(path.Base(earlier))
	})
}

// isSourced reports whether a script reads a file in, which becomes a part of it.
func isSourced(before []string) bool {
	return slices.Contains(before, ".") || slices.Contains(before, "source")
}

func isShell(name, script string) bool {
	if strings.HasSuffix(name, ".sh") {
		return true
	}
	first, _, _ := strings.Cut(script, "\n")
	return strings.HasPrefix(first, "#!") && strings.Contains(first, "sh")
}

// followMake follows the recipes of the targets that a call of make or just names.
func (f *follower) followMake(args []string, in text) {
	var targets []string
	for _, arg := range args {
		if !strings.HasPrefix(arg, "-") && !strings.Contains(arg, "=") {
			targets = append(targets, arg)
		}
	}
	for _, name := range []string{"GNUmakefile", "makefile", "Makefile", "justfile", "Justfile", ".justfile"} {
		content := f.read(path.Join(in.dir, name))
		if content == nil || len(content) > maxText {
			continue
		}
		f.defined.files[path.Join(in.dir, name)] = true
		rules := makefile.Rules(content)
		if len(targets) == 0 {
			targets = firstTarget(rules)
		}
		for _, target := range targets { // make takes a file of that name as made
			f.defined.files[path.Join(in.dir, target)] = true
		}
		for n := 0; n < len(targets) && n < maxTexts; n++ {
			targets = f.followTarget(targets[n], targets, rules, in)
		}
	}
}

// followTarget follows the recipes of a target, and returns the targets with those that it needs.
func (f *follower) followTarget(target string, targets []string, rules []makefile.Rule, in text) []string {
	for _, rule := range rules {
		if !slices.Contains(rule.Targets, target) {
			continue
		}
		f.add(text{strings.ReplaceAll(rule.Recipe(), "$(MAKE)", "make"), in.dir, in.depth})
		for _, need := range rule.Needs {
			if !slices.Contains(targets, need) {
				targets = append(targets, need)
			}
		}
	}
	return targets
}

func firstTarget(rules []makefile.Rule) []string {
	for _, rule := range rules {
		if len(rule.Targets) > 0 && !strings.HasPrefix(rule.Targets[0], ".") {
			return rule.Targets[:1]
		}
	}
	return nil
}

// followNode follows the scripts of package.json that a call names, with those that run before and after.
func (f *follower) followNode(args []string, in text) {
	var manifest struct {
		Scripts map[string]string `json:"scripts"`
	}
	// Without package.json, other packages may have the scripts.
	_ = json.Unmarshal(f.read(path.Join(in.dir, "package.json")), &manifest)
	for _, name := range args {
		if name == "t" || name == "tst" {
			name = "test"
		}
		for _, script := range []string{"pre" + name, name, "post" + name} {
			f.defined.Scripts[script] = true
			f.add(text{manifest.Scripts[script], in.dir, in.depth})
		}
	}
}

// calls returns the commands in a shell script, as lists of words. Nothing is expanded, and quoted text is read, too.
func calls(script string) [][]string {
	var all [][]string
	for line := range strings.Lines(strings.ReplaceAll(script, "\\\n", " ")) {
		if strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		for part := range strings.FieldsFuncSeq(line, endsCall) {
			words := strings.FieldsFunc(part, endsWord)
			for len(words) > 0 && (strings.Contains(words[0], "=") || isPrefix[words[0]]) {
				words = words[1:]
			}
			if len(words) == 0 {
				continue
			}
			words[0] = strings.TrimLeft(words[0], "@-+")
			all = append(all, words)
		}
	}
	return all
}

func endsCall(r rune) bool { return strings.ContainsRune(";|&(){}`\n", r) }

func endsWord(r rune) bool { return strings.ContainsRune(" \t\r'\"", r) }

// isPrefix has words that stand before a command.
var isPrefix = map[string]bool{
	"env": true, "command": true, "exec": true, "time": true, "nice": true, "then": true, "do": true, "else": true,
	"if": true, "elif": true, "while": true, "until": true, "!": true, "eval": true,
}

// Files returns the files that the commands name, sorted.
func (d Defined) Files() []string { return slices.Sorted(maps.Keys(d.files)) }

// Script returns the text of a script of package.json.
func Script(manifest []byte, name string) string {
	var m struct {
		Scripts map[string]string `json:"scripts"`
	}
	if json.Unmarshal(manifest, &m) != nil {
		return ""
	}
	return m.Scripts[name]
}
