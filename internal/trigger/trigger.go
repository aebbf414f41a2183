// Package trigger decides whether an event from GitHub is a task for ralph,
// what it asks for, and whether the person may ask. It takes cleaned values;
// it parses no webhook and makes no calls.
package trigger

import "time"

// Trigger is what GitHub sent, read and cleaned. An event that starts nothing
// here has its name and action and may have nothing else.
type Trigger struct {
	Event        string // as GitHub names it: issues, issue_comment, …
	Action       string // labeled, created, …
	At           time.Time
	Repo         Repo
	Issue        Issue  // or the issue side of a pull request
	Label        string // the label that was put on
	Assignee     string // who was assigned
	Comment      Comment
	Review       Review
	Pull         Pull // as far as the event tells; a comment tells nothing but that there is one
	CI           CI
	PushedBranch string // the branch that somebody pushed to
	Inputs       Inputs
	Sender       Sender
	Removed      string // what cleaning took out, in words for people
}

// Repo is the repository it happened in.
type Repo struct {
	Owner         string
	Name          string
	DefaultBranch string
}

// Issue is the issue it happened on. GitHub calls a pull request an issue too.
type Issue struct {
	Number   int
	Title    string
	Body     string
	Author   string
	URL      string
	State    string // open or closed
	IsPull   bool
	Merged   bool
	Attached bool // it may name files that people attached
}

// Comment is the comment that was written, where one was.
type Comment struct {
	ID          int64
	Body        string
	Author      string
	AuthorID    int64
	AuthorIsBot bool
	// Ours says that the body carried Marker. Cleaning takes hidden text out,
	// so the one who reads the payload has to look before it cleans.
	Ours    bool
	Pressed string // what the boxes ask for that an edit has just ticked; see Pressed
	Digest  string // of an edited one: SHA-256 of the body as it came, before it was cleaned
	Thread  Thread // where it stands, if on a line of a pull request
}

// Thread is a place in a pull request's changes, about which people talk.
type Thread struct {
	ID   int64 // of its first comment
	Path string
	Line int
	Hunk string // the lines above, as a diff
}

// Review is a judgement on a pull request.
type Review struct {
	ID    int64
	State string // approved, changes_requested or commented
	Body  string
	Ours  bool
}

// Pull is the pull request it happened on.
type Pull struct {
	Number   int
	HeadRef  string
	HeadRepo string // owner/name; empty when a fork is gone
	HeadSHA  string
	BaseRef  string
	Draft    bool
	Ours     bool // its text carried PullMarker
}

// IsFork tells whether the work lies in a repository in which we may not push.
func (p Pull) IsFork(repo Repo) bool { return !equalNames(p.HeadRepo, repo.String()) }

// CI is what an event says of the checks of a commit. It is a reason to look, and
// no more: what is red GitHub is asked.
type CI struct {
	SHA        string
	Branch     string // of the repository, at SHA; empty: a fork's, or none
	Conclusion string
	At         time.Time // when it ended; zero: the event does not tell
}

// Inputs is what the workflow asks for, in the inputs of its step.
type Inputs struct {
	Prompt string
	Issue  int
}

// Sender is who did it.
type Sender struct {
	Login string
	ID    int64 // 0: not known
	IsBot bool
}

// Marker begins the hidden text by which we know a comment of ours again.
const Marker = "<!-- ralph:"

// PullMarker begins the text of a pull request that ralph opened.
const PullMarker = Marker + "pull -->"

// The events that can start something by what they say. Any other does so
// where the workflow's inputs ask for something.
const (
	EventIssues        = "issues"
	EventIssueComment  = "issue_comment"
	EventReview        = "pull_request_review"
	EventReviewComment = "pull_request_review_comment"
	EventSuite         = "check_suite"
	EventWorkflowRun   = "workflow_run"
	EventStatus        = "status"
	EventPush          = "push"
)

// CanStartWork tells whether an event can start something by what it says.
func CanStartWork(event string) bool {
	switch event {
	case EventIssues, EventIssueComment, EventReview, EventReviewComment:
		return true
	}
	return false
}

// NeedsInputs tells whether the event names no task: then the workflow's inputs name
// it.
func (t Trigger) NeedsInputs() bool {
	return !CanStartWork(t.Event) || t.Event == EventIssues && t.Action != "labeled" && t.Action != "assigned"
}

// String is the repository as people write it.
func (r Repo) String() string { return r.Owner + "/" + r.Name }

// IsCI tells whether the trigger is that checks have ended.
func (t Trigger) IsCI() bool { return t.CI.SHA != "" && t.Inputs == Inputs{} }

// IsAutomatic tells whether GitHub, and no person, asks for a look: checks have ended, or
// a branch has moved on.
func (t Trigger) IsAutomatic() bool { return t.IsCI() || t.PushedBranch != "" && t.Inputs == Inputs{} }

// IsOnPull tells whether the trigger is about a pull request.
func (t Trigger) IsOnPull() bool { return t.Issue.IsPull || t.Pull.Number != 0 }

// Asker is the one whose permission counts: who wrote the comment, who pressed
// a button in one of ours, or who put the label on, which need not be the
// issue's author.
func (t Trigger) Asker() Sender {
	if t.Comment.ID != 0 && t.Action != edited {
		return Sender{Login: t.Comment.Author, ID: t.Comment.AuthorID, IsBot: t.Comment.AuthorIsBot || t.Sender.IsBot}
	}
	return t.Sender
}

// edited is what GitHub calls it when somebody changes a comment.
const edited = "edited"
