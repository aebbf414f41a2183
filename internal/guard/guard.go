// Package guard says whether a shell command is dangerous, and why, by its
// syntax tree. It runs nothing and opens nothing: it knows a file by its name
// alone. It prevents accidents and is no wall; where it cannot tell, it lets
// the command pass.
package guard

import (
	"fmt"
	"strings"
)

// Place is where commands are judged: absolute paths mean something else in
// the project than outside of it.
type Place struct {
	Root, Home string   // the project's folder and the user's
	Dir        string   // where the shell stands; the project's folder if it is empty
	Protect    []string // globs, from Root, of files that may not be changed
}

// Finding is one reason to refuse a command.
type Finding struct {
	Category Category
	What     string // the offending part, short
	Instead  string // the safe alternative
	Unread   bool   // part of the shell could not be read: judged by what could be seen
}

// String is one line for the agent: category, offence, alternative.
func (f Finding) String() string {
	line := fmt.Sprintf("%s: %s; instead: %s", f.Category, f.What, f.Instead)
	if f.Unread {
		line += " (part of this shell could not be read; judged by what could be seen)"
	}
	return line
}

// Command judges a line of shell, or several. The first finding is enough;
// false means that there is nothing to say.
func Command(line string, at Place) (f Finding, found bool) {
	j := newJudge(at)
	// The parser and the expander are others' code, fed with anything. What
	// makes them fall over is unread, and unread shell is not refused for that.
	defer func() {
		if recover() != nil {
			j.unread = true
			f, found = j.verdict()
		}
	}()
	j.script(line, newScope(j.place.Dir), stream{})
	return j.verdict()
}

// Write judges a tool that writes or edits a file by itself, without a shell.
func Write(path string, at Place) (Finding, bool) {
	j := newJudge(at)
	if rest, home := strings.CutPrefix(path, "~/"); home {
		path = j.place.Home + "/" + rest
	}
	j.writes(path, newScope(j.place.Dir))
	return j.verdict()
}
