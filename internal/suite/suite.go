// Package suite classifies a project's files by path, for each language: tests
// that the usual runner finds, files that serve tests, and others. It opens no
// file.
package suite

import (
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
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
	pattern.Of(`(^|[-_.])(tests?|spec)\.[cm]?[jt]sx?$|^test-[^/]*\.[cm]?[jt]sx?$`), // of jest, vitest, mocha, ava, deno and node itself
	pattern.Of(`\.(e2e|cy)\.[cm]?[jt]sx?$`),
	pattern.Of(`(Test|Tests|TestCase|IT|Spec)\.(java|kt|kts|scala|groovy|cs|fs|vb|php|swift|m)$`),
	pattern.Of(`\.(bats|t|feature|robot)$`),
}

// Folders with tests and their data. In those whose names products use, too, only code counts.
var (
	folders  = pattern.Of(`(^|/)(tests?|testing|step_definitions|features/(steps|support)|test_?(utils?|helpers?|support)|__tests__|specs?|e2e|cypress|src/([a-zA-Z]+T|t)est|[^/]+\.Tests?|Tests)/`)
	serving  = pattern.Of(`(^|/)(testdata|fixtures?|__fixtures__|__mocks__|__snapshots__|__pycache__|snapshots|goldens?)/`)
	helpers  = pattern.Of(`^(conftest\.py|testing\.py|test[_-]?([uU]tils?|[hH]elpers?|[sS]upport|[dD]ata|[cC]ases|[fF]ixtures?)[^/]*|(spec|test)_helper\.[a-z]+|setup-?[tT]ests?\.[cm]?[jt]sx?|(test|jest|vitest|mocha)[.-](setup|env|environment|matchers)\.[cm]?[jt]sx?|[^/]*\.(snap|golden|ambr))$`)
	shipped  = pattern.Of(`(^|/)(src|lib)/(.*/)?testing(\.py$|/.*\.py$)|(^|/)(src/main|Sources)/|(^|/)(scripts?|tools?|bin)/(tests?|test-[^/]*)\.[cm]?[jt]s$`)
	foreign  = pattern.Of(`(^|/)(node_modules|vendor|third_party|\.venv|venv|site-packages|target|dist|build)/`)
	codeEnds = []string{
		".go", ".py", ".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts", ".rb", ".rs", ".java", ".kt", ".kts", ".scala", ".groovy",
		".cs", ".fs", ".php", ".swift", ".c", ".cc", ".cpp", ".ex", ".exs", ".dart", ".lua", ".pl", ".t", ".sh", ".bash", ".bats", ".zig", ".ml",
		".hs", ".clj", ".r", ".R", ".jl", ".txtar", ".feature", ".robot",
	}
)

// Of returns how a file relates to the tests. Build output and vendored code are unrelated, but
// for those in a folder of tests: these find them first.
func Of(name string) Part {
	switch at := foreign.FindStringIndex(name); {
	case at != nil && folders.MatchString(name[:at[0]]+"/"):
		return Support
	case at != nil || Shipped(name):
		return None
	}
	return Tracked(name)
}

// IsTest reports whether Of returns Test. It is quicker for what is not code, as most files of a large repository.
func IsTest(name string) bool {
	return (Code(name) || named(path.Base(name))) && Of(name) == Test
}

// Shipped reports whether a file with a name of tests is part of the product, or runs them: src/click/testing.py,
// src/main/java/PodSpec.java, scripts/test.js.
func Shipped(name string) bool { return shipped.MatchString(name) }

