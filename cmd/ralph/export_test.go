package main

import "time"

// Start is main by another clock. A look at the clock is where a test can
// reach into a run without a switch in the program.
func Start(now func() time.Time) int {
	w := here()
	w.now = now
	return start(w)
}
