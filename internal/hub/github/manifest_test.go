package github_test

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/hub/github"
)

// A reader of the code in a log could take over the App.
func TestACodeThatWasNotTakenIsNotTold(t *testing.T) {
	const code = "a180b1a3d263c81bc6441d7b990bae27d4c10679"
	_, err := github.RedeemCode(t.Context(), github.Access{BaseURL: "http://127.0.0.1:1", Retry: &github.RetryPolicy{Tries: 1}}, code)
	if !is(err, github.Unavailable) || strings.Contains(err.Error(), code) {
		t.Errorf("got %v", err)
	}
}
