package quota

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/core/policy"
)

// Lease names the job that works on a task. It ends by itself, as a killed job cannot return it.
type Lease struct {
	Job   int64     `json:"job"` // by GitHub's number
	Page  string    `json:"-"`   // of its log, by that number: others can write to the lease
	Until time.Time `json:"until"`
}

// LeaseFile is the name of the lease beside a run's files. LongestLease limits its size.
const (
	LeaseFile    = "lease.json"
	LongestLease = 4 << 10
)

// LongestJob is the time limit of a job on GitHub's machines.
const LongestJob = 6 * time.Hour

// ReadLease reads a lease. An unreadable one does not count.
func ReadLease(text []byte) Lease {
	var l Lease
	if json.Unmarshal(text, &l) != nil {
		return Lease{}
	}
	return l
}

// Keeps reports whether the lease keeps a job from the task, unless the holder has ended.
func (l Lease) Keeps(job int64, now time.Time) bool {
	return l.Job != 0 && l.Job != job && now.Before(l.Until)
}

// LeaseFor returns the longest time until the next iteration ends, at most a job's time.
func LeaseFor(p policy.Policy) time.Duration {
	iteration := p.Limits.Iteration.Std()
	if iteration == 0 {
		return LongestJob
	}
	if p.Review.Agent != "" { // has as long as the agent itself
		iteration *= 2
	}
	for _, command := range slices.Concat(p.Setup, p.Checks) { // in the agent's tree, in the proof and for the grade
		if command.Timeout == 0 {
			return LongestJob
		}
		iteration += 3 * command.Timeout.Std()
	}
	return min(iteration+10*time.Minute, LongestJob)
}
