// Package suite tells by its path whether a file belongs to a project's tests,
// as each language has it: what the usual runner picks up, and what only serves
// it. It opens no file, and does not say what a test is worth.
package suite

import (
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// Part is what a file is to the tests.
type Part int

// A file is none of theirs, one that serves them, or a test itself.
const (
	None Part = iota
	Support
	Test
)

// names are those of tests, wherever they lie.
var names = []*pattern.Pattern{
	pattern.Of(`_test\.(go|py|rb|exs|dart|cc|cpp|c|clj|zig|ml|sh)$`),
	pattern.Of(`^tests?\.(py|rs)$`),
	pattern.Of(`^test_[^/]*\.(py|rb|c|cc|cpp|sh|bats)$`),
	pattern.Of(`_spec\.(rb|cr|lua)$`),
	pattern.Of(`\.(test|tests|spec|e2e|cy)\.[cm]?[jt]sx?$`),
	pattern.Of(`(Test|Tests|TestCase|IT|Spec)\.(java|kt|kts|scala|groovy|cs|fs|vb|php|swift|m)$`),
	pattern.Of(`\.(bats|t)$`),
}

// folders hold tests and nothing else. Some names are those of products, too:
// what lies there counts only with an ending that is code.
var (
	folders  = pattern.Of(`(^|/)(tests?|__tests__|specs?|e2e|cypress|src/([a-zA-Z]+T|t)est|[^/]+\.Tests?|Tests)/`)
	serving  = pattern.Of(`(^|/)(testdata|fixtures?|__fixtures__|__mocks__|__snapshots__|snapshots|goldens?)/`)
	helpers  = pattern.Of(`^(conftest\.py|test_?(utils?|helpers?)[^/]*|(spec|test)_helper\.[a-z]+|[^/]*\.(snap|golden|ambr))$`)
	foreign  = pattern.Of(`(^|/)(node_modules|vendor|third_party|\.venv|venv|site-packages|target|dist|build)/`)
	codeEnds = []string{
		".go", ".py", ".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts", ".rb", ".rs", ".java", ".kt", ".kts", ".scala", ".groovy",
		".cs", ".fs", ".php", ".swift", ".c", ".cc", ".cpp", ".ex", ".exs", ".dart", ".lua", ".pl", ".t", ".sh", ".bash", ".bats", ".zig", ".ml",
		".hs", ".clj", ".r", ".R", ".jl", ".txtar", ".feature", ".robot",
	}
)

// Of is what the file at a slash path is to the tests.
func Of(name string) Part {
	base := path.Base(name)
	switch {
	case foreign.MatchString(name) || strings.HasPrefix(name, ".github/"):
		return None
	case path.Ext(base) == ".txtar" && serving.MatchString(name): // a script, told by what runs it
		return Test
	case serving.MatchString(name) || helpers.MatchString(base):
		return Support
	case named(base):
		return Test
	case !folders.MatchString(name):
		return None
	case slices.Contains(codeEnds, path.Ext(base)):
		return Test
	}
	return Support
}

func named(base string) bool {
	return slices.ContainsFunc(names, func(form *pattern.Pattern) bool { return form.MatchString(base) })
}
