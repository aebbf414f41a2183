// Package action is the entry for GitHub Actions. It handles one event: it parses the inputs and the event, gathers
// what GitHub knows about the request, decides with values alone, and acts. Begin with run.go. The rules of who may
// start what are those of package trigger.
package action

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/entry/config"
	"github.com/ralph-loop/ralph/internal/hub/github"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/run/job"
)

// Action is one run of the Action.
type Action struct {
	Getenv  func(string) string
	Inputs  []string  // the names of those that the workflow sets
	Out     io.Writer // the job's log
	Now     func() time.Time
	Exec    func(context.Context, process.Command) (process.Result, error)
	Self    string              // the path of this program
	Version string              // and its version
	Hard    <-chan struct{}     // closed: end now, as if killed
	Pace    *github.RetryPolicy // nil: GitHub's own
	Every   time.Duration       // the least time between two edits of a comment
	Keep    bool                // leave the trees behind
	Plain   bool                // Out is read by people, and by no runner: it gets no groups or annotations
}

// Do handles one event. A push to a base branch is for each pull request that is behind:
// the outcome is the first that was not completed, and an error of one stops no other.
func (a Action) Do(ctx context.Context) (job.Outcome, config.FailOn, error) {
	var worst job.Outcome
	var failures error
	var updated []int // the pull requests that this push to their base was for
	for {
		h := newHandler(a)
		h.updated = updated
		outcome, err := h.handle(ctx)
		if err != nil && outcome.Run.Stop == nil && !errors.Is(err, process.ErrStopped) {
			h.log.reportError(outcome.Run.ID, err)
		}
		if len(updated) == 0 || isWorse(outcome.Run, worst.Run) {
			worst = outcome
		}
		failures = errors.Join(failures, err)
		if !h.request.isForSeveral() || ctx.Err() != nil {
			return worst, h.inputs.FailOn, failures
		}
		updated = append(updated, h.request.trigger.Issue.Number)
	}
}

// isWorse reports whether a run has ended, and an earlier one did not end or was completed.
func isWorse(run, earlier journal.Run) bool {
	if run.Stop == nil {
		return false
	}
	return earlier.Stop == nil || earlier.IsCompleted()
}

// Exit returns the exit code of the job's step: a stopped run fails the job only if the workflow wants that.
func Exit(outcome job.Outcome, failOn config.FailOn) int {
	if outcome.Run.Stop == nil {
		return fault.ExitDone
	}
	status := outcome.Run.Stop.Reason.Status()
	switch {
	case failOn == config.FailOnNever:
		return fault.ExitDone
	case failOn != config.FailOnStopped && status == policy.StatusStopped:
		return fault.ExitDone
	}
	return status.ExitCode(true)
}
