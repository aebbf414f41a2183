package github_test

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/github"
)

// Whoever reads the code in a log could take the App over in our place.
func TestACodeThatWasNotTakenIsNotTold(t *testing.T) {
	const code = "a180b1a3d263c81bc6441d7b990bae27d4c10679"
	_, err := github.TakeOver(t.Context(), github.Access{BaseURL: "http://127.0.0.1:1", Pace: &github.Pace{Tries: 1}}, code)
	if !is(err, github.Unavailable) || strings.Contains(err.Error(), code) {
		t.Errorf("got %v", err)
	}
}
