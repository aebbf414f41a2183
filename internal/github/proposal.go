package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/clean"
	"github.com/ralph-loop/ralph/internal/trigger"
)

// Proposal is a change that somebody asks to have merged.
type Proposal struct {
	Pull    trigger.Pull // number 0: the merged tree of a merge queue
	BaseSHA string
	Title   string
	Body    string
	Open    bool
}

type proposed struct {
	Pull  *pull `json:"pull_request"`
	Group *struct {
		Head    string `json:"head_sha"`
		Base    string `json:"base_sha"`
		BaseRef string `json:"base_ref"`
	} `json:"merge_group"`
	Ref   string `json:"ref"` // of a push, and
	After string `json:"after"`
}

// ReadProposal reads the payload of pull_request, merge_group and push, whose change is in its branch already.
func ReadProposal(body []byte) (Proposal, error) {
	var p proposed
	if err := json.Unmarshal(body, &p); err != nil {
		return Proposal{}, fmt.Errorf("read the payload: %w", err)
	}
	switch {
	case p.Pull != nil && p.Pull.Number > 0:
		return p.Pull.proposal(), nil
	case p.Group != nil && p.Group.Head != "":
		base, _ := clean.Plain(p.Group.BaseRef, maxName)
		return Proposal{Pull: trigger.Pull{HeadSHA: p.Group.Head, BaseRef: strings.TrimPrefix(base, "refs/heads/")}, BaseSHA: p.Group.Base, Open: true}, nil
	case p.After != "":
		branch, _ := clean.Plain(p.Ref, maxName)
		return Proposal{Pull: trigger.Pull{HeadSHA: p.After, BaseRef: strings.TrimPrefix(branch, "refs/heads/")}, BaseSHA: p.After, Open: true}, nil
	}
	return Proposal{}, errors.New("it names no pull request, merge group or push")
}

// Proposal returns a pull request as it stands.
func (c *Client) Proposal(ctx context.Context, number int) (Proposal, error) {
	found, err := c.readPull(ctx, number)
	return found.proposal(), err
}

func (p *pull) proposal() Proposal {
	var wash textCleaner
	read := p.read(&wash)
	return Proposal{Pull: p.pull(), BaseSHA: p.Base.SHA, Title: read.Title, Body: read.Body, Open: read.State == "open"}
}

// Proved is the job that proved a pull request, as workflow_run tells of it.
type Proved struct {
	Event    string `json:"event"`
	Path     string `json:"path"` // of the workflow
	Head     string `json:"head_sha"`
	HeadRepo struct {
		Name string `json:"full_name"`
	} `json:"head_repository"`
}

// ReadProved reads the payload of workflow_run.
func ReadProved(body []byte) (Proved, error) {
	var p struct {
		Run Proved `json:"workflow_run"`
	}
	if err := json.Unmarshal(body, &p); err != nil {
		return Proved{}, fmt.Errorf("read the payload: %w", err)
	}
	if p.Run.Head == "" {
		return Proved{}, errors.New("it names no workflow run")
	}
	return p.Run, nil
}

// IssueText returns the text of an issue, cleaned.
func (c *Client) IssueText(ctx context.Context, number int) (trigger.Issue, error) {
	found, err := c.readIssue(ctx, number)
	var wash textCleaner
	return found.read(&wash), err
}
