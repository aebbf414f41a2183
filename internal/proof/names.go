package proof

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/tally"
)

// heads are the tests that ended so, without what tells the cases of one apart.
func heads(told tally.Tally, how ...tally.Outcome) map[string]bool {
	names := map[string]bool{}
	for _, name := range told.Names(how...) {
		names[tally.Head(name)] = true
	}
	return names
}

// word is what a test is called where it is written down: a function, or a title.
func word(name string) string {
	name = tally.Head(name)
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
	if strings.Contains(name, "/") && tally.Bare(name) { // a file's, or a package's
		return path.Base(name)
	}
	return last(name)
}

// last is the end of a test's name, which all runners have in common.
func last(name string) string {
	name, _, _ = strings.Cut(name, " (") // as unittest names its class
	parts := strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune(".:/>", r) })
	if len(parts) == 0 {
		return name
	}
	return strings.TrimSpace(parts[len(parts)-1])
}

func letter(r rune) bool {
	return r == '_' || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}