// Tracked is like Of for a file of the base, which is not build output.
func Tracked(name string) Part {
	base := path.Base(name)
	switch {
	case strings.HasPrefix(name, ".github/"):
		return None
	case path.Ext(base) == ".txtar" && serving.MatchString(name): // a script that a test runs
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

// Runs reports whether a runner finds a file by its name, in any folder.
func Runs(name string) bool {
	return Tracked(name) == Test && (named(path.Base(name)) || path.Ext(name) == ".txtar")
}

func named(base string) bool {
	return slices.ContainsFunc(names, func(form *pattern.Pattern) bool { return form.MatchString(base) })
}

var manifests = pattern.Of(`^(go\.(mod|sum|work|work\.sum)|package(-lock)?\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-(lock|workspace)\.yaml|bun\.lockb?|` +
	`pyproject\.toml|poetry\.lock|uv\.lock|Pipfile(\.lock)?|setup\.(py|cfg)|[^/]*(requirements|constraints)[^/]*\.(txt|in)|Cargo\.(toml|lock)|` +
	`Gemfile(\.lock)?|[^/]+\.gemspec|pubspec\.(yaml|lock)|packages\.lock\.json|libs\.versions\.toml|composer\.(json|lock)|mix\.(exs|lock)|pom\.xml|(build|settings)\.gradle(\.kts)?|[^/]+\.(cs|fs|vb)proj)$`)

// Needed reports whether a file is a manifest of dependencies or vendored code, on which tests depend.
func Needed(name string) bool {
	return manifests.MatchString(path.Base(name)) || vendored.MatchString(name)
}

var vendored = pattern.Of(`(^|/)(vendor|third_party|node_modules)/`)

// documents matches text files at the top, with a well-known name, or in a folder for
// documents. A name without extension counts at the top. Other text may be the product's.
var documents = pattern.Of(`(?i)^(` + known + `|(.*/)?(` + known + `)\.(md|markdown|rst|adoc|txt)|[^/]*\.(md|markdown|rst|adoc)|(docs?|documentation|\.github)/.*\.(md|markdown|rst|adoc|txt|png|jpe?g|gif|svg|webp))$`)

const known = `readme|changelog|changes|history|news|contributing|code_of_conduct|security|support|authors|contributors|licen[sc]e(-mit|-apache)?|copying|notice`

// Document reports whether only people read a file.
func Document(name string) bool { return documents.MatchString(name) }

// settings matches files from which a tool may read its settings. Running the checks shows their effect.
var settings = pattern.Of(`(?i)(^|/)\.[^/]+/|(^|/)(\.[^/]+|setup\.py|[^/]+\.(config|conf|setup|workspace)\.[a-z]+|[tj]sconfig[^/]*\.json|[^/]+\.(ini|cfg)|` +
	`[a-z]+file|rust-toolchain|[^/]+\.(toml|props|targets|runsettings|sbt|bazel|bzl|gn)|BUILD|WORKSPACE|gradle\.properties|meson\.build|pnpm-workspace\.yaml|Package\.swift|tasks\.py|(project|deno|nx|turbo)\.jsonc?|pom\.xml|mix\.exs|composer\.json|CMakeLists\.txt|[^/]+\.gradle(\.kts)?|[^/]+\.(cs|fs|vb)proj)$|^[^/]+\.(jsonc?|ya?ml|toml|xml)$|\.(egg|dist)-info/`)

// built matches manifests that also define what is built and tested. pnpm reads all its settings from its own.
var built = pattern.Of(`(^|/)(pnpm-workspace\.yaml|setup\.py|pom\.xml|mix\.exs|composer\.json|[^/]+\.gradle(\.kts)?|[^/]+\.(cs|fs|vb)proj)$`)

// Settings reports whether a file may contain a tool's settings. Plain manifests and git's files do not.
func Settings(name string) bool {
	return settings.MatchString(name) && (built.MatchString(name) || !Needed(name)) && !strings.HasPrefix(name, ".git") && Of(name) == None && !foreign.MatchString(name)
}

// Code reports whether a file is source code, by its extension.
func Code(name string) bool { return slices.Contains(codeEnds, path.Ext(name)) }

// Expressions for git grep. They are few, because running the tests shows more.
const (
	// Speaks matches files that name a test framework: they serve tests.
	Speaks = `"testing"|AssertionError|(import|from) (unittest|pytest)|org\.junit|node:(test|assert)|@jest/globals|from ['"]vitest['"]`
	// Asks matches a product that asks whether it is being tested, or replaces assertions.
	Asks = `testing\.Testing\(\)|flag\.Lookup\("test|process\.argv\[1\]|GOFLAGS|PYTEST_ADDOPTS|RALPH_TESTS|PYTEST_CURRENT_TEST|JEST_WORKER_ID|NODE_TEST_CONTEXT|strings\.(Contains|HasSuffix)\(.*os\.Args|/proc/[^ ]*(cmdline|environ)|process\.env\.VITEST|NODE_ENV *[!=]==? *["']test|cfg!\(test|cfg\(not\(test|sys\.modules.*(pytest|unittest)|` +
		`(assert\.[A-Za-z]+|\.(strict|deep|deepStrict)Equal|\.assert[A-Z][A-Za-z]*) *= *[^=> ]|_test\.(go|py)|\.test["']|\.(test|spec)\\?\.[cm]?[jt]s`
	// Steers matches tests that change how others run.
	Steers = `^func TestMain\(|^ *def pytest_[a-z_]+\(|^def load_tests\(`
)

// entries are the harmless additions to a build file: dependencies, modules, sources.
var entries = []struct{ name, added *pattern.Pattern }{
	{pattern.Of(`^pom\.xml$`), pattern.Of(`^(\s*(<dependency>\s*(<(groupId|artifactId|version|scope|type|classifier|optional)>[^<>]*</[a-zA-Z]+>\s*)+</dependency>|<module>[^<>]*</module>)\s*)+$`)},
	// Only in this file: elsewhere, include can select tests.
	{pattern.Of(`^settings\.gradle(\.kts)?$`), pattern.Of(`^(\s*include[ (]+["'][\w:/-]+["']\)?\s*)+$`)},
	{pattern.Of(`^setup\.py$`), pattern.Of(`^(\s*["'][\w.-]+(\[[\w,-]+\])?( ?([<>]=?|[=!~]=) ?[\w.*]+,?)*["'],?\s*)+$`)},
	{pattern.Of(`\.gradle(\.kts)?$`), pattern.Of(`^(\s*((implementation|api|compileOnly|runtimeOnly|annotationProcessor|kapt|ksp|testImplementation|testRuntimeOnly)[ (]+((platform|project)\()?(["'][\w.:/@+-]+["']|libs\.[\w.]+)\)*)\s*)+$`)},
	{pattern.Of(`\.(cs|fs|vb)proj$`), pattern.Of(`^(\s*(<(PackageReference|ProjectReference|Compile) Include="[^"$*;<>]*"( Version="[^"<>]*")? ?/>|</?ItemGroup>)\s*)+$`)},
	{pattern.Of(`^mix\.exs$`), pattern.Of(`^(\s*(\{:\w+, "[^"#\\]*"(, (only|runtime): [\w: \[\]]+)*\},?)\s*)+$`)},
	{pattern.Of(`^composer\.json$`), pattern.Of(`^(\s*("[\w.-]+/[\w.-]+": "[^"\\]*",?)\s*)+$`)},
	{pattern.Of(`^CMakeLists\.txt$`), pattern.Of(`^(\s*([\w./-]+\.(c|cc|cpp|cxx|h|hpp)|(find_package|target_link_libraries|add_subdirectory)\([\w:./ -]+\))\s*)+$`)},
	{pattern.Of(`^BUILD(\.bazel)?$`), pattern.Of(`^(\s*("(//|@|:)[\w/:.@+-]+",)\s*)+$`)},
	{pattern.Of(`^pnpm-workspace\.yaml$`), pattern.Of(`^(\s*- ['"]?[\w./*@-]+['"]?\s*)+$`)},
	{pattern.Of(`^Package\.swift$`), pattern.Of(`^(\s*(\.(package\(url: "[^"\\]*", (from|exact): "[^"\\]*"|product\(name: "[\w-]+", package: "[\w-]+")\),?)\s*)+$`)},
}

// runs matches dependencies that decide which tests run.
var runs = pattern.Of(`(?i)junit|jupiter|testng|surefire|failsafe|spock|kotest|xunit|nunit|mstest`)

// Builds reports whether entries has the format of a build file.
func Builds(name string) bool { return form(name) >= 0 }

func form(name string) int {
	return slices.IndexFunc(entries, func(e struct{ name, added *pattern.Pattern }) bool { return e.name.MatchString(path.Base(name)) })
}

// Depends reports whether a patch of a build file only adds harmless entries.
func Depends(name, patch string) bool {
	at := form(name)
	_, body, changed := strings.Cut(patch, "\n@@")
	if at < 0 || !changed {
		return false
	}
	var added, removed []string
	fresh := true // no added line came just before
	for line := range strings.Lines(body) {
		text := strings.TrimSpace(line[1:])
		switch {
		case line[0] == '-':
			removed = append(removed, text)
		case line[0] == '+' && len(removed) > 0 && text == removed[0]+",": // the next entry follows it
			removed = removed[1:]
		case line[0] == '+' && fresh:
			added, fresh = append(added, text), false
			continue
		case line[0] == '+':
			added[len(added)-1] += "\n" + text
			continue
		}
		fresh = true
	}
	return len(removed) == 0 && len(added) > 0 && !slices.ContainsFunc(added, func(block string) bool {
		return !entries[at].added.MatchString(block) || runs.MatchString(block)
	})
}
