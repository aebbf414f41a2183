package journal

import (
	"slices"
	"time"
)

// Fold is the run after entries. The run given is left as it was.
func Fold(run Run, entries ...Entry) Run {
	run = run.clone()
	for _, entry := range entries {
		run.advanceClock(entry.At)
		run.Seq = entry.Seq
		entry.Event.fold(&run, run.Now)
	}
	return run
}

// advanceClock lets time go by until at, as the clock had it. One that was set back
// takes nothing from what has gone by: limits of time would never be reached.
func (r *Run) advanceClock(at time.Time) {
	now := at.Add(r.SetBack)
	if now.Before(r.Now) {
		r.SetBack += r.Now.Sub(now)
		now = r.Now
	}
	r.Now = now
}

// clone is run with nothing in it that a fold would write to shared.
func (r Run) clone() Run {
	r.Plan.UserStories = slices.Clone(r.Plan.UserStories)
	r.BaseChecks = slices.Clone(r.BaseChecks)
	r.Iterations = slices.Clone(r.Iterations)
	if n := len(r.Iterations); n > 0 { // those before the newest are not written to any more
		it := &r.Iterations[n-1]
		it.Checks, it.SCM = slices.Clone(it.Checks), slices.Clone(it.SCM)
	}
	r.Proofs = slices.Clone(r.Proofs)
	r.Loose = slices.Clone(r.Loose)
	r.Setup = slices.Clone(r.Setup)
	r.Grades = slices.Clone(r.Grades)
	r.Trial.Checks, r.Trial.Setup = slices.Clone(r.Trial.Checks), slices.Clone(r.Trial.Setup)
	r.Failures = slices.Clone(r.Failures)
	r.Joins = slices.Clone(r.Joins)
	r.Leaves = slices.Clone(r.Leaves)
	r.Notes = slices.Clone(r.Notes)
	r.Said = slices.Clone(r.Said)
	r.Misplans = slices.Clone(r.Misplans)
	r.Refused = slices.Clone(r.Refused)
	r.Traffic = slices.Clone(r.Traffic)
	r.Inspections = slices.Clone(r.Inspections)
	r.Reviews = slices.Clone(r.Reviews)
	return r
}
