package job

import (
	"github.com/ralph-loop/ralph/internal/egress"
	"github.com/ralph-loop/ralph/internal/journal"
)

// Metered returns what an agent used and how it ended, by what the model server saw.
func Metered(ended journal.AgentEnded, seen egress.Spent, counted bool) journal.AgentEnded {
	return applyMetering(ended, seen, counted)
}

// IsWorkUntaken tells whether the newest iteration may have left work in its tree alone.
var IsWorkUntaken = isWorkUntaken

// InBoth is inBoth, for its test.
var InBoth = inBoth
