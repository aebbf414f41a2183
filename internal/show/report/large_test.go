package report_test

import (
	"runtime"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/show/report"
)

// The work for a page grows linearly with the journal.
func TestWorkGrowsWithTheJournal(t *testing.T) {
	takes := func(iterations int) float64 {
		entries := []journal.Entry{{Seq: 1, Event: journal.RunBegan{Run: "r1"}}}
		for n := range iterations {
			for _, event := range []journal.Event{journal.IterationBegan{Number: n + 1}, journal.AgentEnded{}, journal.IterationEnded{Number: n + 1}} {
				entries = append(entries, journal.Entry{Seq: len(entries) + 1, Event: event})
			}
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		html(t, report.Source{Entries: entries, Hide: asIs, Read: noFile})
		runtime.ReadMemStats(&after)
		return float64(after.TotalAlloc - before.TotalAlloc)
	}
	takes(10) // what is made once
	if few, many := takes(400), takes(1600); many > 5*few {
		t.Errorf("%.1f MB for 1600 iterations, %.1f MB for 400", many/1e6, few/1e6)
	}
}
