package view_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/show/view"
)

// The comment does not change only because time passes: GitHub shows edits.
func TestTimeAloneChangesNothing(t *testing.T) {
	_, entries := run("word")
	for n := 1; n < len(entries); n++ { // the last is the end, which has its time
		var before, after journal.Run
		for _, entry := range entries[:n] {
			before = journal.Fold(before, entry)
		}
		after = before
		after.Clock.Now = after.Clock.Now.Add(time.Hour)
		if diff := cmp.Diff(view.Of(before), view.Of(after)); diff != "" {
			t.Errorf("an hour after %s (-before +after):\n%s", journal.Type(entries[n-1].Event), diff)
		}
	}
}
