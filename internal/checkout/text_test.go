package checkout_test

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/checkout"
)

// A missing file has no text. A git that fails is an error: old tests would seem to declare nothing.
func TestText(t *testing.T) {
	trusted, commits := repository(t, `echo one >a && commit`)
	changes := (&checkout.Clean{Trusted: trusted}).Prover(nil).Changes
	for _, c := range []struct {
		commit, path, want string
		fails              bool
	}{{commits[0], "a", "one\n", false}, {commits[0], "b", "", false}, {strings.Repeat("0", 40), "a", "", true}} {
		if text, err := changes.Text(t.Context(), c.commit, c.path); text != c.want || (err != nil) != c.fails {
			t.Errorf("%s of %.7s: %q, %v", c.path, c.commit, text, err)
		}
	}
}
