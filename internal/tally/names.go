package tally

import (
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Head is the name of a test without the part that tells its cases apart, the rows of a table.
func Head(name string) string {
	if !Bare(name) { // Go's
		slash := strings.LastIndex(name, "/")
		for slash > 0 && !Bare(name[:slash]) {
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

// Bare tells whether a name has no test of Go's in it: a package of Go has none.
func Bare(name string) bool {
	return !slices.ContainsFunc([]string{".Test", ".Example", ".Fuzz"}, func(of string) bool { return strings.Contains(name, of) })
}

// Word is what a test is called where it is written down: a function, or a title.
func Word(name string) string {
	name = Head(name)
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
	if strings.Contains(name, "/") && Bare(name) { // a file's, or a package's
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

// Standing returns the offset of the line where a test begins in a source file: the line with
// its name, or an earlier one with the name of its group, such as `mod tests`. -1: not found.
func Standing(text, test string) int {
	word := Word(test)
	outer := strings.FieldsFunc(strings.TrimSuffix(Head(test), word), func(r rune) bool { return !Letter(r) })
	from := 0
	if len(outer) > 0 {
		from = max(0, whole(text, outer[len(outer)-1]))
	}
	at := whole(text[from:], word)
	if at < 0 {
		return -1
	}
	if from == 0 {
		from = at
	}
	return strings.LastIndex(text[:from], "\n") + 1
}

// whole returns the offset of a word that is no part of a longer one; -1: not found.
func whole(text, word string) int {
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
