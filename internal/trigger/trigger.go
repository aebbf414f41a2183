// Package trigger decides whether what GitHub sent is meant for us, what it
// asks for, and whether the one who asks may ask it. It works on cleaned
// values: it parses no webhook and calls nobody.
package trigger

import (
	"strings"
	"time"
)

// Trigger is what GitHub sent, read and cleaned. An event that starts nothing
// here has its name and action and may have nothing else.
type Trigger struct {
	Event   string // as GitHub names it: issues, issue_comment, …
	Action  string // labeled, created, …
	Repo    Repo
	Issue   Issue
	Label   string // the label that was put on
	Comment Comment
	Sender  Sender
	Removed string // what cleaning took out, in words for people
}

// Repo is the repository it happened in.
type Repo struct {
	Owner         string
	Name          string
	DefaultBranch string
	CloneURL      string
	Private       bool
}

// Issue is the issue it happened on. GitHub calls a pull request an issue too.
type Issue struct {
	Number    int
	Title     string
	Body      string
	Author    string
	URL       string
	State     string // open or closed
	IsPull    bool
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Comment is the comment that was written, where one was.
type Comment struct {
	ID          int64
	Body        string
	Author      string
	AuthorIsBot bool
	// Ours says that the body carried Marker. Cleaning takes hidden text out,
	// so the one who reads the payload has to look before it cleans.
	Ours      bool
	URL       string
	CreatedAt time.Time
}

// Sender is who did it.
type Sender struct {
	Login string
	IsBot bool
}

// Marker begins the hidden text by which we know a comment of ours again.
const Marker = "<!-- ralph:"

// The events that can start something.
const (
	EventIssues       = "issues"
	EventIssueComment = "issue_comment"
)

// String is the repository as people write it.
func (r Repo) String() string { return r.Owner + "/" + r.Name }

// Asker is the one whose permission counts: who wrote the comment, or who put
// the label on, which need not be the issue's author.
func (t Trigger) Asker() Sender {
	if t.Event == EventIssueComment {
		return Sender{Login: t.Comment.Author, IsBot: t.Comment.AuthorIsBot || t.Sender.IsBot}
	}
	return t.Sender
}

// Rules are the words that wake us and the names that need no permission. The
// zero value holds the defaults and vouches for nobody.
type Rules struct {
	Label      string // DefaultLabel where empty
	Phrase     string // DefaultPhrase where empty
	AllowUsers []string
	AllowBots  []string // with or without the "[bot]" at the end
}

// What wakes us unless a repository says otherwise.
const (
	DefaultLabel  = "ralph"
	DefaultPhrase = "/ralph"
)

func (r Rules) label() string {
	if label := strings.TrimSpace(r.Label); label != "" {
		return label
	}
	return DefaultLabel
}

func (r Rules) phrase() string {
	if phrase := strings.TrimSpace(r.Phrase); phrase != "" {
		return phrase
	}
	return DefaultPhrase
}

// Vouches tells whether the rules name who, so that GitHub need not be asked
// for a permission. GitHub could not answer for most bots anyway.
func (r Rules) Vouches(who Sender) bool {
	if who.IsBot {
		return named(r.AllowBots, who.Login, bare)
	}
	return named(r.AllowUsers, who.Login, strings.TrimSpace)
}

// named compares as GitHub does with logins: in any case.
func named(names []string, login string, trim func(string) string) bool {
	for _, name := range names {
		if name := trim(name); name != "" && strings.EqualFold(name, trim(login)) {
			return true
		}
	}
	return false
}

// bare is a bot's login as people write it down.
func bare(login string) string {
	return strings.TrimSuffix(strings.ToLower(strings.TrimSpace(login)), "[bot]")
}
