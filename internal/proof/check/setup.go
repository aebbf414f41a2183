package check

import (
	"context"
	"fmt"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
)

// Setup runs the commands up to the first that fails, as later ones need the earlier.
func (h Hand) Setup(ctx context.Context, job Job, commands []policy.Check, emit func(journal.Event)) (ready bool, err error) {
	where := job.Label
	job.Only, job.kind = nil, "setup" // Only is about checks
	for i, command := range commands {
		job.Label, job.Checks = fmt.Sprintf("setup_%s_%d", where, i+1), []policy.Check{command}
		ready = false
		err := h.Do(ctx, job, func(event journal.Event) {
			if ended, is := event.(journal.CheckEnded); is {
				ready = ended.Passed
				emit(journal.SetupEnded(ended))
			}
		})
		if err != nil || !ready {
			return false, err
		}
	}
	return true, nil
}
