package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
)

// detail prints what -V is for of an event.
func (d *desk) detail(run journal.Run, event journal.Event) {
	if !d.Verbose {
		return
	}
	for _, line := range d.details(run, event) {
		d.console.line("[ralph] " + line)
	}
}

func (d *desk) details(run journal.Run, event journal.Event) []string {
	switch e := event.(type) { //nolint:gochecksumtype // of the rest the console says enough
	case journal.IterationBegan:
		return []string{
			fmt.Sprintf("Iteration %s starting", ofMany(e.Number, run)),
			fmt.Sprintf("Prompt (%d bytes): %s", e.Prompt.Size, d.start(run, e.Prompt)),
		}
	case journal.AgentEnded:
		return []string{fmt.Sprintf("Agent exited with code %d (%s)", e.Exit, policy.Short(e.Took()))}
	case journal.CheckEnded:
		return []string{
			"Running guardrail: " + e.Command,
			fmt.Sprintf("Guardrail exited with code %d (%s)", e.Exit, policy.Short(e.Took())),
		}
	case journal.IterationEnded:
		return []string{fmt.Sprintf("Looking for %q: accepted %v", cmp.Or(run.Policy.Word, run.Policy.Promise), e.Done || len(e.Passed) > 0)}
	default:
		return nil
	}
}

func ofMany(number int, run journal.Run) string {
	if limit := run.Policy.Limits.Iterations; limit > 0 {
		return fmt.Sprintf("%d/%d", number, run.Granted.Iterations+limit)
	}
	return fmt.Sprint(number)
}

// start is the beginning of a prompt, as it was sent.
func (d *desk) start(run journal.Run, prompt journal.Attachment) string {
	const most = 200
	text, err := os.ReadFile(filepath.Join(d.folder(), "runs", run.ID, prompt.Path))
	if err != nil {
		return err.Error()
	}
	runes := []rune(string(text))
	return fmt.Sprintf("%q", string(runes[:min(len(runes), most)]))
}
