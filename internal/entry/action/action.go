// Package action is the entry for GitHub Actions. It handles one event: it parses the inputs and the event, gathers
// what GitHub knows about the request, decides with values alone, and acts. Begin with run.go. The rules of who may
// start what are those of package trigger.
package action

import (
	"context"
	"errors"
	"io"
	"time"

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

// Do handles one event.
func (a Action) Do(ctx context.Context) (job.Outcome, config.FailOn, error) {
	h := newHandler(a)
	outcome, err := h.handle(ctx)
	if err != nil && outcome.Run.Stop == nil && !errors.Is(err, process.ErrStopped) {
		h.log.reportError(outcome.Run.ID, err)
	}
	return outcome, h.inputs.FailOn, err
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
