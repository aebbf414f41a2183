package plan

import "fmt"

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
