package journal

import (
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/stream"
)

// Run is what a journal amounts to. It is a value: folding makes a new one.
type Run struct {
	ID      string
	Policy  policy.Policy
	Task    plan.Task
	Plan    plan.Plan // Passes is the program's word here, never the agent's
	Source  string
	Branch  string
	BaseRef string
	Base    string
	Start   string
	Work    string
	Level   string
	Links   Links
	By      Person // who asked for it
	Form    string // the base's own template for pull requests

	Seq     int
	Began   time.Time
	Now     time.Time     // when the last event happened
	SetBack time.Duration // by how much the clock was, since the run began
	Granted Grant         // since when the limits count
	Resumed int           // how often it was gone on with

	Said     []string     // what people added since, for the agent
	Approved string       // who let the plan be worked on
	Vague    bool         // the plan is what was asked, word for word: an agent can make a better one
	Unable   *PlanDrafted // the newest try at a plan, where its agent cannot work
	Misplans []string     // why what agents made of it cannot be worked by
	Added    []string     // criteria that an agent put in while it worked
	Asked    string       // what the agent that was to make it asks of people
	Shelved  *Shelved     // where the run is kept for another machine, as of when
	Log      Attachment   // the progress log, as it was kept last

	Baseline   *BaselineEnded
	BaseChecks []CheckEnded
	Iterations []Iteration
	Head       string // newest commit that was handed over; Start at first
	Tree       string // its tree
	Dirty      bool   // the agent's tree held uncommitted work when last looked at
	Proofs     []Proof
	Loose      []CheckEnded // checks of a proof under way outside an iteration
	Setup      []SetupEnded // what made its checkout ready, or did not
	Grades     []StoryGraded
	Trial      Trial // of a story's tests on the base, under way

	Inspections []ChangeInspected
	Reviews     []StoryReviewed

	Pushed     string
	Met        string     // the newest commit for which it is known how the base stands
	Joins      []Joined   // what others did and was merged
	Parted     *Joined    // what others did and contradicts the work
	MergeStory string     // the story of a merge that the agent is to finish; empty: there was none
	Signed     string     // the newest commit that GitHub has signed
	Packed     *Packed    // the work as a file, where it could not be pushed
	Leaves     []Branched // why the work is on another branch than it was to be on
	Pull       *PullOpened
	// FoundDraft tells that the pull request was a draft when the run began: what else it
	// waits for this run does not know, so a person turns it ready.
	FoundDraft bool
	Comment    *CommentPosted
	Failures   []PublishFailed // since the last thing that worked on GitHub
	Notes      []Noted
	Refused    []EgressRefused // by the sandbox's proxies
	Traffic    []Passage       // through them, by host

	Looked  *TaskLooked // the task's folder, if nothing has happened since
	Settled *TaskSettled

	Cancel *CancelAsked
	Stop   *RunStopped

	Usage     stream.Usage
	CostUSD   float64
	CostKnown bool // every agent so far told what it cost

	ChargedUSD float64 // counts against the budget beyond CostUSD
	Overspent  string  // why an agent was ended or refused for the budget; empty: none was since limits were granted
}

// Grant is the point from which limits are counted: the beginning, or the
// last time the run was resumed.
type Grant struct {
	At         time.Time
	Iterations int
	CostUSD    float64
	Tokens     int64
}

// IsCompleted tells of a run that did what was asked, and not only stopped.
func (r Run) IsCompleted() bool {
	return r.Stop != nil && r.Stop.Reason.Status() == policy.StatusCompleted
}

// Iteration is one pass of the loop, as far as it went.
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
	Bus    int64 // how long the task's message bus was when it began
	Paused bool  // the delay after it, or after it was turned away, was begun
	Wake   time.Time

	Idle    bool   // the newest grade of its story says that nothing was changed for it
	Session string // of the agent, where the loop is within one

	Turned  int         // how often in a row the model's server turned its agent away
	Earlier *AgentEnded // the sum of the tries before this one
}

// Proof is a run of the checks on a clean checkout, with what each said.
type Proof struct {
	Commit string
	Tree   string
	Passed bool
	Empty  bool // no check could prove anything
	Reused bool // the same tree was checked before
	Why    string
	Checks []CheckEnded
	Setup  []SetupEnded // before them
	Rules  Rules

	Restored []string // protected files that were put back for it
}

// OpenIteration is the iteration under way.
func (r Run) OpenIteration() (Iteration, bool) {
	if n := len(r.Iterations); n > 0 && r.Iterations[n-1].Ended == nil {
		return r.Iterations[n-1], true
	}
	return Iteration{}, false
}

// LastJudged is the newest iteration that has a verdict.
func (r Run) LastJudged() (Iteration, bool) {
	for _, it := range slices.Backward(r.Iterations) {
		if it.Ended != nil {
			return it, true
		}
	}
	return Iteration{}, false
}

// IterationBefore is the iteration before the one with that number, if there is one.
func (r Run) IterationBefore(number int) *Iteration {
	for i := len(r.Iterations) - 1; i > 0; i-- {
		if r.Iterations[i].Number == number {
			return &r.Iterations[i-1]
		}
	}
	return nil
}

// Elapsed is how long the run has been going since its limits were granted.
func (r Run) Elapsed() time.Duration { return r.Now.Sub(r.Granted.At) }

// SpentUSD is what counts against the run's limit since that was granted.
func (r Run) SpentUSD() float64 { return r.TotalUSD() - r.Granted.CostUSD }

// TotalUSD is what the run cost, and what may be on the maker's bill besides.
func (r Run) TotalUSD() float64 { return r.CostUSD + r.ChargedUSD }

// SpentTokens is what the run used since its limits were granted.
func (r Run) SpentTokens() int64 { return r.Usage.Tokens() - r.Granted.Tokens }

// UsedIterations is how many iterations were begun since limits were granted.
func (r Run) UsedIterations() int { return len(r.Iterations) - r.Granted.Iterations }

// PassedStories counts the stories the program believes.
func (r Run) PassedStories() int {
	passed := 0
	for _, story := range r.Plan.UserStories {
		if story.Passes {
			passed++
		}
	}
	return passed
}

// ProofOf is the newest proof of a tree by the rules in force.
func (r Run) ProofOf(tree string) (Proof, bool) {
	for _, proof := range slices.Backward(r.Proofs) {
		if tree != "" && proof.Tree == tree && proof.Rules.equal(rulesOf(r.Policy)) {
			return proof, true
		}
	}
	return Proof{}, false
}

// WorkBefore is the tree that an iteration found, as far as it is known.
func (r Run) WorkBefore(it Iteration) string {
	if before := r.IterationBefore(it.Number); before != nil && before.Taken != nil {
		return before.Taken.Work
	}
	return r.Work
}
