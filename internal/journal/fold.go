package journal

import (
	"slices"
	"time"
)

// Fold returns the run after more events. The run that is passed does not change.
func Fold(run Run, entries ...Entry) Run {
	run = run.clone()
	for _, entry := range entries {
		run.advanceClock(entry.At)
		run.Seq = entry.Seq
		entry.Event.fold(&run, run.Now)
	}
	return run
}

// advanceClock sets the time of the newest event. If the clock was set back, time stands
// still: a time limit would never be reached otherwise.
func (r *Run) advanceClock(at time.Time) {
	now := at.Add(r.SetBack)
	if now.Before(r.Now) {
		r.SetBack += r.Now.Sub(now)
		now = r.Now
	}
	r.Now = now
}

// clone copies everything in the run that a fold changes in place.
func (r Run) clone() Run {
	r.Plan.UserStories = slices.Clone(r.Plan.UserStories)
	r.BaseChecks = slices.Clone(r.BaseChecks)
	r.Iterations = slices.Clone(r.Iterations)
	if n := len(r.Iterations); n > 0 { // only the newest still changes
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
