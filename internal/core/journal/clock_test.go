package journal_test

import (
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/core/journal"
)

// A clock that was set back takes nothing from what has gone by, and from then
// on time goes by as it should.
func TestTimeOnlyGoesOn(t *testing.T) {
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	var run journal.Run
	for i, c := range []struct{ clock, gone time.Duration }{
		{0, 0},
		{time.Minute, time.Minute},
		{-time.Hour, time.Minute}, // set back
		{-time.Hour + time.Second, time.Minute + time.Second},
		{-2 * time.Hour, time.Minute + time.Second}, // and once more
		{-2*time.Hour + time.Second, time.Minute + 2*time.Second},
	} {
		var event journal.Event = journal.Noted{}
		if i == 0 {
			event = began()
		}
		run = journal.Fold(run, journal.Entry{Seq: i + 1, At: noon.Add(c.clock), Event: event})
		if run.Elapsed() != c.gone {
			t.Errorf("%s by the clock: Elapsed = %s, want %s", c.clock, run.Elapsed(), c.gone)
		}
	}
}
