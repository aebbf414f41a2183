package journal

import (
	"slices"
	"time"
)

// Fold is the run after entries. The run given is left as it was.
func Fold(run Run, entries ...Entry) Run {
	run = run.copied()
	for _, entry := range entries {
		run.Seq, run.Now = entry.Seq, entry.At
		run.take(entry.Event, entry.At)
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
	r.Notes = slices.Clone(r.Notes)
	r.Refused = slices.Clone(r.Refused)
	return r
}

// take changes r by one event. Journals can be odd: an event that has no place
// is passed over, never a panic.
func (r *Run) take(event Event, at time.Time) {
	switch e := event.(type) {
	case RunBegan:
		r.begin(e, at)
	case Resumed:
		r.resume(e, at)
	case Noted, EgressRefused:
		r.note(event)
	case BaselineEnded, CancelAsked, RunStopped, CommentPosted:
		r.know(event)
	case CheckEnded, SetupEnded:
		r.hear(event, at)
	case ProofEnded:
		r.prove(e, at)
	case CommitsTaken:
		r.hand(e, at)
	case IterationBegan:
		r.beginIteration(e, at)
	case AgentEnded:
		r.count(e, at)
	case PlanRead:
		r.adopt(e, at)
	case StoryGraded:
		r.grade(e)
	case IterationEnded:
		r.judge(e, at)
	case SCMEnded:
		r.commit(e, at)
	case Paused, TaskLooked, TaskSettled:
		r.rest(event, at)
	case Pushed:
		r.Pushed, r.Failures = e.SHA, nil
	case PullOpened, PullReadied:
		r.pull(event)
	case PublishFailed:
		r.Failures = append(r.Failures, e)
	}
}

// know takes what is known once, the newest word on it.
func (r *Run) know(event Event) {
	switch e := event.(type) { //nolint:gochecksumtype // take has sorted them out
	case BaselineEnded:
		r.Baseline = &e
	case CancelAsked:
		r.Cancel = &e
	case RunStopped:
		r.Stop = &e
	case CommentPosted:
		r.Comment = &e
	}
}

// note takes what people should know, and what decides nothing.
func (r *Run) note(event Event) {
	if noted, is := event.(Noted); is {
		r.Notes = append(r.Notes, noted)
	}
	if refused, is := event.(EgressRefused); is {
		r.Refused = append(r.Refused, refused)
	}
}

func (r *Run) begin(e RunBegan, at time.Time) {
	r.ID, r.Policy, r.Task, r.Plan, r.Source = e.Run, e.Policy, e.Task, e.Plan, e.Source
	r.Branch, r.BaseRef, r.Base, r.Start, r.Level = e.Branch, e.BaseRef, e.Base, e.Start, e.Level
	r.Tree, r.Work, r.Links = e.Tree, e.Work, e.Links
	r.Plan.UserStories = slices.Clone(r.Plan.UserStories)
	r.Head, r.Began, r.CostKnown = e.Start, at, true
	r.Granted = Grant{At: at}
}

// resume grants the limits anew and forgets checks that were cut off half way,
// so that they are run again as a whole.
func (r *Run) resume(e Resumed, at time.Time) {
	if e.Policy != nil {
		r.Policy = *e.Policy
	}
	if e.Level != "" {
		r.Level = e.Level
	}
	r.Resumed++
	r.Stop, r.Cancel, r.Failures, r.Loose, r.Setup = nil, nil, nil, nil, nil
	r.Trial = Trial{}
	r.Looked, r.Settled = nil, nil
	if r.Baseline == nil {
		r.BaseChecks = nil
	}
	used := len(r.Iterations)
	if it := r.open(at); it != nil {
		used--
		if it.Taken == nil {
			it.Checks = nil
		}
		it.retry()
	}
	r.Granted = Grant{At: at, Iterations: used, CostUSD: r.CostUSD, Tokens: r.Usage.Tokens()}
}

// hear takes what a command said: a check, or one that readies for checks. Only
// a proof's is feedback for an agent: the base is not its work, and its own
// tree it can see.
func (r *Run) hear(event Event, at time.Time) {
	if set, is := event.(SetupEnded); is && set.Where == AtProof {
		r.Setup = append(r.Setup, set)
	} else if is && set.Where == AtTests {
		r.Trial.Setup = append(r.Trial.Setup, set)
	}
	if check, is := event.(CheckEnded); is {
		r.check(check, at)
	}
}

func (r *Run) check(e CheckEnded, at time.Time) {
	switch e.Where {
	case AtBase:
		r.BaseChecks = append(r.BaseChecks, e)
	case AtWork:
		if it := r.open(at); it != nil {
			it.Checks = append(it.Checks, e)
		}
	case AtProof:
		r.Loose = append(r.Loose, e)
	case AtTests:
		r.Trial.Checks = append(r.Trial.Checks, e)
	}
}

// prove closes a proof with the checks that ran since the one before, or with
// those of the proof it reuses.
func (r *Run) prove(e ProofEnded, at time.Time) {
	proof := Proof{
		Commit: e.Commit, Tree: e.Tree, Passed: e.Passed, Empty: e.Empty, Reused: e.Reused, Why: e.Why, Checks: r.Loose, Setup: r.Setup,
		Rules: rules(r.Policy), Restored: e.Restored,
	}
	if old, found := r.ProofOf(e.Tree); e.Reused && found {
		proof.Checks, proof.Restored = old.Checks, old.Restored
	}
	r.Loose, r.Setup = nil, nil
	r.Proofs = append(r.Proofs, proof)
	if it := r.open(at); it != nil {
		it.Proof = &proof
	}
}

func (r *Run) hand(e CommitsTaken, at time.Time) {
	r.Dirty = e.Dirty && !e.Swept // what sweeping could not commit is not tried again
	if e.To != "" {
		r.Head, r.Tree = e.To, e.Tree
	}
	if it := r.open(at); it != nil {
		it.Taken = &e
	}
}

// count adds what an agent cost. Its money is gone even where the journal has
// no iteration for it.
func (r *Run) count(e AgentEnded, at time.Time) {
	r.Usage = r.Usage.Plus(e.Usage)
	r.CostUSD += e.Cost.USD
	r.CostKnown = r.CostKnown && e.Cost.Known
	r.Looked = nil
	if it := r.open(at); it != nil {
		if it.Earlier != nil {
			e = e.after(*it.Earlier)
		}
		it.Agent, it.Paused = &e, false
		if e.Busy {
			it.Turned++
		}
	}
}

// beginIteration opens an iteration; one that was cut off before its agent
// ended, or whose agent was turned away, is begun again in its place.
func (r *Run) beginIteration(e IterationBegan, at time.Time) {
	it := Iteration{Number: e.Number, Story: e.Story, Began: at, Last: at, Prompt: e.Prompt, Bus: e.Bus}
	r.Looked = nil
	open, is := r.Open()
	if !is || open.Agent != nil && !open.Agent.Busy {
		r.Iterations = append(r.Iterations, it)
		return
	}
	it.Turned, it.Earlier = open.Turned, open.Earlier
	if open.Agent != nil {
		it.Earlier = open.Agent
	}
	r.Iterations[len(r.Iterations)-1] = it
}

// adopt takes the agent's plan, but keeps to the program's own word on what
// has passed.
func (r *Run) adopt(e PlanRead, at time.Time) {
	it := r.open(at)
	if it == nil {
		return
	}
	it.Read = &e
	passes := map[string]bool{}
	for _, story := range r.Plan.UserStories {
		passes[story.ID] = story.Passes
	}
	r.Plan = e.Plan
	r.Plan.UserStories = slices.Clone(e.Plan.UserStories)
	for i, story := range r.Plan.UserStories {
		r.Plan.UserStories[i].Passes = passes[story.ID]
	}
}

// judge closes the iteration under way: only here does a story pass.
func (r *Run) judge(e IterationEnded, at time.Time) {
	it := r.open(at)
	if it == nil {
		return
	}
	it.Ended = &e
	for i, story := range r.Plan.UserStories {
		if slices.Contains(e.Passed, story.ID) {
			r.Plan.UserStories[i].Passes = true
		}
	}
}

func (r *Run) commit(e SCMEnded, at time.Time) {
	r.CostUSD += e.CostUSD
	if it := r.open(at); it != nil {
		it.SCM = append(it.SCM, e)
	}
}

// pull takes what happened to the pull request. Others may hold the one that
// was known, so it is not written to.
func (r *Run) pull(event Event) {
	r.Failures = nil
	if opened, is := event.(PullOpened); is {
		r.Pull = &opened
		return
	}
	if r.Pull != nil {
		pull := *r.Pull
		pull.Draft = false
		r.Pull = &pull
	}
}

// open is the iteration under way, to be written to.
func (r *Run) open(at time.Time) *Iteration {
	n := len(r.Iterations)
	if n == 0 || r.Iterations[n-1].Ended != nil {
		return nil
	}
	r.Iterations[n-1].Last = at
	return &r.Iterations[n-1]
}
