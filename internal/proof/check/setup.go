package check

import (
	"context"
	"fmt"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
)

// Setup runs the commands up to the first that fails, as later ones need the earlier.
func (h Hand) Setup(
	ctx context.Context, job Job, commands []policy.Check, emit func(journal.Event),
) (ready bool, err error) {
	label := job.Label
	job.Only = nil // it is about checks
	job.kind = "setup"
	for i, command := range commands {
		job.Label = fmt.Sprintf("setup_%s_%d", label, i+1)
		job.Checks = []policy.Check{command}
		passed := false
		err := h.Do(ctx, job, func(event journal.Event) {
			if ended, ok := event.(journal.CheckEnded); ok {
				passed = ended.Passed
				emit(journal.SetupEnded(ended))
			}
		})
		if err != nil || !passed {
			return false, err
		}
	}
	return true, nil
}
