package journal

import (
	"time"
)

// CommitsTaken records the hand-over of the agent's commits. To equals From if none was accepted.
type CommitsTaken struct {
	From    string    `json:"from"`
	To      string    `json:"to"`
	Tree    string    `json:"tree"`            // of To
	Work    string    `json:"work,omitempty"`  // tree id of the working tree with uncommitted work; without a repository, a digest of the files
	Dirty   bool      `json:"dirty,omitempty"` // the agent's tree has uncommitted work
	Swept   bool      `json:"swept,omitempty"` // ralph committed the agent's uncommitted work
	Commits []Commit  `json:"commits,omitempty"`
	Files   []string  `json:"files,omitempty"`   // changed by these commits, at most 100
	Dropped []string  `json:"dropped,omitempty"` // protected paths that a rewritten commit restored
	Refused []Finding `json:"refused,omitempty"` // why nothing was taken
	Huge    []string  `json:"huge,omitempty"`    // uncommitted files that are too large to commit

	Proposed []Proposal `json:"proposed,omitempty"` // the agent's versions of dropped files
}

func (e CommitsTaken) fold(r *Run, at time.Time) {
	r.Dirty = e.Dirty && !e.Swept                      // files that could not be committed are not tried again
	if r.IsMerging() && e.To != "" && e.To != e.From { // the merge is done
		joined := *r.Parted
		joined.To, joined.Tree = e.To, e.Tree
		r.Parted, r.Met = nil, e.To
		r.addMerge(joined)
	}
	if e.To != "" {
		r.Head, r.Tree = e.To, e.Tree
	}
	if it := r.updateOpen(at); it != nil {
		it.Taken = &e
	}
}

// Commit is one commit that was handed over.
type Commit struct {
	SHA     string `json:"sha"`
	Subject string `json:"subject"`
}

// Proposal is an agent's change to a protected file, which was restored.
type Proposal struct {
	Path  string `json:"path"`
	Patch string `json:"patch"`
	Cut   bool   `json:"cut,omitempty"` // there is more of the patch
}

// Finding is why a commit is refused.
type Finding struct {
	Commit string `json:"commit,omitempty"`
	Path   string `json:"path,omitempty"` // within the run's folder
	Why    string `json:"why"`
}
