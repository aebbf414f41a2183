package journal

import (
	"reflect"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/stream"
)

// Run is the state of a run: the sum of its events. It is a value; a fold makes a new one.
type Run struct {
	ID       string
	Policy   policy.Policy
	Task     plan.Task
	Plan     plan.Plan // Passes is ralph's verdict here, never the agent's claim
	Branch   string
	BaseRef  string
	Base     string
	Start    string
	Work     string
	Level    string
	Worktree string
	Links    Links
	By       Person // who asked for it
	Form     string // the base's own template for pull requests

	Seq   int
	Clock Clock
	Words []string // what people added since, for the agent

	Planning   Planning
	Baseline   *BaselineEnded
	BaseChecks []CheckEnded
	Iterations []Iteration
	Reopened   []Reopened // stories that people asked for again
	Head       string     // newest commit that was handed over; Start at first
	Tree       string     // of Head
	Dirty      bool       // the agent's tree held uncommitted work when last read
	Proofs     []Proof
	Proving    Runs // of an unfinished proof
	Reviews    []StoryReviewed
	Spent      Spent

	Box       Box
	Merging   Merging
	Published Published
	Notes     []Noted

	Looked  *TaskLooked // the task's folder, if nothing has happened since
	Settled *TaskSettled

	Cancel *CancelAsked
	Stop   *RunStopped

	Resume Resume // how the reader of this run continues it; who shows the run sets it, and no event does
}

// IsBoxElsewhere reports whether the box is not at the path of the user's folder. What contains its path, such as a
// .venv, does not work there until setup made it.
func (r Run) IsBoxElsewhere() bool { return r.Policy.Boxed && r.Level != "namespace" }

// Clock is when things happened.
type Clock struct {
	Began   time.Time
	Now     time.Time     // when the last event happened
	SetBack time.Duration // by how much the clock was set back since the run began
	Granted Grant         // since when the limits count
	Resumed int           // how often the run was resumed
}

// Planning is how the plan came about.
type Planning struct {
	Attached []string     // digests of the attachments that the plan was made with
	Approved string       // who approved the plan
	Vague    bool         // the plan only repeats the task: an agent can make a better one
	Unable   *PlanDrafted // the newest try at a plan, if its agent cannot work
	Misplans []string     // why the agents' plans are unusable
	Added    []string     // criteria that an agent added while it worked
	Asked    string       // the planning agent's question to people
}

// Spent is what the run used.
type Spent struct {
	Usage     stream.Usage
	CostUSD   float64 // usage without a price counts as the most expensive model of its provider
	CostKnown bool    // every agent so far reported its cost
	Overspent string  // why an agent was stopped for the budget since limits were granted; empty: none
}

// Box is what came out of the box, and what it was refused.
type Box struct {
	Delivered *Delivered      // what of the box is in the user's folder
	Log       Attachment      // the newest copy of the progress log
	Refused   []EgressRefused // by the sandbox's proxies
}

// Merging is how the work met that of others.
type Merging struct {
	Met        string   // the newest commit that was compared with the base branch
	Joins      []Joined // merged work of others
	MergedAt   int      // how many iterations there were when the base branch was merged last
	Parted     *Joined  // work of others that conflicts
	MergeStory string   // the story of a merge that the agent has to finish; empty: none
}

// Published is what other people can see of the run.
type Published struct {
	Pushed     string
	Signed     string     // the newest commit that GitHub has signed
	Packed     *Packed    // the work as a file, if it could not be pushed
	Leaves     []Branched // why the work moved to another branch
	Shelved    *Shelved   // the newest copy for other machines
	Pull       *PullOpened
	FoundDraft bool // the pull request was a draft when the run began, so a person marks it ready
	Comment    *CommentPosted
	Failures   []PublishFailed // since the last thing that worked on GitHub
}

// Grant is the point from which limits count: the beginning, or the newest resume.
type Grant struct {
	At         time.Time
	Iterations int
	CostUSD    float64
	Tokens     int64
}

// IsCompleted reports whether the run did what was asked.
func (r Run) IsCompleted() bool {
	return r.Stop != nil && r.Stop.Reason.Status() == policy.StatusCompleted
}

