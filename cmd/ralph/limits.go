package main

import (
	"errors"
	"fmt"
)

// most is what dollars and counts are taken seriously up to, here as in
// settings: who wants no limit says 0.
const most = 1e9

// Validate refuses limits that would silently be none. Kong asks for it.
func (l local) Validate() error {
	return errors.Join(
		reasonable("--max-cost", l.MaxCost, most),
		reasonable("--max-tokens", l.MaxTokens, 1000*most),
		reasonable("--stall-after", l.StallAfter, most),
	)
}

// Validate refuses more of them.
func (c runCommand) Validate() error {
	return errors.Join(
		c.local.Validate(),
		reasonable("--maximum-iterations", c.MaximumIterations, most),
		reasonable("--max-iterations", c.MaxIterations, most),
	)
}

// Validate refuses a number of restarts below none.
func (c superviseCommand) Validate() error {
	return reasonable("--max-restarts", c.MaxRestarts, most)
}

// reasonable refuses what is below 0, too much, or no number at all.
func reasonable[N int | int64 | float64](flag string, value *N, highest float64) error {
	if value == nil || *value >= 0 && float64(*value) <= highest {
		return nil
	}
	return fmt.Errorf("%s: %v is not from 0 to %.0f; 0 turns the limit off", flag, *value, highest)
}
