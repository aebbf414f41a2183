package suite_test

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/suite"
)

func TestOf(t *testing.T) {
	for part, paths := range map[suite.Part]string{
		suite.Test: `cart/cart_test.go tests/name.sh test/cart.js src/__tests__/cart.tsx src/cart.test.ts app/cart.spec.mjs
			tests/test_cart.py test_cart.py pkg/cart_test.py tests/cart.rs spec/cart_spec.rb test/cart_test.rb
			src/test/java/shop/CartTest.java app/src/androidTest/kotlin/CartTests.kt Shop.Tests/Cart.cs tests/CartTest.php
			test/cart_test.exs Tests/ShopTests/CartTests.swift test/cart.bats t/basic.t cmd/shop/testdata/script/cart.txtar e2e/buy.ts`,
		suite.Support: `cart/testdata/cart.golden tests/fixtures/cart.json src/__snapshots__/cart.test.ts.snap conftest.py tests/conftest.py testdata/cart.go fixtures/test_cart.py
			tests/README.md __mocks__/http.js spec/spec_helper.rb tests/data.json testutil.go`,
		suite.None: `cart/cart.go src/cart.ts src/testing.ts cart.py latest.py contest.py README.md go.mod package.json Makefile
			node_modules/jest/test/a.test.js .github/tests/check.sh cart.txtar docs/cart.txtar vendor/x/x_test.go .github/workflows/test.yml src/attest/main.go docs/tests.md greatest/hits.js
			src/spectrum.rb Latest.java target/test/A.java`,
	} {
		for path := range strings.FieldsSeq(paths) {
			if got := suite.Of(path); got != part {
				t.Errorf("Of(%s) = %d, want %d", path, got, part)
			}
		}
	}
}
