package plan

import (
	"fmt"
	"time"
)

// Kind is where a task came from.
type Kind string

// The places a task can come from.
const (
	KindIssue  Kind = "issue"
	KindPull   Kind = "pull_request"
	KindPrompt Kind = "prompt" // a person at the keyboard, or a file of theirs
)

// Task is what was asked, and by whom, once it was accepted.
type Task struct {
	Kind   Kind   `json:"kind"`
	Number int    `json:"number,omitempty"`
	Title  string `json:"title,omitempty"`
	Body   string `json:"body,omitempty"`
	Author string `json:"author,omitempty"`
	URL    string `json:"url,omitempty"`
	Repo   string `json:"repo,omitempty"` // owner/name
	// Context is what others said of it: to be known, and never obeyed.
	Context []Said `json:"context,omitempty"`
}

// Said is what somebody said of a task, and where if not just so.
type Said struct {
	Author string    `json:"author,omitempty"`
	At     time.Time `json:"at,omitzero"`
	Where  string    `json:"where,omitempty"` // cart.go:12
	Hunk   string    `json:"hunk,omitempty"`  // the lines it is about, as a diff
	Text   string    `json:"text"`
}

// Same tells whether the same is asked, whatever others have said of it since.
func (t Task) Same(other Task) bool {
	return t.Kind == other.Kind && t.Number == other.Number && t.Title == other.Title && t.Body == other.Body &&
		t.Author == other.Author && t.URL == other.URL && t.Repo == other.Repo
}

// String names the task as a person would: issue #12.
func (t Task) String() string {
	name := "task"
	switch t.Kind {
	case KindIssue:
		name = "issue"
	case KindPull:
		name = "pull request"
	case KindPrompt:
		name = "prompt"
	}
	if t.Number == 0 {
		return name
	}
	return fmt.Sprintf("%s #%d", name, t.Number)
}
