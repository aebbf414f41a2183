package suite_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/suite"
)

func TestOf(t *testing.T) {
	for part, paths := range map[suite.Part]string{
		suite.Test: `cart/cart_test.go tests/name.sh test/cart.js src/__tests__/cart.tsx src/cart.test.ts app/cart.spec.mjs
			test.js src/test.ts source/tests.mjs scripts/cart.test.js cart_test.ts cart-test.tsx lib/spec.js test-cart.mjs
			features/cart.feature cart.robot features/step_definitions/cart.js features/steps/cart.py
			tests/test_cart.py test_cart.py pkg/cart_test.py tests/cart.rs spec/cart_spec.rb test/cart_test.rb
			src/test/java/shop/CartTest.java app/src/androidTest/kotlin/CartTests.kt Shop.Tests/Cart.cs tests/CartTest.php
			test/cart_test.exs Tests/ShopTests/CartTests.swift test/cart.bats t/basic.t cmd/shop/testdata/script/cart.txtar e2e/buy.ts`,
		suite.Support: `cart/testdata/cart.golden tests/fixtures/cart.json src/__snapshots__/cart.test.ts.snap conftest.py tests/conftest.py testdata/cart.go fixtures/test_cart.py
			tests/README.md test/node_modules/should/index.js __mocks__/http.js spec/spec_helper.rb tests/data.json testutil.go src/test-utils.tsx src/testUtils.js lib/testData.js`,
		suite.None: `cart/cart.go src/cart.ts src/testing.ts features/cart/cart.ts scripts/test.js tools/test-all.mjs src/latest.js src/contest.ts locale/cy.js cart.py latest.py contest.py README.md go.mod package.json Makefile
			node_modules/jest/test/a.test.js .github/tests/check.sh cart.txtar docs/cart.txtar vendor/x/x_test.go .github/workflows/test.yml src/attest/main.go docs/tests.md greatest/hits.js
			src/spectrum.rb Latest.java target/test/A.java src/click/testing.py lib/shop/testing/client.py src/main/java/shop/PodSpec.java api/src/main/kotlin/testing/A.kt Sources/Shop/PodSpec.swift`,
	} {
		for path := range strings.FieldsSeq(paths) {
			if got := suite.Of(path); got != part {
				t.Errorf("Of(%s) = %d, want %d", path, got, part)
			}
			if got := suite.IsTest(path); got != (part == suite.Test) {
				t.Errorf("IsTest(%s) = %t", path, got)
			}
		}
	}
}

// A folder for build output hides a test only while the base does not have it.
func TestTracked(t *testing.T) {
	for path, want := range map[string]suite.Part{"build/nine.test.js": suite.Test, "vendor/x/x_test.go": suite.Test, "src/click/testing.py": suite.Support, "src/main/java/PodSpec.java": suite.Test, "dist/cart.js": suite.None, ".github/tests/check.sh": suite.None} {
		if got := suite.Tracked(path); got != want || suite.Of(path) != suite.None {
			t.Errorf("Tracked(%s) = %d and Of %d, want %d and none", path, got, suite.Of(path), want)
		}
	}
	for want, paths := range map[bool]string{true: "cart_test.go test/a.test.js testdata/script/a.txtar", false: "test/limits.js fixtures/limits.json conftest.py fixtures/test_a.py cart.go"} {
		for path := range strings.FieldsSeq(paths) {
			if suite.Runs(path) != want {
				t.Errorf("Runs(%s) = %v", path, !want)
			}
		}
	}
}

func TestDocument(t *testing.T) {
	for want, paths := range map[bool]string{
		true:  "README.md pkg/README.rst CHANGELOG LICENSE docs/guide/a.md docs/a.png NOTES.md .github/ISSUE_TEMPLATE/a.md CHANGES.rst docs/a.txt LICENSE-MIT",
		false: "templates/a.md requirements.txt CMakeLists.txt docs/conf.py src/readme.go robots.txt prompts/a.md .github/workflows/a.yml lib/security-rules.js bin/history docs/a.mdx news-reader.py lib/license.rb docs/a.js",
	} {
		for path := range strings.FieldsSeq(paths) {
			if got := suite.Document(path); got != want {
				t.Errorf("Document(%s) = %v", path, got)
			}
		}
	}
}

