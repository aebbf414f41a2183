package github

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/clean"
	"github.com/ralph-loop/ralph/internal/trigger"
)

// How much of a text is read, in characters. GitHub's own limits are 256 and
// 65,536, but a payload is what somebody sent.
const (
	maxTitle = 300
	maxText  = 60_000
)

// payload is as much of a webhook as we read. go-github's types would refuse
// the whole of it for one odd field among hundreds that nobody here looks at,
// a time that is no time for instance; with these few there is less to go
// wrong, and a new GitHub or an old server of a company's own reads the same.
type payload struct {
	Action string   `json:"action"`
	Issue  *issue   `json:"issue"`
	Label  named    `json:"label"`
	Note   *comment `json:"comment"`
	Repo   struct {
		Name          string `json:"name"`
		DefaultBranch string `json:"default_branch"`
		CloneURL      string `json:"clone_url"`
		Private       bool   `json:"private"`
		Owner         user   `json:"owner"`
	} `json:"repository"`
	Sender user `json:"sender"`
}

type issue struct {
	Number    int             `json:"number"`
	Title     string          `json:"title"`
	Body      string          `json:"body"`
	User      user            `json:"user"`
	URL       string          `json:"html_url"`
	State     string          `json:"state"`
	Pull      json.RawMessage `json:"pull_request"`
	CreatedAt stamp           `json:"created_at"`
	UpdatedAt stamp           `json:"updated_at"`
}

type comment struct {
	ID        int64  `json:"id"`
	Body      string `json:"body"`
	User      user   `json:"user"`
	URL       string `json:"html_url"`
	CreatedAt stamp  `json:"created_at"`
}

type named struct {
	Name string `json:"name"`
}

type user struct {
	Login string `json:"login"`
	Type  string `json:"type"`
}

func (u user) isBot() bool { return u.Type == "Bot" }

// name is the login, if GitHub could have made it; it goes into log lines and
// URLs. An account that was deleted has none.
func (u user) name() string {
	if !logins.MatchString(u.Login) {
		return ""
	}
	return u.Login
}

// stamp is a time, or none where there is no reading it: who relies on it
// leaves out what has none.
type stamp struct{ time.Time }

// UnmarshalJSON never fails.
func (s *stamp) UnmarshalJSON(text []byte) error {
	var at time.Time
	if json.Unmarshal(text, &at) == nil {
		s.Time = at
	}
	return nil
}

// ReadTrigger reads what GitHub sent with event. Every text in the trigger is
// clean. Of an event that starts nothing only the name is read.
func ReadTrigger(event string, body []byte) (trigger.Trigger, error) {
	if event != trigger.EventIssues && event != trigger.EventIssueComment {
		return trigger.Trigger{Event: event}, nil
	}
	var p payload
	if err := json.Unmarshal(body, &p); err != nil {
		return trigger.Trigger{}, fmt.Errorf("read the payload of %s: %w", event, err)
	}
	if err := p.incomplete(event); err != nil {
		return trigger.Trigger{}, fmt.Errorf("read the payload of %s: %w", event, err)
	}
	return p.trigger(event), nil
}

// incomplete says what is missing that all else hangs on.
func (p payload) incomplete(event string) error {
	switch {
	case p.Action == "":
		return errors.New("it has no action")
	case p.Issue == nil || p.Issue.Number <= 0:
		return errors.New("it has no issue with a number")
	case p.Repo.Name == "" || p.Repo.Owner.Login == "":
		return errors.New("it has no repository with a name and an owner")
	case event == trigger.EventIssueComment && (p.Note == nil || p.Note.ID <= 0):
		return errors.New("it has no comment with an id")
	}
	return nil
}

func (p payload) trigger(event string) trigger.Trigger {
	var wash laundry
	read := trigger.Trigger{
		Event:  event,
		Action: p.Action,
		Repo: trigger.Repo{
			Owner: p.Repo.Owner.Login, Name: p.Repo.Name,
			DefaultBranch: p.Repo.DefaultBranch, CloneURL: p.Repo.CloneURL, Private: p.Repo.Private,
		},
		Issue:   p.Issue.read(&wash),
		Label:   p.Label.Name,
		Comment: p.Note.read(&wash),
		Sender:  trigger.Sender{Login: p.Sender.name(), IsBot: p.Sender.isBot()},
	}
	read.Removed = wash.removed.String()
	return read
}

func (i *issue) read(wash *laundry) trigger.Issue {
	return trigger.Issue{
		Number: i.Number,
		Title:  wash.line(i.Title, maxTitle),
		Body:   wash.clean(i.Body, maxText),
		Author: i.User.name(),
		URL:    i.URL,
		State:  i.State,
		// REST shows null for an issue, webhooks leave it out.
		IsPull:    len(i.Pull) > 0 && string(i.Pull) != "null",
		CreatedAt: i.CreatedAt.Time,
		UpdatedAt: i.UpdatedAt.Time,
	}
}

func (c *comment) read(wash *laundry) trigger.Comment {
	if c == nil {
		return trigger.Comment{}
	}
	return trigger.Comment{
		ID:          c.ID,
		Body:        wash.clean(c.Body, maxText),
		Author:      c.User.name(),
		AuthorIsBot: c.User.isBot(),
		Ours:        strings.Contains(c.Body, trigger.Marker),
		URL:         c.URL,
		CreatedAt:   c.CreatedAt.Time,
	}
}

// laundry cleans one text after the other and counts what it took out.
type laundry struct{ removed clean.Removed }

func (l *laundry) clean(text string, most int) string {
	text, removed := clean.Inward(text, most)
	l.removed = l.removed.Add(removed)
	return text
}

// line is clean for what GitHub shows as it stands, and not as Markdown.
func (l *laundry) line(text string, most int) string {
	text, removed := clean.Plain(text, most)
	l.removed = l.removed.Add(removed)
	return text
}
