package suite_test

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/lib/pattern"
	"github.com/ralph-loop/ralph/internal/proof/suite"
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

func TestManifest(t *testing.T) {
	for want, paths := range map[bool]string{
		true:  "go.mod sub/go.sum package.json pnpm-lock.yaml pyproject.toml requirements-dev.txt dev-requirements.in Cargo.lock Gemfile app/build.gradle.kts Shop.csproj pnpm-workspace.yaml pubspec.yaml gradle/libs.versions.toml packages.lock.json",
		false: "main.go mod.go package.go docs/requirements.md vendor/x/go.mod node_modules/a/package.json gradle.properties",
	} {
		for path := range strings.FieldsSeq(paths) {
			if got := suite.Manifest(path); got != want {
				t.Errorf("Manifest(%s) = %v", path, got)
			}
		}
	}
}

func TestCode(t *testing.T) {
	for want, paths := range map[bool]string{true: "a.go web/b.tsx c.R script/a.txtar", false: "README.md a.json Makefile go.mod a.golden"} {
		for path := range strings.FieldsSeq(paths) {
			if got := suite.Code(path); got != want {
				t.Errorf("Code(%s) = %v", path, got)
			}
		}
	}
}

// The marks are few: a person looks at the lines.
func TestMarks(t *testing.T) {
	for name, c := range map[string]struct {
		mark    *pattern.Pattern
		yes, no []string
	}{
		"asks": {
			suite.Asks,
			[]string{
				"if testing.Testing() {", "os.environ['PYTEST_CURRENT_TEST']", `flag.Lookup("test.v") != nil`, `if (process.env.NODE_ENV !== "test") {`, "if cfg!(test) {", "if 'pytest' in sys.modules or 'x'.pytest:",
				`[ "$RALPH_TESTS" ] && exit`, `strings.HasSuffix(os.Args[0], ".test")`, "process.env.JEST_WORKER_ID",
			},
			[]string{"latest.js", "the test of time", "run(os.Args[1:])", "#[cfg(test)]", "env.NODE_ENV === 'production'", "import sys"},
		},
		"skips": {
			suite.Skips,
			[]string{"t.Skip()", `t.Skipf("no %s", x)`, "it.skip('a', () => {", "describe.todo('b')", "xit('a')", "@pytest.mark.skip", "@pytest.mark.xfail(reason='x')", "pytest.skip('no')", "#[ignore]", "@Disabled"},
			[]string{"skip(list)", "exit('a')", "it('skips', () => {", "Skip = true", "@Test"},
		},
	} {
		for _, line := range c.yes {
			if !c.mark.MatchString(line) {
				t.Errorf("%s: %q was not seen", name, line)
			}
		}
		for _, line := range c.no {
			if c.mark.MatchString(line) {
				t.Errorf("%s: %q was taken for it", name, line)
			}
		}
	}
}
