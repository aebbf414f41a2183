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
	Source  string        `json:"source,omitempty"` // where the plan came from: json, tasklist, headings, plain
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
	r.ID, r.Policy, r.Task, r.Plan, r.Source = e.Run, e.Policy, e.Task, e.Plan, e.Source
	r.Branch, r.BaseRef, r.Base, r.Start, r.Level = e.Branch, e.BaseRef, e.Base, e.Start, e.Level
	r.Tree, r.Work, r.Links, r.Vague = e.Tree, e.Work, e.Links, e.Vague
	r.Worktree = e.Worktree
	r.By, r.Form, r.Pull, r.Attached = e.By, e.Form, e.Pull, e.Attached
	r.FoundDraft = e.Pull != nil && e.Pull.Draft
	r.Plan.UserStories = slices.Clone(r.Plan.UserStories)
	r.Head, r.Began, r.CostKnown = e.Start, at, true
	r.Granted = Grant{At: at}
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
	Drafted  bool           `json:"drafted,omitempty"`  // a killed job made the pull request a draft
}

// fold grants the limits again, and forgets interrupted checks: all of them run again. So does a delivery that left something.
func (e Resumed) fold(r *Run, at time.Time) {
	before := rulesOf(r.Policy)
	r.Policy, r.Links = policy.Given(e.Policy, r.Policy), policy.Given(e.Links, r.Links)
	r.Level, r.Approved = cmp.Or(e.Level, r.Level), cmp.Or(e.Approved, r.Approved)
	if e.Words != "" {
		r.Said = append(r.Said, e.Words)
	}
	if len(e.Context) > 0 {
		r.Task.Context = e.Context
	}
	e.reopen(r)
	if r.Delivered.IsPartial() {
		again := *r.Delivered
		again.Iteration = 0
		r.Delivered = &again
	}
	if e.Drafted && r.Pull != nil {
		pull := *r.Pull
		pull.Draft = true
		r.Pull = &pull
	}
	r.Resumed++
	r.undoMerge()
	r.Stop, r.Cancel, r.Failures = nil, nil, nil
	r.Proving = Runs{}
	r.Looked, r.Settled = nil, nil
	r.Met, r.Parted, r.Asked, r.Unable, r.Overspent = "", nil, "", nil, ""
	if r.Baseline == nil || r.HasSetupFailedAtBase() || slices.ContainsFunc(r.BaseChecks, CheckEnded.hasFailed) || !rulesOf(r.Policy).equal(before) { // people may have mended it
		r.Baseline, r.BaseChecks = nil, nil
	}
	used := len(r.Iterations)
	if it := r.updateOpen(at); it != nil {
		interrupted := it.Agent != nil && it.Agent.Failed && !it.Agent.Busy
		if !interrupted { // else the turn is used up, and another one may follow
			used--
		}
		if it.Taken == nil {
			it.Checks = nil
		}
		if it.Agent != nil && it.Agent.Busy { // tries again at once: a person has resumed the run
			it.Turned, it.Paused = 0, true
		}
	}
	r.Granted = Grant{At: at, Iterations: used, CostUSD: r.CostUSD, Tokens: r.Usage.Tokens()}
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
