package tally_test

import (
	"strings"
	"testing"

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
