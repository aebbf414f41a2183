package laptop

import (
	"context"
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/show/view"
)

// followInterval is the interval of looks at a run of another process.
const followInterval = 200 * time.Millisecond

// Follow prints a run's events until the run has stopped or its process has ended.
func (r ShownRun) Follow(ctx context.Context, w World, home workspace.Run, run journal.Run) error {
	console := view.Console{Look: w.lookFor(w.Stdout), Now: w.Now}
	shown := journal.Run{Resume: run.Resume} // as far as it was printed
	tick := time.Tick(followInterval)
	for seen := 0; ; {
		last := r.Abandoned(run) // asked before the look: what was written until then is seen by it
		entries, err := home.Entries()
		if err != nil {
			return err
		}
		for _, entry := range entries[min(seen, len(entries)):] {
			shown.Add(entry)
			if text := console.Event(shown, entry.Event); text != "" {
				fmt.Fprintln(w.Stdout, text)
			}
		}
		seen = len(entries)
		if shown.Stop != nil {
			return nil
		}
		if last {
			headline, next := view.Gist(shown, true)
			_, err := fmt.Fprintln(w.Stdout, "! "+headline+"\nnext: "+next)
			return err
		}
		select {
		case <-tick:
		case <-ctx.Done():
			return nil
		}
	}
}
