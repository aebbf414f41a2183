package tamper

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// Tests in a language that nobody here reads, and what tests are given, are
// known by their lines alone: a script, a list, a table of cases. Whether one that
// is gone was in the way shows when the old file is tried.

const (
	maxWorn = 300 // lines that went, of a file
	maxCame = 2000
)

// worn doubts the lines and files that tests went by and that nothing which came
// is much like.
func (r *report) worn() {
	came, dropped, moved := r.cameToTests(), r.dropped(), verbatim(r.changes)
	for _, c := range r.changes {
		switch {
		case c.Before == nil || c.Unread:
		case c.After != nil && r.helps(c):
			r.add(Finding{c.Path, AssertionWeakened, trim(c.gone()), "what tests may go by has changed: " + short(c.Path, maxName) + " …"})
		case !served(c.Path):
		case c.After == nil:
			known := foreignTest.MatchString(c.Path) || slices.ContainsFunc(moved, func(m Move) bool { return m.From == c.Path })
			if !known && len(tokens(string(c.Before))) > 0 {
				r.add(Finding{c.Path, TestDeleted, pick(c.Before, false, 1), "what tests are given is gone: " + short(c.Path, maxName) + " …"})
			}
		default:
			if went := r.without(c, came, dropped); len(went) > 0 {
				r.add(Finding{c.Path, AssertionRemoved, went[:min(len(went), maxLines)], "what tests go by is gone: " + short(went[0].Text, maxName) + " …"})
			}
		}
	}
}

// served tells whether a file is of tests and is not read.
func served(name string) bool {
	return languageOf(name) == noLanguage && !noFolder.MatchString(name) && (aside(name) || foreignTest.MatchString(name))
}

var (
	helping   = pattern.Of(`(?i)(^|/)(testing|test_?(utils?|support|kit|lib|helpers?)|mocks?|fakes?|doubles|stubs?|asserts?|assertions?|expectations?)(/|\.[a-z]+$)`)
	comparing = pattern.Of(`(?im)^[^/#\n]*\b(function|def|func|fn|exports\.|const|let)\s*\w*(assert|expect|same|equal|refute|should|must)\w*\b`)
	refusing  = pattern.Of(`\b(throw|raise|panic|exit|assert)\b`)
	example   = pattern.Of(`(?m)^\s*>>> `)
)

// helps tells whether a file that is none of the tests may be what they compare
// by, or are run on: by its name, by what it defines, or by examples in it.
func (r *report) helps(c Change) bool {
	if collected(c.Path) || served(c.Path) || noFolder.MatchString(c.Path) || len(rolesOf(c.Path)) > 0 || len(c.gone()) == 0 {
		return false
	}
	if prose(c.Path) {
		return slices.ContainsFunc(c.gone(), func(line Line) bool { return example.MatchString(line.Text) })
	}
	return helping.MatchString(c.Path) || comparing.MatchString(string(c.Before)) && refusing.MatchString(string(c.Before))
}

// cameToTests are the words of the lines that are new in tests, and in what they
// are given.
func (r *report) cameToTests() (all [][]string) {
	for _, c := range r.changes {
		if !served(c.Path) && !collected(c.Path) {
			continue
		}
		for _, line := range c.came() {
			if len(all) < maxCame {
				all = append(all, tokens(line.Text))
			}
		}
	}
	return all
}

// dropped are the words that the product had and has no more, the names of its
// files among them: what speaks of them has lost its reason.
func (r *report) dropped() map[string]bool {
	all, still := map[string]bool{}, map[string]bool{}
	for _, c := range r.changes {
		if served(c.Path) || collected(c.Path) {
			continue
		}
		for _, token := range tokens(string(c.Before)) {
			all[token] = true
		}
		for _, token := range tokens(string(c.After)) {
			still[token] = true
		}
		if c.After == nil {
			all[stemOf(c.Path)] = true
		}
	}
	for token := range all {
		if still[token] || len(token) < 3 || counts(token) {
			delete(all, token)
		}
	}
	return all
}

func stemOf(name string) string { return strings.TrimSuffix(path.Base(name), path.Ext(name)) }

// resulting are files of what comes out: they change with the code in any way.
var resulting = pattern.Of(`(?i)\.(out|stdout|stderr|html|svg|xml|log)$|(^|/)outputs?/`)

// unsaid is a line that says nothing to a program.
var unsaid = pattern.Of(`^\s*(#|//|--|\*|/\*|;)`)

// without are the lines that went from a file and that no line which came is
// like. Where what comes out changed beside what is put in, all are.
func (r *report) without(c Change, came [][]string, dropped map[string]bool) []Line {
	if resulting.MatchString(c.Path) || snapshot(c.Path) {
		return nil
	}
	both := r.beside(c)
	var some []Line
	for _, line := range firstOf(c.gone(), maxWorn) {
		own := tokens(line.Text)
		if len(own) == 0 || unsaid.MatchString(line.Text) || slices.ContainsFunc(own, func(token string) bool { return dropped[token] }) {
			continue
		}
		if both || !slices.ContainsFunc(came, func(other []string) bool { return became(own, other) }) {
			some = append(some, line)
		}
	}
	return some
}

func firstOf[T any](list []T, most int) []T { return list[:min(len(list), most)] }

// beside tells whether a file of the same name, but for its end, lost lines, too.
func (r *report) beside(c Change) bool {
	return slices.ContainsFunc(r.changes, func(o Change) bool {
		return o.Path != c.Path && path.Dir(o.Path) == path.Dir(c.Path) && stemOf(o.Path) == stemOf(c.Path) && served(o.Path) && o.After != nil && len(o.gone()) > 0
	})
}

// became tells whether one line has become another: it has the words of it, but
// for one of some, and the numbers, but for one.
func became(was, now []string) bool {
	words, lostWords, lostNumbers := 0, 0, 0
	for _, token := range was {
		there := slices.Contains(now, token)
		switch {
		case !counts(token):
			words++
			if !there {
				lostWords++
			}
		case !there:
			lostNumbers++
		}
	}
	return lostNumbers <= 1 && (lostWords == 0 || lostWords == 1 && words > 2)
}

func counts(token string) bool { return digit(token[0]) }

// tokens are the words and numbers of a text.
func tokens(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}
