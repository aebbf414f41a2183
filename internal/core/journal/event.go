package journal

import (
	"cmp"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
)

// Event is one thing that happened in a run. The set is closed: a new event is a new
// version of the journal, and each switch over Event must handle it.
//
//sumtype:decl
type Event interface {
	// fold applies the event to the run. It ignores one that does not fit, and never panics.
	fold(r *Run, at time.Time)
}

// RunBegan is the first event of every journal. Later steps need no other settings.
type RunBegan struct {
	Run     string        `json:"run"`
	Policy  policy.Policy `json:"policy"`
	Task    plan.Task     `json:"task"`
	Plan    plan.Plan     `json:"plan"`
	Source  string        `json:"source,omitempty"` // where the plan came from: a plan.Source
	Vague   bool          `json:"vague,omitempty"`  // the plan only repeats the task: an agent makes a better one
	Branch  string        `json:"branch,omitempty"`
	BaseRef string        `json:"base_ref"`       // the branch the work is for
	Base    string        `json:"base"`           // its commit
	Start   string        `json:"start"`          // where work begins: Base, or the commit of an earlier run on Branch
	Tree    string        `json:"tree,omitempty"` // of Start
	Work    string        `json:"work,omitempty"` // the user's files as the run found them, as a tree
	Level   string        `json:"level"`          // what confines the agent
	// Worktree is the folder in the project in which Branch is checked out; empty: the project itself.
	Worktree string `json:"worktree,omitempty"`
	Links    Links  `json:"links,omitzero"`
	By       Person `json:"by,omitzero"`    // who asked for it
	Form     string `json:"form,omitempty"` // the base's own template for pull requests
	// Attached are the digests of the attachments that the plan was made with.
	Attached []string    `json:"attached,omitempty"`
	Pull     *PullOpened `json:"pull,omitempty"` // of an earlier run for the same work
}

func (e RunBegan) fold(r *Run, at time.Time) {
	r.ID = e.Run
	r.Policy = e.Policy
	r.Task = e.Task
	r.Plan = e.Plan
	r.Plan.UserStories = slices.Clone(e.Plan.UserStories)
	r.Planning.Vague = e.Vague
	r.Branch = e.Branch
	r.BaseRef = e.BaseRef
	r.Base = e.Base
	r.Start = e.Start
	r.Head = e.Start
	r.Tree = e.Tree
	r.Work = e.Work
	r.Level = e.Level
	r.Worktree = e.Worktree
	r.Links = e.Links
	r.By = e.By
	r.Form = e.Form
	r.Planning.Attached = e.Attached
	r.Published.Pull = e.Pull
	r.Published.FoundDraft = e.Pull != nil && e.Pull.Draft
	r.Clock.Began = at
	r.Spent.CostKnown = true
	r.Clock.Granted = Grant{At: at}
}

// Links are the pages where people find more.
type Links struct {
	Repo string `json:"repo,omitempty"` // the repository's page
	Log  string `json:"log,omitempty"`  // the job's log
}

// Resumed continues a stopped or killed run, and grants its limits again, possibly others.
type Resumed struct {
	Why      string         `json:"why"`
	Policy   *policy.Policy `json:"policy,omitempty"`   // in force from here on; nil: as before
	Level    string         `json:"level,omitempty"`    // what confines the agent from here on
	Words    string         `json:"words,omitempty"`    // what people added, for the agent
	Context  []plan.Comment `json:"context,omitempty"`  // newer comments of others on the task; empty: as before
	Retry    []string       `json:"retry,omitempty"`    // stories to repeat, passed or not
	Approved string         `json:"approved,omitempty"` // who let the plan be worked on
	Links    *Links         `json:"links,omitempty"`    // where people find more from here on
	Drafted  bool           `json:"drafted,omitempty"`  // the pull request is a draft, as a killed job left it
}

