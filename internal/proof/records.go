package proof

import (
	"cmp"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/tally"
)

// records reads the records of tests that checks left. An agent may be able to change them, and
// without names no test is missed: a judgement that lacks a record holds the story.
type records struct {
	tests  Tests
	unread error // why the first record that cannot be read cannot
}

// told returns all tests that a check reported by name.
func (r *records) told(check journal.CheckEnded) tally.Tally {
	told, err := r.tests.Told(check)
	r.unread = cmp.Or(r.unread, err)
	return told
}
