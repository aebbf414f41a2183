package github

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/core/trigger"
	"github.com/ralph-loop/ralph/internal/lib/clean"
	"github.com/ralph-loop/ralph/internal/lib/pattern"
)

// maxTitle is in bytes. GitHub has a limit of its own, but anybody can send a payload.
const maxTitle = 300

// payload has the fields of a webhook that are used. go-github's types reject the whole payload
// for one odd field, such as an invalid time.
type payload struct {
	Action string   `json:"action"`
	Issue  *issue   `json:"issue"`
	Label  named    `json:"label"`
	Note   *comment `json:"comment"`
	Review *review  `json:"review"`
	Pull   *pull    `json:"pull_request"`

	Suite *ciPayload `json:"check_suite"`
	Job   *ciPayload `json:"workflow_run"`
	Group *struct {
		Head    string `json:"head_sha"`
		Base    string `json:"base_sha"`
		BaseRef string `json:"base_ref"`
	} `json:"merge_group"`
	SHA      string `json:"sha"` // of a status
	Ref      string `json:"ref"` // of a push, and
	After    string `json:"after"`
	State    string `json:"state"`
	Updated  stamp  `json:"updated_at"`
	Branches []struct {
		Name   string `json:"name"`
		Commit struct {
			SHA string `json:"sha"`
		} `json:"commit"`
	} `json:"branches"`

	Repo struct {
		Name          string `json:"name"`
		DefaultBranch string `json:"default_branch"`
		Owner         user   `json:"owner"`
	} `json:"repository"`
	Sender user `json:"sender"`
}

type issue struct {
	Number    int             `json:"number"`
	Title     string          `json:"title"`
	Body      string          `json:"body"`
	HTML      string          `json:"body_html"` // if it was asked for
	User      user            `json:"user"`
	URL       string          `json:"html_url"`
	State     string          `json:"state"`
	Pull      json.RawMessage `json:"pull_request"`
	MergedAt  stamp           `json:"merged_at"` // of a pull request
	UpdatedAt stamp           `json:"updated_at"`
}

func (i issue) exists() bool { return i.Number != 0 }

func (i *issue) merged() bool {
	var side struct {
		MergedAt stamp `json:"merged_at"`
	}
	_ = json.Unmarshal(i.Pull, &side) // an issue has none
	return !i.MergedAt.IsZero() || !side.MergedAt.IsZero()
}

type comment struct {
	ID        int64  `json:"id"`
	URL       string `json:"html_url"`
	Body      string `json:"body"`
	HTML      string `json:"body_html"` // if it was asked for
	User      user   `json:"user"`
	CreatedAt stamp  `json:"created_at"`
	UpdatedAt stamp  `json:"updated_at"`
	Standing  string `json:"author_association"`
	reviewComment
}

func (c comment) exists() bool { return c.ID != 0 }

type named struct {
	Name string `json:"name"`
}

type user struct {
	ID    int64  `json:"id"`
	Login string `json:"login"`
	Type  string `json:"type"`
}

func (u user) isBot() bool { return u.Type == "Bot" }

func (u user) sender() trigger.Sender {
	return trigger.Sender{Login: u.name(), ID: u.ID, IsBot: u.isBot()}
}

// name is empty for a deleted account, or one that GitHub could not have made.
func (u user) name() string {
	if !logins.MatchString(u.Login) {
		return ""
	}
	return u.Login
}

// stamp is zero for an invalid time.
type stamp struct{ time.Time }

// UnmarshalJSON never fails.
func (s *stamp) UnmarshalJSON(text []byte) error {
	var at time.Time
	if json.Unmarshal(text, &at) == nil {
		s.Time = at
	}
	return nil
}

// ReadTrigger reads the payload of event. Of an event that starts no work by itself it reads only the
// repository and the sender.
func ReadTrigger(event string, body []byte) (trigger.Trigger, error) {
	var p payload
	err := json.Unmarshal(body, &p)
	if !trigger.CanStartWork(event) {
		if err != nil {
			return trigger.Trigger{Event: event}, nil //nolint:nilerr // its content is not used
		}
		return trigger.Trigger{
			Event:  event,
			Action: p.Action,
			Repo:   p.repo(),
			Sender: p.Sender.sender(),
			CI:     p.ci(event),
		}, nil
	}
	if err != nil {
		return trigger.Trigger{}, fmt.Errorf("read the payload of %s: %w", event, err)
	}
	if err := p.incomplete(event); err != nil {
		return trigger.Trigger{}, fmt.Errorf("read the payload of %s: %w", event, err)
	}
	return p.trigger(event), nil
}