// fold grants the limits again, and forgets interrupted checks: all of them run again. A delivery that left something
// is repeated, too.
func (e Resumed) fold(r *Run, at time.Time) {
	before := rulesOf(r.Policy)
	r.Policy = policy.Given(e.Policy, r.Policy)
	r.Links = policy.Given(e.Links, r.Links)
	r.Level = cmp.Or(e.Level, r.Level)
	r.Planning.Approved = cmp.Or(e.Approved, r.Planning.Approved)
	if e.Words != "" {
		r.Words = append(r.Words, e.Words)
	}
	if len(e.Context) > 0 {
		r.Task.Context = e.Context
	}
	e.reopen(r)
	if r.Box.Delivered.IsPartial() {
		delivered := *r.Box.Delivered
		delivered.Iteration = 0
		r.Box.Delivered = &delivered
	}
	if e.Drafted && r.Published.Pull != nil {
		pull := *r.Published.Pull
		pull.Draft = true
		r.Published.Pull = &pull
	}
	r.Clock.Resumed++
	r.undoMerge()
	r.Stop = nil
	r.Cancel = nil
	r.Published.Failures = nil
	r.Proving = Runs{}
	r.Looked = nil
	r.Settled = nil
	r.Merging.Met = ""
	r.Merging.Parted = nil
	r.Planning.Asked = ""
	r.Planning.Unable = nil
	r.Spent.Overspent = ""
	if r.needsBaseline(before) {
		r.Baseline = nil
		r.BaseChecks = nil
	}
	used := r.retryOpen(at)
	r.Clock.Granted = Grant{At: at, Iterations: used, CostUSD: r.Spent.CostUSD, Tokens: r.Spent.Usage.Tokens()}
}

// needsBaseline reports whether the checks run again at the base. A person may have repaired what failed there.
func (r *Run) needsBaseline(before Rules) bool {
	if r.Baseline == nil || r.HasSetupFailedAtBase() {
		return true
	}
	if slices.ContainsFunc(r.BaseChecks, CheckEnded.hasFailed) {
		return true
	}
	return !rulesOf(r.Policy).equal(before)
}

// retryOpen prepares the open iteration for another try. It returns how many iterations are used up.
func (r *Run) retryOpen(at time.Time) int {
	used := len(r.Iterations)
	it := r.updateOpen(at)
	if it == nil {
		return used
	}
	if it.Taken == nil {
		it.Checks = nil
	}
	if it.Agent == nil {
		return used - 1
	}
	if it.Agent.Busy { // tries again at once: a person has resumed the run
		it.Turned = 0
		it.Paused = true
		return used - 1
	}
	if it.Agent.Failed { // it was interrupted: the turn is used up, and another one may follow
		return used
	}
	return used - 1
}

// reopen has stories done again. If people ask for more, the work that there is shows nothing of it.
func (e Resumed) reopen(r *Run) {
	for i, story := range r.Plan.UserStories {
		if !slices.Contains(e.Retry, story.ID) {
			continue
		}
		r.Plan.UserStories[i].Passes = false
		if e.Words != "" {
			r.Reopened = append(slices.Clone(r.Reopened), Reopened{story.ID, len(r.Iterations)})
		}
	}
}

// Noted is a note for people. It changes no decision.
type Noted struct {
	What string `json:"what"`
	Hint string `json:"hint,omitempty"`
}

func (e Noted) fold(r *Run, _ time.Time) { r.Notes = append(r.Notes, e) }

// CancelAsked ends the run as soon as its work is safe.
type CancelAsked struct {
	Why string `json:"why"`
}

func (e CancelAsked) fold(r *Run, _ time.Time) { r.Cancel = &e }

// RunStopped is the last event of a run, until it is resumed.
type RunStopped struct {
	Reason policy.Reason `json:"reason"`
	Why    string        `json:"why,omitempty"`
}

func (e RunStopped) fold(r *Run, _ time.Time) {
	r.undoMerge()
	r.Stop = &e
}
