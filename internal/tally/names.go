package tally

import (
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// Head returns the name of a test without its case: the subtest in Go, the parameters in pytest.
func Head(name string) string {
	if !Bare(name) {
		slash := strings.LastIndex(name, "/")
		for slash > 0 && !Bare(name[:slash]) {
			name = name[:slash]
			slash = strings.LastIndex(name, "/")
		}
		return name
	}
	before, _, is := strings.Cut(name, "[")
	if is && before != "" && strings.HasSuffix(name, "]") {
		return before
	}
	return name
}

// Bare reports whether a name contains no Go test: it is a Go package, or from another runner.
func Bare(name string) bool {
	return !slices.ContainsFunc([]string{".Test", ".Example", ".Fuzz"}, func(prefix string) bool { return strings.Contains(name, prefix) })
}

// The names of what was built and loaded, and broke while it ran.
const (
	didNotEnd = " did not end"
	unhandled = "an unhandled error"
)

// Crashed reports whether something broken was built and loaded before.
func Crashed(name string) bool { return strings.HasSuffix(name, didNotEnd) || name == unhandled }

// Word returns the name of a test in its source file: a function or a title.
func Word(name string) string {
	name = Head(name)
	for _, separator := range []string{" > ", "::"} {
		if at := strings.LastIndex(name, separator); at >= 0 {
			return name[at+len(separator):]
		}
	}
	if before, _, is := strings.Cut(name, " ("); is { // unittest: "test_adds (test_cart.Cart)"
		return before
	}
	if strings.Contains(name, " ") {
		return name
	}
	if strings.Contains(name, "/") && Bare(name) { // a file or a package
		return path.Base(name)
	}
	parts := strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune(".:/>", r) })
	if len(parts) == 0 {
		return name
	}
	return strings.TrimSpace(parts[len(parts)-1])
}

// Standing returns the offset of the line where a test begins in a source file: the line with
// its name, or an earlier one with the name of its group, such as `mod tests`. -1: not found.
func Standing(text, test string) int {
	word := Word(test)
	outer := strings.FieldsFunc(strings.TrimSuffix(Head(test), word), func(r rune) bool { return !Letter(r) })
	from := 0
	if len(outer) > 0 {
		from = max(0, indexWord(text, outer[len(outer)-1]))
	}
	at := indexWord(text[from:], word)
	if at < 0 {
		return -1
	}
	if from == 0 {
		from = at
	}
	return strings.LastIndex(text[:from], "\n") + 1
}

// HasWord reports whether a text contains a word, and not only as a part of another.
func HasWord(text, word string) bool { return indexWord(text, word) >= 0 }

// indexWord returns the offset of a whole word in a text; -1: not found.
func indexWord(text, word string) int {
	for at := 0; word != ""; at += len(word) {
		next := strings.Index(text[at:], word)
		if next < 0 {
			break
		}
		at += next
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[at+len(word):])
		if !Letter(before) && !Letter(after) {
			return at
		}
	}
	return -1
}

// Letter reports whether a rune can be part of an identifier.
func Letter(r rune) bool {
	return r == '_' || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// declaration matches how a test of JavaScript or Python gets its name, also behind each(…).
var declaration = pattern.Of("(?:\\b(?:test|it|specify)((?:\\.\\w+)*)|[)`])\\s*\\(\\s*(?:'((?:[^'\\\\\n]|\\\\.)+)'|\"((?:[^\"\\\\\n]|\\\\.)+)\"|`((?:[^`\\\\]|\\\\.)+)`)" +
	`|(?m:^\s*(?:async\s+)?def\s+(test\w*)\s*\()`)

// Declared returns the names of the tests that a source file of JavaScript or Python declares.
func Declared(text string) (names []string) {
	for _, found := range declaration.FindAllStringSubmatch(text, -1) {
		if !strings.Contains(found[1], ".skip") && !strings.Contains(found[1], ".todo") {
			names = append(names, strings.Join(found[2:], ""))
		}
	}
	return names
}
