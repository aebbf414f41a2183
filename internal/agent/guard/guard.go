// Package guard refuses shell commands that destroy work, or publish, by accident. It walks the command's syntax tree
// and compares each simple command with one table of rules. It runs nothing, opens no file and follows no variables:
// what it cannot read passes. It is not a sandbox.
package guard

import (
	"io"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// Project is the folders that a command is compared with.
type Project struct {
	Root, Home string   // the project's folder and the user's
	Dir        string   // the shell's working directory (default: Root)
	Protect    []string // globs, relative to Root, of files that may not be changed
}

// Finding is one reason to refuse a command.
type Finding struct {
	Category string // one of docs/claude-code.md
	What     string // the dangerous part, shortened
	Instead  string // the safe alternative
}

// String is one line for the agent: category, dangerous part, alternative.
func (f Finding) String() string { return f.Category + ": " + f.What + "; instead: " + f.Instead }

// CheckCommand returns the first finding in a shell script.
func CheckCommand(line string, at Project) (f Finding, found bool) {
	c := newCheck(at)
	defer func() { // a text that makes the parser panic passes
		_ = recover()
		f, found = c.result()
	}()
	c.script(line)
	return f, found
}

// CheckWrite returns a finding if a tool may not write to a file.
func CheckWrite(file string, at Project) (Finding, bool) {
	c := newCheck(at)
	c.checkWrite(file)
	return c.result()
}

const (
	maxText  = 64 << 10 // bytes of a script: the parser nests as deep as a text does
	maxDepth = 4        // scripts within scripts
)

// check walks a script, and keeps the first finding.
type check struct {
	Project

	depth   int
	finding *Finding
}

func newCheck(at Project) *check {
	if at.Dir == "" {
		at.Dir = at.Root
	}
	return &check{Project: at}
}

func (c *check) result() (Finding, bool) {
	if c.finding == nil {
		return Finding{}, false
	}
	return *c.finding, true
}

func (c *check) report(category, what, instead string) {
	if c.finding == nil {
		c.finding = &Finding{category, what, instead}
	}
}

func (c *check) script(text string) {
	if c.depth == maxDepth || len(text) > maxText {
		return
	}
	c.depth++
	defer func() { c.depth-- }()
	file, err := syntax.NewParser().Parse(strings.NewReader(text), "")
	if err != nil {
		return
	}
	syntax.Walk(file, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.CallExpr:
			c.command(c.words(n))
		case *syntax.Redirect:
			if strings.Contains(n.Op.String(), ">") {
				c.checkWrite(c.word(n.Word))
			}
		case *syntax.BinaryCmd:
			c.pipe(n)
		}
		return c.finding == nil
	})
}

// words returns the words of a command without quotes.
func (c *check) words(call *syntax.CallExpr) []string {
	var all []string
	for _, word := range call.Args {
		all = append(all, c.word(word))
	}
	return all
}

// word leaves a variable as $NAME, and what it cannot expand as $(…).
func (c *check) word(word *syntax.Word) string {
	variable := func(name string) string {
		switch name {
		case "HOME":
			return c.Home
		case "PWD":
			return c.Dir
		}
		return "$" + name
	}
	output := func(w io.Writer, _ *syntax.CmdSubst) error {
		_, err := io.WriteString(w, "$(…)")
		return err
	}
	text, err := expand.Literal(&expand.Config{Env: expand.FuncEnviron(variable), CmdSubst: output}, word)
	if err != nil {
		return "$(…)"
	}
	return text
}

var (
	shells   = []string{"sh", "bash", "zsh", "dash", "ksh", "python", "python3", "node", "perl", "ruby"}
	fetchers = []string{"curl", "wget", "base64", "base32", "xxd"}
)

// pipe refuses code that comes from the network or was decoded.
func (c *check) pipe(b *syntax.BinaryCmd) {
	to, ok := b.Y.Cmd.(*syntax.CallExpr)
	if !ok || b.Op != syntax.Pipe {
		return
	}
	words := unwrapped(c.words(to))
	if len(words) == 0 || !slices.Contains(shells, programName(words[0])) {
		return
	}
	if len(words) > 1 && words[1] != "-" && !strings.HasPrefix(words[1], "-s") {
		return // its script is another: -m json.tool
	}
	syntax.Walk(b.X, func(node syntax.Node) bool {
		from, ok := node.(*syntax.CallExpr)
		if !ok {
			return true
		}
		words := unwrapped(c.words(from))
		if len(words) > 0 && slices.Contains(fetchers, programName(words[0])) {
			what := "runs what " + programName(words[0]) + " prints"
			c.report("supply-chain", what, "download it, read it, pin it, then run the file")
		}
		return true
	})
}

// command compares a simple command with the table, and looks into those that run another one.
func (c *check) command(words []string) {
	words = unwrapped(words)
	if len(words) == 0 {
		return
	}
	call := call{programName(words[0]), words[1:]}
	switch {
	case call.name == "cd":
		dir := "~"
		if len(call.args) > 0 {
			dir = call.args[0]
		}
		c.Dir = c.resolve(dir)
	case call.name == "eval":
		c.script(strings.Join(call.args, " "))
	case slices.Contains(shells, call.name):
		at := slices.IndexFunc(call.args, isScriptFlag)
		if at >= 0 && at+1 < len(call.args) {
			c.script(call.args[at+1])
		}
	}
	c.compare(call)
	for _, file := range call.written() {
		c.checkWrite(file)
	}
}

// isScriptFlag reports whether the next word is a script: -c, -lc.
func isScriptFlag(word string) bool {
	if strings.HasPrefix(word, "--") {
		return false
	}
	return strings.HasPrefix(word, "-") && strings.HasSuffix(word, "c")
}

// wrappers run the command that follows their flags. A value is the number of their own words.
var wrappers = map[string]int{
	"sudo": 0, "doas": 0, "env": 0, "nohup": 0, "setsid": 0, "exec": 0, "command": 0, "time": 0, "nice": 0,
	"timeout": 1,
	"xargs":   0, "npx": 0, "bunx": 0, "busybox": 0,
}

// unwrapped returns the command that wrappers run, without assignments and git's own flags.
func unwrapped(words []string) []string {
	for len(words) > 0 {
		own, wraps := wrappers[programName(words[0])]
		rest := words[1:]
		for len(rest) > 0 && (strings.HasPrefix(rest[0], "-") || strings.Contains(rest[0], "=")) {
			rest = rest[1:]
		}
		if !wraps || len(rest) <= own { // env alone shows the environment
			break
		}
		words = rest[own:]
	}
	for len(words) > 2 && programName(words[0]) == "git" && (words[1] == "-C" || words[1] == "-c") {
		words = append([]string{"git"}, words[3:]...)
	}
	return words
}

// programName returns a command's name without its folder and version: wrangler@latest.
func programName(word string) string {
	name, _, _ := strings.Cut(path.Base(word), "@")
	return name
}
