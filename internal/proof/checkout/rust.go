package checkout

import (
	"strings"

	"github.com/ralph-loop/ralph/internal/lib/pattern"
)

// testModule matches the beginning of a module of tests in a file of Rust.
var testModule = pattern.Of(`(?m)^([ \t]*)#\[cfg\(test\)\]\s*mod \w+ \{[ \t]*\n`)

// splitRust splits a file of Rust into its code and its module of tests. The module ends with the first brace that is
// indented as its beginning. Code and module together are the file again, but for their order.
func splitRust(text string) (code, tests string) {
	found := testModule.FindStringSubmatchIndex(text)
	if found == nil {
		return text, ""
	}
	indent := text[found[2]:found[3]]
	_, rest, ok := strings.Cut(text[found[1]-1:], "\n"+indent+"}\n")
	if !ok {
		return text, ""
	}
	last := len(text) - len(rest)
	return text[:found[0]] + text[last:], text[found[0]:last]
}
