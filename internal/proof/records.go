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

	read  map[*journal.Tests]tally.Tally // by the check's results
	names int                            // in all of read
}

const mostKept = 1_000_000 // names: a hostile output has some hundred thousand

// told returns all tests that a check reported by name.
func (r *records) told(check journal.CheckEnded) tally.Tally {
	if told, known := r.read[check.Tests]; known {
		return told
	}
	told, err := r.tests.Told(check)
	r.unread = cmp.Or(r.unread, err)
	if r.names += len(told.Tests); r.read == nil || r.names > mostKept {
		r.read, r.names = map[*journal.Tests]tally.Tally{}, len(told.Tests)
	}
	r.read[check.Tests] = told
	return told
}

func limited(names []string) []string { return names[:min(len(names), mostNames)] }
