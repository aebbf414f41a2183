package view

import (
	"fmt"

	"github.com/ralph-loop/ralph/internal/journal"
)

// barred is what the wall refused of what those inside asked for, with the line
// that would allow it.
func barred(e journal.EgressRefused) string {
	text := "  refused by the wall: " + one(e.What) + ": " + one(e.Why)
	if e.Input != "" {
		text += " – this would allow it: " + one(e.Input)
	}
	return text
}

// refused are the newest refusals, and how many came before them.
func refused(run journal.Run) []string {
	var said []string
	if older := len(run.Refused) - most; older > 0 {
		said = append(said, fmt.Sprintf("%d older ones are in the journal", older))
	}
	for _, e := range run.Refused[max(len(run.Refused)-most, 0):] {
		text := code(e.What, 200) + ": " + first(e.Why)
		if e.Input != "" {
			text += "; this would allow it: " + code(e.Input, 200)
		}
		said = append(said, text)
	}
	return said
}