func readPayload(body []byte) (p payload, err error) {
	if err := json.Unmarshal(body, &p); err != nil {
		return p, fmt.Errorf("read the payload: %w", err)
	}
	return p, nil
}

func (p payload) incomplete(event string) error {
	commented := event == trigger.EventIssueComment || event == trigger.EventReviewComment
	pull := event == trigger.EventReview || event == trigger.EventReviewComment
	switch {
	case p.Action == "":
		return errors.New("it has no action")
	case pull && (p.Pull == nil || p.Pull.Number <= 0):
		return errors.New("it has no pull request with a number")
	case !pull && (p.Issue == nil || p.Issue.Number <= 0):
		return errors.New("it has no issue with a number")
	case p.Repo.Name == "" || p.Repo.Owner.Login == "":
		return errors.New("it has no repository with a name and an owner")
	case commented && (p.Note == nil || p.Note.ID <= 0):
		return errors.New("it has no comment with an id")
	case event == trigger.EventReview && (p.Review == nil || p.Review.ID <= 0):
		return errors.New("it has no review with an id")
	}
	return nil
}

func (p payload) trigger(event string) trigger.Trigger {
	read := trigger.Trigger{
		Event:   event,
		Action:  p.Action,
		Repo:    p.repo(),
		Issue:   p.Issue.read(),
		Label:   p.Label.Name,
		Comment: p.Note.read(),
		Review:  p.Review.read(),
		Sender:  p.Sender.sender(),
	}
	if p.Pull != nil {
		read.Issue = p.Pull.read()
		read.Pull = p.Pull.pull().Pull
	}
	read.At = p.at(event)
	return read
}

// at returns when it happened: adding a label updates the issue.
func (p payload) at(event string) time.Time {
	switch {
	case p.Review != nil:
		return p.Review.SubmittedAt.Time
	case p.Note != nil:
		return p.Note.CreatedAt.Time
	case event == trigger.EventIssues:
		return p.Issue.UpdatedAt.Time
	}
	return time.Time{}
}

func (p payload) repo() trigger.Repo {
	return trigger.Repo{Owner: p.Repo.Owner.Login, Name: p.Repo.Name, DefaultBranch: p.Repo.DefaultBranch}
}

var attachmentURL = pattern.Of(`user-attachments/|user-images\.githubusercontent\.com/|/(?:assets|files)/\d`)

func (i *issue) read() trigger.Issue {
	if i == nil {
		return trigger.Issue{}
	}
	title, _ := clean.Plain(i.Title, maxTitle)
	return trigger.Issue{
		Number: i.Number,
		Title:  title,
		Body:   i.Body,
		HTML:   i.HTML,
		Author: i.User.name(),
		URL:    i.URL,
		State:  i.State,
		// REST shows null for an issue, webhooks leave it out.
		IsPull:   len(i.Pull) > 0 && string(i.Pull) != "null",
		Merged:   i.merged(),
		Attached: attachmentURL.MatchString(i.Body),
	}
}

func (c *comment) read() trigger.Comment {
	if c == nil {
		return trigger.Comment{}
	}
	return trigger.Comment{
		ID:          c.ID,
		Body:        c.Body,
		Author:      c.User.name(),
		AuthorID:    c.User.ID,
		AuthorIsBot: c.User.isBot(),
		Ours:        strings.Contains(c.Body, trigger.Marker),
		Thread:      c.thread(c.ID),
	}
}

// code returns the end of a diff or a log, unchanged except for invalid UTF-8.
func code(text string, most int) string {
	runes := []rune(strings.ToValidUTF8(text, ""))
	fenced := clean.Fence(string(runes[max(0, len(runes)-most):]))
	lines := strings.Split(fenced, "\n")
	return strings.Join(lines[1:len(lines)-1], "\n")
}
