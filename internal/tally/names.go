package tally

import (
	"slices"
	"strings"
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
