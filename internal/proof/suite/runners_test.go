package suite_test

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/proof/suite"
)

// source has the scripts of a package.json, and commands that read RALPH_TESTS if reads is set.
func source(scripts map[string]string, reads bool) suite.Source {
	return suite.Source{
		Script: func(name string) string { return scripts[name] },
		Reads:  func(variable string) bool { return reads && variable == suite.Variable },
	}
}

// The command for some files runs only these, and a runner that can report results is asked to.
func TestCalls(t *testing.T) {
	scripts := map[string]string{"test": "vitest run", "unit": "node --test", "mocha": "mocha --recursive", "all": "eslint . && node --test"}
	const jest = ` $(test -e node_modules/jest-junit && echo --reporters=default --reporters=jest-junit)`
	const vitest = ` --reporter=default --reporter=junit --outputFile.junit="$RALPH_REPORTS/vitest.xml"`
	for command, c := range map[string]struct {
		files      string
		all, some  string // the command for all tests, and for the files; empty: it cannot select them
		runs, isGo bool
	}{
		"go test ./...":                    {"a_test.go shop/cart/b_test.go shop/cart/testdata/script/a.txtar", "go test -json ./...", "go test -json -vet=off ./. ./shop/cart", true, true},
		"go test -race ./... -count=1":     {"a/a_test.go", "go test -json -race ./... -count=1", "go test -json -vet=off -race ./a -count=1", true, true},
		"go test ./shop":                   {"shop/a_test.go", "go test -json ./shop", "", true, true},
		"go test './...'":                  {"a/a_test.go", "go test -json './...'", "go test -json -vet=off ./a", true, true},
		"pytest":                           {"tests/test_a.py", "pytest", "pytest tests/test_a.py", true, false},
		"python -m pytest -q":              {"tests/test_a.py test_b.py", "python -m pytest -q", "python -m pytest -q tests/test_a.py test_b.py", true, false},
		"pytest tests/unit":                {"tests/unit/test_a.py", "pytest tests/unit", "", true, false},
		"npx jest":                         {"src/a.test.ts", "npx jest" + jest, "npx jest" + jest + " --runTestsByPath src/a.test.ts", true, false},
		"npm test":                         {"src/a.test.ts", "npm test --" + vitest, "npm test --" + vitest + " src/a.test.ts", true, false},
		"npm run unit":                     {"a.test.js", "npm run unit", "npm run unit -- a.test.js", true, false},
		"mocha -r ts-node --reporter dot":  {"test/a.js", "mocha -r ts-node --reporter dot", "mocha -r ts-node --reporter dot test/a.js", true, false},
		"yarn mocha":                       {"test/a.js", "yarn mocha", "yarn mocha test/a.js", true, false},
		"pnpm run all":                     {"a.test.js", "pnpm run all", "", true, false},
		"cargo test":                       {"tests/a.rs tests/b.rs", "cargo test", "cargo test --test a --test b", true, false},
		"bundle exec rspec":                {"spec/a_spec.rb", "bundle exec rspec", "bundle exec rspec spec/a_spec.rb", true, false},
		"./mvnw -q test":                   {"src/test/java/shop/CartTest.java", "./mvnw -q test", "./mvnw -q test -Dtest=CartTest", true, false},
		"gradle test":                      {"src/test/kotlin/CartTest.kt", "gradle test", "gradle test --tests CartTest", true, false},
		"dotnet test":                      {"Shop.Tests/CartTests.cs", "dotnet test", "", true, false},
		"python -m unittest discover":      {"tests/test_a.py", "python -m unittest discover", "", true, false},
		"cd web && node --test":            {"a.test.js", "cd web && node --test", "", true, false},
		"make test":                        {"a_test.sh", "make test", "", true, false},
		"go -C api test ./...":             {"a_test.go", "go -C api test -json ./...", "", true, true},
		"cd api && A=1 go test ./...":      {"a_test.go", "cd api && A=1 go test -json ./...", "", true, true},
		"npm test --workspace web":         {"a.test.js", "npm test --workspace web", "", true, false},
		"./scripts/run-tests.sh":           {"a_test.go", "./scripts/run-tests.sh", "", true, false},
		"eslint src tests":                 {"a.test.js", "eslint src tests", "", false, false},
		"golangci-lint run":                {"a_test.go", "golangci-lint run", "", false, false},
		"npm run missing":                  {"a.test.js", "npm run missing", "", false, false},
		"go test ./... | tee out.txt":      {"a_test.go", "go test ./... | tee out.txt", "", true, false},
		"node --test --test-name-pattern=": {"a.test.js", "node --test --test-name-pattern=", "node --test --test-name-pattern= a.test.js", true, false},
	} {
		call := suite.CallOf(command, source(scripts, false))
		files := strings.Fields(c.files)
		if got := call.Text(nil); got != c.all {
			t.Errorf("%s: all by %q, want %q", command, got, c.all)
		}
		if got := call.CanSelect(files); got != (c.some != "") {
			t.Errorf("%s: it can run only %q: %v", command, files, got)
		}
		if c.some != "" && call.Text(files) != c.some {
			t.Errorf("%s: some by %q, want %q", command, call.Text(files), c.some)
		}
		if call.RunsTests() != c.runs || call.IsGo() != c.isGo {
			t.Errorf("%s: runs tests %v, is go %v", command, call.RunsTests(), call.IsGo())
		}
	}
}

// A command that reads RALPH_TESTS gets the names of the files.
func TestVariable(t *testing.T) {
	call := suite.CallOf("sh check.sh", source(nil, true))
	files := []string{"a_test.sh", "tests/b.sh"}
	if !call.CanSelect(files) || !call.RunsTests() {
		t.Error("it cannot run only some files")
	}
	if got, want := call.Text(files), "export RALPH_TESTS='a_test.sh tests/b.sh'; sh check.sh"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := call.Text(nil); got != "sh check.sh" {
		t.Errorf("all by %q", got)
	}
}

// A name that a shell or a runner may take for something else, and a file that the runner does not run alone, is not selected.
func TestCannotSelect(t *testing.T) {
	for command, files := range map[string][]string{
		"go test ./...": {"shop/cart.go", "a b_test.go", "-x_test.go", "$(x)_test.go", "cart_test.py"},
		"pytest":        {"tests/conftest.py", "tests/data.json", "test_a;b.py"},
		"cargo test":    {"src/lib.rs", "tests/common/mod.rs"},
	} {
		call := suite.CallOf(command, source(nil, false))
		for _, file := range files {
			if call.CanSelect([]string{file}) {
				t.Errorf("%s can run only %q", command, file)
			}
		}
		if call.CanSelect(nil) {
			t.Errorf("%s can run only no file", command)
		}
	}
	if call := suite.CallOf("sh check.sh", source(nil, true)); call.CanSelect([]string{"cart.sh"}) {
		t.Error("a file that is no test can be selected")
	}
}

// Setup runs as it is.
func TestPlain(t *testing.T) {
	call := suite.Plain("go test ./...")
	if call.RunsTests() || call.Text(nil) != "go test ./..." {
		t.Errorf("runs tests %v by %q", call.RunsTests(), call.Text(nil))
	}
}

// Node reports results by variables, also behind other commands.
func TestUsesNode(t *testing.T) {
	for command, want := range map[string]bool{"make test": false, "node --test": true, "cd web && node --test": true} {
		if got := suite.CallOf(command, source(nil, false)).UsesNode(); got != want {
			t.Errorf("%s: uses node %v", command, got)
		}
	}
}
