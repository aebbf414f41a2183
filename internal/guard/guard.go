// Package guard decides whether a shell command is dangerous, and why. It walks
// the command's syntax tree and checks each simple command against a table of
// rules. It runs nothing and opens no file. It prevents accidents; it is not a
// sandbox: a command that it cannot judge passes.
package guard

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Project is the folders and rules that a command is judged with.
type Project struct {
	Root, Home string   // the project's folder and the user's
	Dir        string   // the shell's working directory (default: Root)
	Protect    []string // globs, relative to Root, of files that may not be changed
	Rules      []Rule   // the project's own rules, checked before the table
}

// Finding is one reason to refuse a command.
type Finding struct {
	Category Category
	What     string // the dangerous part, shortened
	Instead  string // the safe alternative
	Unread   bool   // part of the shell could not be parsed
}

// String is one line for the agent: category, dangerous part, alternative.
func (f Finding) String() string {
	line := fmt.Sprintf("%s: %s; instead: %s", f.Category.Name, f.What, f.Instead)
	if f.Unread {
		line += " (part of this shell could not be read; judged by what could be seen)"
	}
	return line
}

// CheckCommand judges a shell script and returns the first finding.
func CheckCommand(line string, at Project) (f Finding, found bool) {
	j := newJudge(at)
	// A script that makes the parser panic counts as unread.
	defer func() {
		j.unread = recover() != nil || j.unread
		f, found = j.verdict()
	}()
	j.checkShown(j.script(markRemover.Replace(line), j.scope(), ""))
	return f, found
}

// CheckWrite judges a tool that writes a file without a shell.
func CheckWrite(path string, at Project) (Finding, bool) {
	j := newJudge(at)
	j.checkWrite(path, j.scope())
	return j.verdict()
}

const (
	maxLine     = 64 << 10  // bytes of a script that are parsed
	maxScript   = 256 << 10 // bytes of shell parsed in all, with nested scripts
	maxNest     = 400       // depth of nested commands
	maxSteps    = 3000      // commands judged
	maxBrackets = 4000      // nested brackets make parsing slow
	maxWords    = 1000      // of a command
	maxRounds   = 8         // of a for loop
	maxValue    = 2 << 10   // bytes of a variable
	maxText     = 64 << 10  // bytes of a command's output
)

// judge judges one script. The first finding ends it.
type judge struct {
	project     Project
	finding     *Finding
	unread      bool
	steps       int
	depth       int
	parsedBytes int
	files       map[string]string // content of files that the script wrote
	stashed     bool              // the script ran git stash
}

func newJudge(at Project) *judge {
	at.Root = path.Join("/", cmp.Or(strings.Trim(at.Root, "/"), "project"))
	at.Home = path.Join("/", cmp.Or(strings.Trim(at.Home, "/"), "home/user"))
	at.Dir = cmp.Or(at.Dir, at.Root)
	return &judge{project: at, files: map[string]string{}}
}

func (j *judge) verdict() (Finding, bool) {
	if j.finding == nil {
		return Finding{}, false
	}
	j.finding.Unread = j.unread
	return *j.finding, true
}

func (j *judge) report(c Category, what, instead string) {
	if j.finding == nil {
		j.finding = &Finding{Category: c, What: displayText(what, 200), Instead: cmp.Or(instead, c.Instead)}
	}
}

// begin reports whether to continue. The caller ends the command with depth--.
func (j *judge) begin() bool {
	j.steps++
	j.depth++
	j.unread = j.unread || j.depth > maxNest
	return j.finding == nil && j.steps <= maxSteps && j.depth <= maxNest
}

// script returns the output. It reads nothing after a statement that cannot be parsed, as shells do.
func (j *judge) script(src string, sc *scope, in string) (out string) {
	if len(src) > maxLine {
		j.unread = true
		src = src[:maxLine]
	}
	j.parsedBytes += len(src)
	if j.parsedBytes > maxScript || strings.Count(src, "(")+strings.Count(src, "{")+strings.Count(src, "`") > maxBrackets {
		j.unread = true
		return ""
	}
	for s, err := range syntax.NewParser(syntax.Variant(syntax.LangBash)).StmtsSeq(strings.NewReader(src)) {
		if j.unread = j.unread || err != nil; err == nil {
			out = joinOutput(out, j.statement(s, sc, in))
		}
	}
	return out
}
