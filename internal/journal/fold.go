package journal

import "slices"

// Fold is the run after entries. The run given is left as it was.
func Fold(run Run, entries ...Entry) Run {
	run = run.copied()
	for _, entry := range entries {
		run.Seq, run.Now = entry.Seq, entry.At
		entry.Event.fold(&run, entry.At)
	}
	return run
}

// copied is run with nothing in it that a fold would write to shared.
func (r Run) copied() Run {
	r.Plan.UserStories = slices.Clone(r.Plan.UserStories)
	r.BaseChecks = slices.Clone(r.BaseChecks)
	r.Iterations = slices.Clone(r.Iterations)
	for i, it := range r.Iterations {
		r.Iterations[i].Checks = slices.Clone(it.Checks)
		r.Iterations[i].SCM = slices.Clone(it.SCM)
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
