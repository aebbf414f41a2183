package main

import (
	"time"

	"github.com/ralph-loop/ralph/internal/entry/laptop"
	"github.com/ralph-loop/ralph/internal/hub/github"
	"github.com/ralph-loop/ralph/internal/lib/clean"
)

// Start is main by another clock. A look at the clock is where a test can
// reach into a run without a switch in the program. Where haste is given,
// GitHub is left alone for no longer than that, and not waited for as long.
func Start(now func() time.Time, haste time.Duration) int {
	w := newWorld()
	w.Now = now
	if haste > 0 {
		w.every = haste
		w.pace = &github.RetryPolicy{Tries: github.DefaultRetryPolicy.Tries, Delay: haste, MaxWait: 2 * time.Second, Timeout: time.Second}
	}
	return start(w)
}

// PrintJSON is what all that is printed for programs goes through.
var PrintJSON = clean.JSON

// Hint is what is said to try after an error.
var Hint = laptop.Hint
