package journal

import (
	"time"
)

// Pushed says that the branch stands at SHA on GitHub.
type Pushed struct {
	Branch string `json:"branch"`
	SHA    string `json:"sha"`
}

func (e Pushed) fold(r *Run, _ time.Time) {
	r.Pushed, r.Failures = e.SHA, nil
}

// PullOpened says that a pull request stands: opened, found, or made a draft
// again.
type PullOpened struct {
	Number int    `json:"number"`
	URL    string `json:"url"`
	Draft  bool   `json:"draft"`
	Again  bool   `json:"again,omitempty"` // it was ready, and is a draft until the new head is proven
}

func (e PullOpened) fold(r *Run, _ time.Time) {
	r.Pull, r.Failures = &e, nil
}

// PullReadied says that the pull request is a draft no more.
type PullReadied struct {
	Number int `json:"number"`
}

// fold does not write to the pull request that was known: others may hold it.
func (PullReadied) fold(r *Run, _ time.Time) {
	r.Failures = nil
	if r.Pull != nil {
		pull := *r.Pull
		pull.Draft = false
		r.Pull = &pull
	}
}

// PublishFailed says that something could not be done on GitHub; the work
// itself is not lost.
type PublishFailed struct {
	Act  string `json:"act"`            // push, open, ready
	Head string `json:"head,omitempty"` // the commit that was to be shown
	Why  string `json:"why"`
	Fix  string `json:"fix,omitempty"` // what to do about it, where that is known
}

func (e PublishFailed) fold(r *Run, _ time.Time) {
	r.Failures = append(r.Failures, e)
}

// CommentPosted says where the progress comment stands.
type CommentPosted struct {
	ID    int64  `json:"id"`
	URL   string `json:"url"`
	Quiet bool   `json:"quiet,omitempty"` // GitHub starts nothing for what its author pushes and opens
}

func (e CommentPosted) fold(r *Run, _ time.Time) {
	r.Comment = &e
}

// Shelved says that the journal up to here is kept where another machine finds
// it.
type Shelved struct {
	Ref    string `json:"ref"`
	Commit string `json:"commit"`
	Ended  int    `json:"ended"` // how many iterations had a verdict by then
}

func (e Shelved) fold(r *Run, _ time.Time) {
	r.Shelved = &e
}

// JudgedIterations counts the iterations that have a verdict.
func (r Run) JudgedIterations() int {
	if _, open := r.OpenIteration(); open {
		return len(r.Iterations) - 1
	}
	return len(r.Iterations)
}
