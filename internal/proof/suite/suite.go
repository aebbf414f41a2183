// Package suite classifies a project's files by path, for each language: tests that the usual runner finds, files that
// serve tests, and others. It opens no file.
package suite

import (
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/lib/pattern"
)

// Part says how a file relates to the tests.
type Part int

// A file is unrelated, serves tests, or is a test.
const (
	None Part = iota
	Support
	Test
)

var names = []*pattern.Pattern{
	pattern.Of(`_test\.(go|py|rb|exs|dart|cc|cpp|c|clj|zig|ml|sh)$`),
	pattern.Of(`^(unit_?)?tests?\.(py|rs|c|cc|cpp)$`),
	pattern.Of(`^test_[^/]*\.(py|rb|c|cc|cpp|sh|bats)$`),
	pattern.Of(`_spec\.(rb|cr|lua)$`),
	// jest, vitest, mocha, ava, deno and node itself
	pattern.Of(`(^|[-_.])(tests?|spec)\.[cm]?[jt]sx?$|^test-[^/]*\.[cm]?[jt]sx?$`),
	pattern.Of(`\.(e2e|cy)\.[cm]?[jt]sx?$`),
	pattern.Of(`(Test|Tests|TestCase|IT|Spec)\.(java|kt|kts|scala|groovy|cs|fs|vb|php|swift|m)$`),
	pattern.Of(`\.(bats|t|feature|robot)$`),
}

// Folders with tests and their data. In those whose names products use, too, only code counts.
var (
	folders = pattern.Of(`(^|/)(tests?|testing|step_definitions|features/(steps|support)|` +
		`test_?(utils?|helpers?|support)|__tests__|specs?|e2e|cypress|src/([a-zA-Z]+T|t)est|[^/]+\.Tests?|Tests)/`)
	serving = pattern.Of(
		`(^|/)(testdata|fixtures?|__fixtures__|__mocks__|__snapshots__|__pycache__|snapshots|goldens?)/`)
	helpers = pattern.Of(`^(conftest\.py|testing\.py|` +
		`test[_-]?([uU]tils?|[hH]elpers?|[sS]upport|[dD]ata|[cC]ases|[fF]ixtures?)[^/]*|` +
		`(spec|test)_helper\.[a-z]+|setup-?[tT]ests?\.[cm]?[jt]sx?|` +
		`(test|jest|vitest|mocha)[.-](setup|env|environment|matchers)\.[cm]?[jt]sx?|` +
		`[^/]*\.(snap|golden|ambr))$`)
	shipped = pattern.Of(`(^|/)(src|lib)/(.*/)?testing(\.py$|/.*\.py$)|` +
		`(^|/)(src/main|Sources)/|` +
		`(^|/)(scripts?|tools?|bin)/(tests?|test-[^/]*)\.[cm]?[jt]s$`)
	foreign = pattern.Of(
		`(^|/)(node_modules|vendor|third_party|\.venv|venv|site-packages|target|dist|build)/`)
	codeEnds = []string{
		".go", ".py", ".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts", ".rb", ".rs",
		".java", ".kt", ".kts", ".scala", ".groovy", ".cs", ".fs", ".php", ".swift", ".c", ".cc", ".cpp",
		".ex", ".exs", ".dart", ".lua", ".pl", ".t", ".sh", ".bash", ".bats", ".zig", ".ml",
		".hs", ".clj", ".r", ".R", ".jl", ".txtar", ".feature", ".robot",
	}
)

// Of returns how a file relates to the tests. Build output and vendored code are unrelated, but for those in a folder
// of tests.
func Of(name string) Part {
	base := path.Base(name)
	at := foreign.FindStringIndex(name)
	switch {
	case at != nil && folders.MatchString(name[:at[0]]+"/"):
		return Support
	case at != nil || shipped.MatchString(name) || strings.HasPrefix(name, ".github/"):
		return None
	case path.Ext(base) == ".txtar" && serving.MatchString(name): // a script that a test runs
		return Test
	case serving.MatchString(name) || helpers.MatchString(base):
		return Support
	case named(base):
		return Test
	case !folders.MatchString(name):
		return None
	case Code(name):
		return Test
	}
	return Support
}

func named(base string) bool {
	return slices.ContainsFunc(names, func(form *pattern.Pattern) bool { return form.MatchString(base) })
}

var manifests = pattern.Of(`^(go\.(mod|sum|work|work\.sum)|` +
	`package(-lock)?\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-(lock|workspace)\.yaml|bun\.lockb?|` +
	`pyproject\.toml|poetry\.lock|uv\.lock|Pipfile(\.lock)?|setup\.(py|cfg)|` +
	`[^/]*(requirements|constraints)[^/]*\.(txt|in)|Cargo\.(toml|lock)|` +
	`Gemfile(\.lock)?|[^/]+\.gemspec|pubspec\.(yaml|lock)|packages\.lock\.json|libs\.versions\.toml|` +
	`composer\.(json|lock)|mix\.(exs|lock)|pom\.xml|(build|settings)\.gradle(\.kts)?|[^/]+\.(cs|fs|vb)proj)$`)

// Manifest reports whether a file names a project's dependencies, with versions or as a lock file.
func Manifest(name string) bool {
	return manifests.MatchString(path.Base(name)) && !foreign.MatchString(name)
}

// documents matches text files at the top, with a well-known name, or in a folder for
// documents. A name without extension counts at the top. Other text may be the product's.
var documents = pattern.Of(`(?i)^(` + known + `|(.*/)?(` + known + `)\.(md|markdown|rst|adoc|txt)|` +
	`[^/]*\.(md|markdown|rst|adoc)|` +
	`(docs?|documentation|\.github)/.*\.(md|markdown|rst|adoc|txt|png|jpe?g|gif|svg|webp))$`)

const known = `readme|changelog|changes|history|news|contributing|code_of_conduct|security|support|authors|` +
	`contributors|licen[sc]e(-mit|-apache)?|copying|notice`

// Document reports whether only people read a file.
func Document(name string) bool { return documents.MatchString(name) }

// Code reports whether a file is source code, by its extension.
func Code(name string) bool { return slices.Contains(codeEnds, path.Ext(name)) }

// Asks matches code that asks whether it is being tested.
var Asks = pattern.Of(`testing\.Testing\(\)|flag\.Lookup\("test|PYTEST_CURRENT_TEST|JEST_WORKER_ID|` +
	`NODE_TEST_CONTEXT|process\.env\.VITEST|NODE_ENV *[!=]==? *["']test|cfg!\(test|` +
	`sys\.modules.*(pytest|unittest)|RALPH_TESTS|os\.Args\[0\].*test`)

// Skips matches a test that is skipped.
var Skips = pattern.Of(`\bt\.Skip(f|Now)?\(|\b(it|test|describe)\.(skip|todo)\b|\bx(it|describe|test)\(|` +
	`@(pytest\.mark\.|unittest\.)(skip|xfail|expectedFailure)|pytest\.skip\(|#\[ignore|@(Disabled|Ignore)\b`)
