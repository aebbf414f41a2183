package proof

import (
	"bytes"
	"cmp"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/pattern"
	"github.com/ralph-loop/ralph/internal/suite"
	"github.com/ralph-loop/ralph/internal/tally"
	"github.com/ralph-loop/ralph/internal/tamper"
)

// gone are the tests that passed at the base, by name, and do not run any more
// in the proof of a tree, though nothing that was read says that they went: a
// test whose text is gone is for those to judge who read it.
func (p Prover) gone(run journal.Run, tree string, changes []tamper.Change) []tamper.Finding {
	proof, found := run.ProofOf(tree)
	if !found || !proof.Passed {
		return nil
	}
	var all []tamper.Finding
	for _, here := range proof.Checks {
		if base, known := run.AtBase(here.Name); known {
			all = append(all, p.missing(base, here, changes)...)
		}
	}
	return all
}

// missing are the tests that a check ran once and does not run now.
func (p Prover) missing(was, here journal.CheckEnded, changes []tamper.Change) []tamper.Finding {
	if !complete(was) || !complete(here) {
		return nil
	}
	names := unexplained(p.Tests.Told(was), p.Tests.Told(here), changes)
	if len(names) == 0 {
		return nil
	}
	return []tamper.Finding{{
		File: cmp.Or(home(names[0], changes), here.Name), Kind: tamper.TestDeleted, Lines: []tamper.Line{},
		Why: "tests that ran before do not run any more: " + journal.Few(names),
	}}
}

// complete tells whether what a check told of tests is all there was.
func complete(check journal.CheckEnded) bool {
	return check.Tests != nil && !check.Tests.Cut && !check.TimedOut && !check.CannotRun
}

// unexplained are the tests that passed and are not told of now, or are skipped,
// and of which nothing says why.
func unexplained(was, now tally.Tally, changes []tamper.Change) []string {
	before, ran, fresh := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, test := range was.Tests {
		before[test.Name] = true
	}
	for _, test := range now.Tests {
		if test.Outcome == tally.Skipped {
			continue
		}
		ran[test.Name], ran[head(test.Name)] = true, true
		if !before[test.Name] { // it may be an old one that has moved
			fresh[word(test.Name)] = true
		}
	}
	var names []string
	for _, name := range was.Names(tally.Passed) {
		name = head(name)
		if !ran[name] && !fresh[word(name)] && !explained(name, changes) {
			names = append(names, name)
		}
	}
	return slices.Compact(names)
}

// head is a test without what tells its cases apart: they are rows of a table,
// and as many as the table has.
func head(name string) string {
	if !bare(name) { // Go's
		slash := strings.LastIndex(name, "/")
		for slash > 0 && !bare(name[:slash]) {
			name = name[:slash]
			slash = strings.LastIndex(name, "/")
		}
		return name
	}
	before, _, is := strings.Cut(name, "[")
	if is && before != "" && strings.HasSuffix(name, "]") { // pytest's
		return before
	}
	return name
}

// word is what a test is called where it is written down: a function, or a title.
func word(name string) string {
	name = head(name)
	for _, between := range []string{" > ", "::"} {
		if at := strings.LastIndex(name, between); at >= 0 {
			return name[at+len(between):]
		}
	}
	if before, _, is := strings.Cut(name, " ("); is { // unittest's
		return before
	}
	if strings.Contains(name, " ") {
		return name
	}
	if strings.Contains(name, "/") && bare(name) { // a file's, or a package's
		return path.Base(name)
	}
	return last(name)
}

// explained tells whether the change takes the text of a test away, or its file,
// or may have changed what a title is made of.
func explained(name string, changes []tamper.Change) bool {
	title, seen, lost := word(name), false, false
	for _, c := range changes {
		was, is := written(c.Path, c.Before, title), written(c.Path, c.After, title)
		if was > is || c.After == nil && strings.Contains(name, stem(c.Path)) {
			return true
		}
		seen = seen || is > 0
		lost = lost || suite.Of(c.Path) != suite.None && c.Before != nil && shrunk(c)
	}
	return !seen && lost && strings.IndexFunc(title, func(r rune) bool { return !letter(r) }) >= 0
}

// home is the file of a change that has the text of a test.
func home(name string, changes []tamper.Change) string {
	for _, c := range changes {
		if written(c.Path, c.After, word(name)) > 0 {
			return c.Path
		}
	}
	return ""
}

func stem(name string) string {
	base := path.Base(name)
	return strings.TrimSuffix(base, path.Ext(base))
}

// shrunk tells whether a line of a file is gone.
func shrunk(c tamper.Change) bool {
	for line := range bytes.Lines(c.Before) {
		if line = bytes.TrimSpace(line); len(line) > 0 && !bytes.Contains(c.After, line) {
			return true
		}
	}
	return false
}

// titled are the languages in which a test is called by a string.
var titled = pattern.Of(`\.[cm]?[jt]sx?$`)

// written is how often a file has what a test is called.
func written(path string, text []byte, name string) (n int) {
	if !titled.MatchString(path) {
		return count(text, name)
	}
	for _, quote := range []string{"'", `"`, "`"} {
		n += bytes.Count(text, []byte(quote+name+quote))
	}
	return n
}

// count is how often a text has a word.
func count(text []byte, word string) (n int) {
	if word == "" {
		return 0
	}
	for rest := text; ; {
		at := bytes.Index(rest, []byte(word))
		if at < 0 {
			return n
		}
		first, _ := utf8.DecodeLastRune(rest[:at])
		rest = rest[at+len(word):]
		if next, _ := utf8.DecodeRune(rest); !letter(first) && !letter(next) {
			n++
		}
	}
}

func letter(r rune) bool {
	return r == '_' || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}
