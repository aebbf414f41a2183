package journal

import (
	"cmp"
	"slices"
	"time"
)

// Pushed records that the branch is at SHA on GitHub.
type Pushed struct {
	Branch string `json:"branch"`
	SHA    string `json:"sha"`
}

func (e Pushed) fold(r *Run, _ time.Time) { r.Published.Pushed, r.Published.Failures = e.SHA, nil }

// PullOpened records a pull request that was opened, found, or converted to a draft.
type PullOpened struct {
	Number int    `json:"number"`
	URL    string `json:"url"`
	Draft  bool   `json:"draft"`
	Again  bool   `json:"again,omitempty"` // it was ready, and is a draft until the new head is proven
}

func (e PullOpened) fold(r *Run, _ time.Time) { r.Published.Pull, r.Published.Failures = &e, nil }

// PullReadied records that the pull request is ready for review.
type PullReadied struct {
	Number int `json:"number"`
}

// fold does not write to the pull request that was known: others may hold it.
func (PullReadied) fold(r *Run, _ time.Time) {
	r.Published.Failures = nil
	if r.Published.Pull == nil {
		return
	}
	pull := *r.Published.Pull
	pull.Draft = false
	r.Published.Pull = &pull
}

// PublishFailed records that something failed on GitHub. The work is not lost.
type PublishFailed struct {
	Act  string `json:"act"`            // push, open, ready
	Head string `json:"head,omitempty"` // the commit to publish
	Why  string `json:"why"`
	Fix  string `json:"fix,omitempty"` // what to do about it, if known
}

func (e PublishFailed) fold(r *Run, _ time.Time) {
	r.Published.Failures = append(r.Published.Failures, e)
}

// CommentPosted records the progress comment.
type CommentPosted struct {
	ID    int64  `json:"id"`
	URL   string `json:"url"`
	Quiet bool   `json:"quiet,omitempty"` // its author's pushes and pull requests start no workflows
}

func (e CommentPosted) fold(r *Run, _ time.Time) { r.Published.Comment = &e }

// Shelved records that the journal up to here is saved for other machines.
type Shelved struct {
	Ref    string `json:"ref"`
	Commit string `json:"commit"`
	Ended  int    `json:"ended"` // how many iterations had a verdict by then
}

func (e Shelved) fold(r *Run, _ time.Time) { r.Published.Shelved = &e }

// JudgedIterations counts the iterations with a verdict.
func (r Run) JudgedIterations() int {
	if _, open := r.OpenIteration(); open {
		return len(r.Iterations) - 1
	}
	return len(r.Iterations)
}

// Signed records that GitHub signed the newest commits anew. The tree and its proofs stay.
type Signed struct {
	From string `json:"from"`
	To   string `json:"to"`
	Tree string `json:"tree,omitempty"`
	// As has the new ids of all commits that were signed. The old ones are on no branch.
	As map[string]string `json:"as,omitempty"`
}

func (e Signed) fold(r *Run, _ time.Time) {
	if r.Merging.Met == r.Head { // of the same work
		r.Merging.Met = e.To
	}
	r.Proofs, r.Iterations = slices.Clone(r.Proofs), slices.Clone(r.Iterations)
	for i := range r.Proofs {
		e.rename(&r.Proofs[i].Base, &r.Proofs[i].Commit)
	}
	for i, it := range r.Iterations {
		if it.Proof != nil {
			proof := *it.Proof
			e.rename(&proof.Base, &proof.Commit)
			r.Iterations[i].Proof = &proof
		}
		if it.Taken != nil {
			taken := *it.Taken
			e.rename(&taken.From, &taken.To)
			r.Iterations[i].Taken = &taken
		}
	}
	r.Head = e.To
	r.Published.Signed = e.To
	r.Published.Failures = nil
}

func (e Signed) rename(commits ...*string) {
	for _, commit := range commits {
		*commit = cmp.Or(e.As[*commit], *commit)
	}
}
