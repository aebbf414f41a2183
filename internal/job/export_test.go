package job

import (
	"github.com/ralph-loop/ralph/internal/egress"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/stream"
)

// Metered returns what an agent used and how it ended, by what the model server saw.
func Metered(ended journal.AgentEnded, seen egress.Spent, counted bool) journal.AgentEnded {
	return applyMetering(ended, seen, counted)
}

// Answered returns what would be read of what an agent says.
func Answered(items ...stream.Item) string {
	said := newAnswer(nil)
	for _, item := range items {
		said.addItem(item)
	}
	return said.words.String()
}

// IsWorkUntaken tells whether the newest iteration may have left work in its tree alone.
var IsWorkUntaken = isWorkUntaken
