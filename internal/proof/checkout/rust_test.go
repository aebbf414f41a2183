package checkout_test

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/proof/checkout"
)

func TestSplitRust(t *testing.T) {
	const module = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn a() {\n    }\n}\n"
	for text, want := range map[string][2]string{
		"fn a() {}\n":                          {"fn a() {}\n", ""},
		"fn a() {}\n" + module:                 {"fn a() {}\n", module},
		"fn a() {}\n" + module + "fn b() {}\n": {"fn a() {}\nfn b() {}\n", module},
		"#[cfg(test)]\nuse x;\n" + module:      {"#[cfg(test)]\nuse x;\n", module},
		"#[cfg(test)]\nmod tests {\n}\n":       {"", "#[cfg(test)]\nmod tests {\n}\n"},
		"#[cfg(test)]\nmod tests;\n":           {"#[cfg(test)]\nmod tests;\n", ""},
		"#[cfg(test)]\nmod tests {\n  x\n":     {"#[cfg(test)]\nmod tests {\n  x\n", ""},
	} {
		if code, tests := checkout.SplitRust(text); code != want[0] || tests != want[1] {
			t.Errorf("%q: %q and %q, want %q and %q", text, code, tests, want[0], want[1])
		}
	}
}
