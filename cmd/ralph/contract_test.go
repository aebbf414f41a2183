//go:build contract

// make contract builds this in. Every ralph of a script is this very binary,
// and what reads the description would double the time each takes to begin.
package main_test

import (
	"net/http"

	"github.com/ralph-loop/ralph/internal/testsupport/githubtest/contract"
)

// byTheBook holds every call and answer against GitHub's own description of its
// API.
func byTheBook(next http.Handler, violated func(error)) http.Handler {
	description, err := contract.Installed()
	if err != nil {
		violated(err)
		return next
	}
	return description.Validate(next, violated)
}
