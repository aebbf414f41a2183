package view

import (
	"fmt"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
)

// News is a run that has ended, in one line for a message.
func News(run journal.Run) string {
	return fmt.Sprintf("ralph %s after %s, %s, %s", headline(run), plural(len(run.Iterations), "iteration"),
		policy.Short(run.Now.Sub(run.Began)), spent(run.CostUSD, run.CostKnown))
}
