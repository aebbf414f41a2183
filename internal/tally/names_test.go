package tally_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/tally"
)

// Standing finds a test's name as a whole word, after the name of its group.
func TestStanding(t *testing.T) {
	const rust = "fn ten() {}\n\nfn often() {}\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn ten() {}\n}\n"
	for _, c := range []struct{ text, test, want string }{
		{rust, "price src/lib.rs tests::ten", "mod tests {"},
		{rust, "price src/lib.rs tests::often", ""}, // product code, before the tests
		{"function ten() {}\ntest('ten is less', f)\n", "ten is less", "test('ten is less', f)"},
		{"describe('prices', () => {\n  it('ten', f)\n", "prices > ten", "describe('prices', () => {"},
		{"class PriceCheck:\n    def ten(self):\n", "ten (checks.PriceCheck)", "class PriceCheck:"},
		{"TEST(Price, Ten) {\n", "Price.Ten", "TEST(Price, Ten) {"},
		{"attend\ntent\n", "ten", ""},
		{"ten", "", ""},
		{"", "ten", ""},
		{"\xff ten \xff", "ten", "\xff ten \xff"},
	} {
		got := ""
		if at := tally.Standing(c.text, c.test); at >= 0 {
			got, _, _ = strings.Cut(c.text[at:], "\n")
		}
		if got != c.want {
			t.Errorf("Standing(%q, %q) is at %q, want %q", c.text, c.test, got, c.want)
		}
	}
}

func TestDeclared(t *testing.T) {
	for text, want := range map[string][]string{
		"test('a b', () => {})\n  it(\n    \"it's\", fn)":                   {"a b", "it's"},
		"test.only(`c`, fn); it.skip('d'); test.todo('e'); unit('f')":       {"c"},
		"test.each([[1, 2]])('g %d', fn); it.concurrent.each`x`('h', fn)":   {"g %d", "h"},
		"class T:\n    def test_i(self):\n    async def test_j(self): pass": {"test_i", "test_j"},
		"def helper(): pass\nconst test = require('node:test')":             nil,
	} {
		if diff := cmp.Diff(want, tally.Declared(text)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}
