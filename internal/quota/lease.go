package quota

import (
	"encoding/json"
	"time"

	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/policy"
)

// Lease says which job is at work on a task. It ends by itself: a killed job gives nothing back.
type Lease struct {
	Job   int64     `json:"job"`  // by GitHub's number
	Page  string    `json:"page"` // of its log
	Until time.Time `json:"until"`

	// Attempts are those at red checks, with the job's own. The journal has them only after an iteration.
	Attempts plan.Attempts `json:"attempts,omitzero"`

	// Ready: the pull request was no draft before the first job that gave nothing back, so ralph made it one.
	Ready bool `json:"ready,omitempty"`
	// ReadyHead is the head that was ready: no later one may be called so unproven.
	ReadyHead string `json:"ready_head,omitempty"`
}

// LeaseFile lies beside a run's own files, and is never larger than LongestLease.
const (
	LeaseFile    = "lease.json"
	LongestLease = 4 << 10
)

// LongestJob is how long a job may take on GitHub's own machines.
const LongestJob = 6 * time.Hour

// ReadLease reads a lease; what cannot be read is none.
func ReadLease(text []byte) Lease {
	var l Lease
	if json.Unmarshal(text, &l) != nil {
		return Lease{}
	}
	return l
}

// Keeps tells whether the lease keeps a job from the task, unless the job that holds it is over.
func (l Lease) Keeps(job int64, now time.Time) bool {
	return l.Job != 0 && l.Job != job && now.Before(l.Until)
}

// LeaseFor is as long as it can take until the next iteration ends, at most a job's time.
func LeaseFor(p policy.Policy) time.Duration {
	iteration := p.Limits.Iteration.Std()
	if iteration == 0 {
		return LongestJob
	}
	for _, check := range p.Checks { // in the agent's tree, in the proof and for the grade
		iteration += 3 * check.Timeout.Std()
	}
	return min(iteration+10*time.Minute, LongestJob)
}
