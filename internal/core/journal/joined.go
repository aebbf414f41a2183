package journal

import (
	"time"
)

// Line is a branch to which others may push.
type Line string

// OfBranch is the run's own branch, OfBase the base branch.
const (
	OfBranch Line = "branch"
	OfBase   Line = "base"
)

// Joined records that work of others was merged, or conflicts. Without a merge To equals From.
type Joined struct {
	Of        Line     `json:"of"`
	From      string   `json:"from"` // the newest commit of the work
	With      string   `json:"with"` // the newest commit of the others
	To        string   `json:"to"`   // the merge
	Tree      string   `json:"tree,omitempty"`
	By        []string `json:"by,omitempty"`        // who made what was merged
	Own       bool     `json:"own,omitempty"`       // an earlier job of this run pushed it, and its record was lost
	Commits   int      `json:"commits,omitempty"`   // how many there are
	Protected []string `json:"protected,omitempty"` // protected files that the others changed
	Conflicts []string `json:"conflicts,omitempty"` // files that conflict
	Aside     string   `json:"aside,omitempty"`     // a branch that holds the work then
	FromTree  string   `json:"from_tree,omitempty"` // of From, if To is a merge that the agent has to finish
}

// fold makes the merge the run's work, and a story if the agent has to resolve conflicts.
func (e Joined) fold(r *Run, _ time.Time) {
	r.Published.Failures = nil
	if e.Of == OfBase {
		r.Merging.Met = e.To
		r.Merging.MergedAt = len(r.Iterations)
		r.finishMerge(e)
	}
	if len(e.Conflicts) > 0 {
		r.Merging.Parted = &e
		if !r.IsMerging() {
			return
		}
		r.Plan, r.Merging.MergeStory = r.Plan.WithMerge(r.Merging.MergeStory, r.BaseRef, r.Branch, e.Conflicts)
	}
	switch {
	case e.Of == OfBranch:
		r.Published.Pushed = e.With
	case r.Start == r.Base:
		r.Start = e.With
		r.Base = e.With
	default:
		r.Base = e.With
	}
	if e.To == "" || e.To == r.Head {
		return
	}
	r.moveTo(e.To, e.Tree)
	if !r.IsMerging() {
		r.Merging.Joins = append(r.Merging.Joins, e)
	}
}

// Author is the name in ralph's own commits.
const Author = "ralph"

// finishMerge completes the story of a merge once the work has the base without conflicts. A machine that was lost or a
// person may have done the merge.
func (r *Run) finishMerge(e Joined) {
	if len(e.Conflicts) > 0 {
		return
	}
	for i, story := range r.Plan.UserStories {
		if story.ID == r.Merging.MergeStory {
			r.Plan.UserStories[i].Passes = true
		}
	}
}

// moveTo sets the run's commit. The newest iteration's files then no longer show its work.
func (r *Run) moveTo(head, tree string) {
	r.Head, r.Tree = head, tree
	r.Work = ""
	if n := len(r.Iterations); n > 0 && r.Iterations[n-1].Taken != nil {
		taken := *r.Iterations[n-1].Taken
		taken.Work = ""
		r.Iterations[n-1].Taken = &taken
	}
}

// IsMerging reports whether the head is a merge with conflict markers. It is never pushed.
func (r Run) IsMerging() bool {
	return r.Merging.Parted != nil && r.Merging.Parted.Of == OfBase && r.Merging.Parted.To != r.Merging.Parted.From
}

// undoMerge removes a merge that the agent did not finish.
func (r *Run) undoMerge() {
	if !r.IsMerging() {
		return
	}
	parted := *r.Merging.Parted
	parted.To = parted.From
	r.moveTo(parted.From, parted.FromTree)
	r.Merging.Parted = &parted
	r.Merging.Met = parted.From
}

// Branched records that the work continues on another branch.
type Branched struct {
	From string `json:"from"`
	To   string `json:"to"`
	Why  string `json:"why"`
}

// fold forgets the pull request and the pushes: they belong to the other branch.
func (e Branched) fold(r *Run, _ time.Time) {
	r.Branch = e.To
	r.Published.Pushed = ""
	r.Published.Pull = nil
	r.Published.Failures = nil
	r.Published.Leaves = append(r.Published.Leaves, e)
}

// Packed records that work which could not be pushed was saved in a file.
type Packed struct {
	Path  string `json:"path"`            // from the job's workspace
	Head  string `json:"head"`            // the newest commit in it
	Patch string `json:"patch,omitempty"` // the same work, if it is small
}

func (e Packed) fold(r *Run, _ time.Time) { r.Published.Packed = &e }
