package merging_test

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/merging"
)

// A line that marks a conflict is left where no side of the merge had it.
func TestMarksThatAreLeft(t *testing.T) {
	for text, want := range map[string]bool{
		"a\nb\n":                       false,
		"<<<<<<< c1\na\n":              true,
		"a\n=======\nb\n":              true,
		"a\r\n=======\r\nb\r\n":        true,
		"||||||| b0\n":                 true,
		"a\n>>>>>>> b1":                true,
		"a ======= b\n========\n":      false,
		"<<<<<<< docs\n>>>>>>> docs\n": false,
	} {
		if got := merging.Marked([]byte(text), []byte("a\n"), []byte("<<<<<<< docs\r\n>>>>>>> docs\n")); got != want {
			t.Errorf("%q is marked: %t, want %t", text, got, want)
		}
	}
	if title := []byte("Install\n=======\n"); merging.Marked(title, title) {
		t.Error("a title that one side has is a mark")
	}
}