func TestNeeded(t *testing.T) {
	for want, paths := range map[bool]string{
		true:  "go.mod sub/go.sum package.json pnpm-lock.yaml pyproject.toml requirements-dev.txt dev-requirements.in Cargo.lock Gemfile vendor/x/x.go third_party/a.c app/build.gradle.kts Shop.csproj pnpm-workspace.yaml pubspec.yaml gradle/libs.versions.toml packages.lock.json",
		false: "main.go mod.go package.go docs/requirements.md vendors/a.go gradle.properties",
	} {
		for path := range strings.FieldsSeq(paths) {
			if got := suite.Needed(path); got != want {
				t.Errorf("Needed(%s) = %v", path, got)
			}
		}
	}
}

// Settings are told by the form of their names. Too many are tried, not believed.
func TestSettings(t *testing.T) {
	for want, paths := range map[bool]string{
		true: ".env .env.test rust-toolchain vite.config.ts web/babel.config.js web/babel.config.json .babelrc .swcrc web/.eslintrc.json tsconfig.json web/tsconfig.build.json deno.json turbo.json composer.json Rakefile pom.xml app/build.gradle.kts mix.exs " +
			".config/nextest.toml .yarn/releases/yarn-4.cjs web/.bundle/config setup.py Directory.Build.props build.sbt lib/BUILD lint/clippy.toml packages/a/project.json tox.ini nx.json phpstan.neon.ini x.egg-info/entry_points.txt CMakeLists.txt pnpm-workspace.yaml",
		false: "package.json setup.cfg go.mod Cargo.lock requirements.txt .gitignore .github/x.yml README.md .github/scripts/x .venv/a.py src/config.js src/config.json main.go docs/a.yml tests/data.json node_modules/a/vite.config.js dist/.babelrc pubspec.yaml gradle/libs.versions.toml",
	} {
		for path := range strings.FieldsSeq(paths) {
			if got := suite.Settings(path); got != want {
				t.Errorf("Settings(%s) = %v", path, got)
			}
		}
	}
}

// The marks are few, and told by git grep with extended expressions.
func TestMarks(t *testing.T) {
	for name, c := range map[string]struct {
		mark string
		yes  []string
		no   []string
	}{
		"speaks": {suite.Speaks, []string{`import "testing"`, "raise AssertionError(", "import unittest", "from pytest import x", "require('node:assert')"}, []string{"package testing", "assert price > 0", "a test"}},
		"asks": {
			suite.Asks,
			[]string{
				"if testing.Testing() {", `os.Stat("price_test.go")`, `strings.HasSuffix(os.Args[0], ".test")`, `/\.test\.js$/.test(process.argv[1])`, "os.environ['PYTEST_CURRENT_TEST']", `flag.Lookup("test.v") != nil`, "process.argv[1].includes('x')", `os.Getenv("GOFLAGS")`, `[ "$RALPH_TESTS" ] && exit`,
				`strings.Contains(os.Args[0], "x.te")`, "tr ' ' x </proc/$PPID/cmdline", "a.strictEqual = () => {};", "assert.ok = Boolean", `if (process.env.NODE_ENV !== "test") {`, "if cfg!(test) {", "#[cfg(not(test))]", "unittest.TestCase.assertEqual = same",
			},
			[]string{"latest.js", "the test of time", "contest", "const assert = require('assert')", "assert.ok(a === b)", "if (a.strictEqual === b) {", "answer.ok = true", "run(os.Args[1:])", "ls /proc/self/fd", "#[cfg(test)]", "env.NODE_ENV === 'production'"},
		},
		"steers": {suite.Steers, []string{"func TestMain(m *testing.M) {", "def pytest_collection_modifyitems(config, items):", "def load_tests(loader, tests, pattern):"}, []string{"func TestMainPage(t *testing.T) {", "# def pytest_x"}},
	} {
		expression := regexp.MustCompile("(?m)" + c.mark)
		for _, line := range c.yes {
			if !expression.MatchString(line) {
				t.Errorf("%s: %q was not seen", name, line)
			}
		}
		for _, line := range c.no {
			if expression.MatchString(line) {
				t.Errorf("%s: %q was taken for it", name, line)
			}
		}
	}
}
