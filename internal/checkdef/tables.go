package checkdef

import (
	"github.com/BurntSushi/toml"

	"github.com/ralph-loop/ralph/internal/pattern"
)

func readTables(text []byte) (map[string]any, bool) {
	all := map[string]any{}
	return all, len(text) <= maxTables && !nestsDeep(text) && toml.Unmarshal(text, &all) == nil
}

// tomlParts matches what nests names in TOML, and what ends a name: strings and comments nest nothing.
var tomlParts = pattern.Of(`"""(?s:\\.|[^\\])*?"""|(?s:'''.*?''')|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|#[^\n]*|[][{}.=,\n]`)

const (
	maxTables = 64 << 10
	maxNested = 32 // tables or lists in each other, and parts of a name
)

// nestsDeep reports whether tables nest too deep: the parser keeps each name with all names above it, and 32 KiB of
// dots took 5 GB.
func nestsDeep(text []byte) bool {
	depth, dots := 0, 0
	for _, part := range tomlParts.FindAllString(string(text), -1) {
		switch part[0] {
		case '{', '[':
			depth, dots = depth+1, 0
		case '}', ']':
			depth, dots = depth-1, 0
		case '.':
			dots++
		case '=', ',', '\n':
			dots = 0
		}
		if max(depth, dots) > maxNested {
			return true
		}
	}
	return false
}
