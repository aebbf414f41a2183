package tamper

import (
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// language is how a file is read.
type language int

const (
	noLanguage language = iota
	golang
	python
	script // JavaScript, TypeScript, with or without JSX
)

var scriptEnds = []string{".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts"}

func languageOf(name string) language {
	switch end := path.Ext(name); {
	case end == ".go":
		return golang
	case end == ".py" || end == ".pyi":
		return python
	case slices.Contains(scriptEnds, end):
		return script
	default:
		return noLanguage
	}
}

var (
	pythonTest  = pattern.Of(`^(test_.*|.*_test|tests?)\.py$`)
	scriptTest  = pattern.Of(`\.(test|tests|spec|e2e|cy)\.[cm]?[jt]sx?$`)
	testFolder  = pattern.Of(`(^|/)(tests?|__tests__|specs?|e2e|cypress)/`)
	noFolder    = pattern.Of(`(^|/)(node_modules|vendor|\.venv|site-packages)/`)
	testSupport = pattern.Of(`(^|/)(conftest\.py|testutils?[^/]*|test_?helpers?[^/]*|fixtures?/.*|(jest|vitest|setup)[.-]?(setup|tests)[^/]*|__mocks__/.*)`)
	fixtureName = pattern.Of(`(^|/)(testdata|fixtures?|__fixtures__|__mocks__|golden|goldens|__snapshots__|snapshots)/`)
	wordsOnly   = pattern.Of(`(?i)(\.(md|rst|txt|adoc|png|svg|gif|jpg|license)$|(^|/)(docs?|license|changelog|authors|codeowners)(/|$))`)
)

// collected tells whether the usual runner of its language finds tests in the
// file.
func collected(name string) bool {
	base := path.Base(name)
	if noFolder.MatchString(name) {
		return false
	}
	switch languageOf(name) {
	case golang:
		outside := strings.HasPrefix(base, "_") || strings.HasPrefix(base, ".") || strings.Contains("/"+name, "/testdata/") || strings.Contains("/"+name, "/_")
		return strings.HasSuffix(base, "_test.go") && !outside
	case python:
		return pythonTest.MatchString(base)
	case script:
		if fixtureName.MatchString(name) {
			return false
		}
		return scriptTest.MatchString(base) || testFolder.MatchString(name)
	case noLanguage:
	}
	return false
}

// aside tells whether a file serves the tests without being one.
func aside(name string) bool {
	return testSupport.MatchString(name) || testFolder.MatchString(name) || fixtureName.MatchString(name)
}

// prose tells whether a file only speaks to people.
func prose(name string) bool { return wordsOnly.MatchString(name) }

// produces tells whether the file is part of what is tested.
func produces(name string) bool {
	return !collected(name) && !aside(name) && !prose(name) && !noFolder.MatchString(name) && len(rolesOf(name)) == 0
}