// Iteration is one pass of the loop, possibly unfinished.
type Iteration struct {
	Number int
	Story  string
	Began  time.Time
	Last   time.Time // its newest event
	Prompt Attachment
	Agent  *AgentEnded
	Read   *PlanRead
	Checks []CheckEnded
	Taken  *CommitsTaken
	Proof  *Proof
	SCM    []SCMEnded
	Ended  *IterationEnded
	Bus    int64 // the size of the task's message bus at the beginning
	Paused bool  // the delay after it, or after the model rejected it, has begun
	Wake   time.Time

	Idle    bool   // the newest proof of its story says that nothing changed for it
	Session string // of the agent, if the loop runs within one

	Turned  int         // how often in a row the model's server rejected its agent
	Earlier *AgentEnded // the sum of the earlier tries
}

// NewestChecks returns the checks on a clean checkout, or else those in the agent's tree.
func (it Iteration) NewestChecks() []CheckEnded {
	if it.Proof != nil && len(it.Proof.Checks.Head) > 0 {
		return it.Proof.Checks.Head
	}
	return it.Checks
}

// OpenIteration returns the iteration without a verdict.
func (r Run) OpenIteration() (Iteration, bool) {
	if n := len(r.Iterations); n > 0 && r.Iterations[n-1].Ended == nil {
		return r.Iterations[n-1], true
	}
	return Iteration{}, false
}

// LastJudged returns the newest iteration with a verdict.
func (r Run) LastJudged() (Iteration, bool) {
	return newest(r.Iterations, func(it Iteration) bool { return it.Ended != nil })
}

// Elapsed returns the time since the limits were granted.
func (r Run) Elapsed() time.Duration { return r.Clock.Now.Sub(r.Clock.Granted.At) }

// SpentUSD returns the cost since the limits were granted.
func (r Run) SpentUSD() float64 { return r.Spent.CostUSD - r.Clock.Granted.CostUSD }

// SpentTokens returns the usage since the limits were granted.
func (r Run) SpentTokens() int64 { return r.Spent.Usage.Tokens() - r.Clock.Granted.Tokens }

// UsedIterations counts the iterations since the limits were granted.
func (r Run) UsedIterations() int { return len(r.Iterations) - r.Clock.Granted.Iterations }

// PassedStories counts the stories that pass.
func (r Run) PassedStories() int {
	passed := 0
	for _, story := range r.Plan.UserStories {
		if story.Passes {
			passed++
		}
	}
	return passed
}

func newest[T any](all []T, match func(T) bool) (T, bool) {
	for _, one := range slices.Backward(all) {
		if match(one) {
			return one, true
		}
	}
	var none T
	return none, false
}

// WorkBefore returns the tree with which an iteration began, if known.
func (r Run) WorkBefore(it Iteration) string {
	at := slices.IndexFunc(r.Iterations, func(o Iteration) bool { return o.Number == it.Number })
	if at > 0 && r.Iterations[at-1].Taken != nil {
		return r.Iterations[at-1].Taken.Work
	}
	return r.Work
}

// Fold returns the run after more events. The run that is passed does not change.
func Fold(run Run, entries ...Entry) Run {
	run = run.clone()
	for _, entry := range entries {
		run.Add(entry)
	}
	return run
}

// Add is Fold without a copy, for who reads a journal event by event.
func (r *Run) Add(entry Entry) {
	r.advanceClock(entry.At)
	r.Seq = entry.Seq
	entry.Event.fold(r, r.Clock.Now)
}

// advanceClock sets the time of the newest event. If the clock was set back, time stands
// still: a time limit would never be reached otherwise.
func (r *Run) advanceClock(at time.Time) {
	now := at.Add(r.Clock.SetBack)
	if now.Before(r.Clock.Now) {
		r.Clock.SetBack += r.Clock.Now.Sub(now)
		now = r.Clock.Now
	}
	r.Clock.Now = now
}

// clone copies all slices of the run that a fold changes in place.
func (r Run) clone() Run {
	cloneSlices(reflect.ValueOf(&r).Elem())
	r.Plan.UserStories = slices.Clone(r.Plan.UserStories)
	if n := len(r.Iterations); n > 0 { // only the newest still changes
		it := &r.Iterations[n-1]
		it.Checks = slices.Clone(it.Checks)
		it.SCM = slices.Clone(it.SCM)
	}
	return r
}

// cloneSlices copies the slices of a struct, and of the structs of this package within it.
func cloneSlices(of reflect.Value) {
	for _, field := range of.Fields() {
		switch {
		case field.Kind() == reflect.Slice:
			field.Set(reflect.AppendSlice(reflect.Zero(field.Type()), field))
		case field.Kind() == reflect.Struct && field.Type().PkgPath() == of.Type().PkgPath():
			cloneSlices(field)
		}
	}
}
