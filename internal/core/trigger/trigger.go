// Package trigger decides whether an event from GitHub is a task for ralph, which one, and whether the person may start
// it. It takes cleaned values, parses no webhooks and makes no calls.
package trigger

import (
	"slices"
	"time"
)

// Trigger is a GitHub event. Its bodies are as people wrote them. An event that starts nothing has only name and
// action.
type Trigger struct {
	Event   string // GitHub's name: issues, issue_comment, …
	Action  string // labeled, created, …
	At      time.Time
	Repo    Repo
	Issue   Issue  // or the issue side of a pull request
	Label   string // the added label
	Comment Comment
	Review  Review
	Pull    Pull // as far as the event has it; empty for a comment
	CI      CI
	Inputs  Inputs
	Sender  Sender
}

// Repo is the repository of the event.
type Repo struct {
	Owner         string
	Name          string
	DefaultBranch string
}

// Issue is the issue of the event. GitHub calls a pull request an issue, too.
type Issue struct {
	Number   int
	Title    string
	Body     string
	HTML     string `json:"-"` // of Body, if it was fetched with it
	Author   string
	URL      string
	State    string // open or closed
	IsPull   bool
	Merged   bool
	Attached bool // the body can have links to attached files
}

// Comment is the new comment, if the event has one.
type Comment struct {
	ID          int64
	Body        string
	Author      string
	AuthorID    int64
	AuthorIsBot bool
	Ours        bool   // it has Marker
	Thread      Thread // if it is on a line of a pull request
}

// Thread is a discussion of a line in a pull request.
type Thread struct {
	ID   int64 // of the first comment
	Path string
	Line int
	Hunk string // the lines above, as a diff
}

// Review is a review of a pull request.
type Review struct {
	ID    int64
	State string // approved, changes_requested or commented
	Body  string
	Ours  bool
}

// Pull is the pull request of the event.
type Pull struct {
	Number   int
	Author   string // login
	HeadRef  string
	HeadRepo string // owner/name; empty if a fork was deleted
	HeadSHA  string
	BaseRef  string
	Draft    bool
	Ours     bool // its text has PullMarker
}

// IsFork reports whether the branch is in another repository, to which ralph cannot push.
func (p Pull) IsFork(repo Repo) bool { return !equalNames(p.HeadRepo, repo.String()) }

// CI is the result of checks in an event. ralph reads the real results from GitHub.
type CI struct {
	SHA        string
	Branch     string // of this repository, at SHA; empty for a fork or without a branch
	Conclusion string
	At         time.Time // the end of the checks; zero: unknown
}

// Inputs is the task in the inputs of the workflow's step.
type Inputs struct {
	Prompt string
	Issue  int
}

// Sender is the account that caused the event.
type Sender struct {
	Login string
	ID    int64 // 0: unknown
	IsBot bool
}

// Marker begins the hidden text that identifies ralph's comments.
const Marker = "<!-- ralph:"

// PullMarker begins the text of a pull request that ralph opened.
const PullMarker = Marker + "pull -->"

// The events that can start work without a task in the workflow's inputs.
const (
	EventIssues        = "issues"
	EventIssueComment  = "issue_comment"
	EventReview        = "pull_request_review"
	EventReviewComment = "pull_request_review_comment"
	EventSuite         = "check_suite"
	EventWorkflowRun   = "workflow_run"
	EventStatus        = "status"
)

// CanStartWork reports whether the content of an event can start work.
func CanStartWork(event string) bool {
	return slices.Contains([]string{EventIssues, EventIssueComment, EventReview, EventReviewComment}, event)
}

// NeedsInputs reports whether only the workflow's inputs can have a task.
func (t Trigger) NeedsInputs() bool {
	if !CanStartWork(t.Event) {
		return true
	}
	return t.Event == EventIssues && t.Action != "labeled"
}

// String returns the repository as owner/name.
func (r Repo) String() string { return r.Owner + "/" + r.Name }

// IsCI reports whether the event is the end of checks, for which no person asks.
func (t Trigger) IsCI() bool { return t.CI.SHA != "" && t.Inputs == Inputs{} }

// IsOnPull reports whether the event is about a pull request.
func (t Trigger) IsOnPull() bool { return t.Issue.IsPull || t.Pull.Number != 0 }

// IsEditedAt reports whether an edit at a time can be later than the request. GitHub's times are whole
// seconds, so an edit in the same second can.
func (t Trigger) IsEditedAt(at time.Time) bool { return !t.At.IsZero() && !at.Before(t.At) }

// Asker returns the account that needs permission, which can differ from the issue's author.
func (t Trigger) Asker() Sender {
	if t.isNewComment() {
		return Sender{
			Login: t.Comment.Author,
			ID:    t.Comment.AuthorID,
			IsBot: t.Comment.AuthorIsBot || t.Sender.IsBot,
		}
	}
	return t.Sender
}

func (t Trigger) isNewComment() bool { return t.Comment.ID != 0 }
