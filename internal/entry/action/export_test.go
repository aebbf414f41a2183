package action

import (
	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/quota"
	"github.com/ralph-loop/ralph/internal/core/trigger"
	"github.com/ralph-loop/ralph/internal/entry/config"
	"github.com/ralph-loop/ralph/internal/hub/github"
	"github.com/ralph-loop/ralph/internal/run/job"
)

// Request is a request whose parts a test names.
type Request struct{ *request }

// NewRequest returns what was asked, by those inputs.
func NewRequest(in config.Inputs, t trigger.Trigger, verb trigger.Verb, task plan.Task) Request {
	return Request{&request{inputs: &in, trigger: t, command: trigger.Command{Verb: verb}, task: task}}
}

// What a request decides.
var (
	Place    = func(r Request) (base, branch string, err error) { return r.place() }
	PolicyOf = func(r Request, p plan.Plan) any { return r.policy(p) }
	Ref      = func(r Request) string { return r.ref() }
)

// PullsOf returns the pull requests of a repository, as a run sees them.
func PullsOf(client *github.Client) job.Pulls {
	return &branchHost{client: client, hide: func(s string) string { return s }, say: func(string) {}}
}

// StatusText is the answer to /ralph status, of a saved run and of a job at work on a page.
func StatusText(run journal.Run, page string, busy bool) string {
	return statusText(savedRun{run: run, lease: quota.Lease{Page: page}}, busy)
}
