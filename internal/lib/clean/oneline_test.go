package clean_test

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/lib/clean"
)

func TestOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"":                           "",
		" a\tb\r\n\nc ":              "a b c",
		"a\x1b[1mb\x00\u0085c\u2028": "a [1mb c",
	} {
		if got := clean.OneLine(text); got != want {
			t.Errorf("OneLine(%q) = %q, want %q", text, got, want)
		}
	}
}
