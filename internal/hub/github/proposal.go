package github

import (
	"context"
	"errors"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/trigger"
	"github.com/ralph-loop/ralph/internal/lib/clean"
)

// ReadProposal reads the payload of pull_request, merge_group and push, whose change is in its branch already. The last
// two have no number.
func ReadProposal(body []byte) (Pull, error) {
	p, err := readPayload(body)
	switch {
	case err != nil:
		return Pull{}, err
	case p.Pull != nil && p.Pull.Number > 0:
		return p.Pull.proposal(), nil
	case p.Group != nil && p.Group.Head != "":
		return change(p.Group.BaseRef, p.Group.Base, p.Group.Head), nil
	case p.After != "":
		return change(p.Ref, p.After, p.After), nil
	}
	return Pull{}, errors.New("it names no pull request, merge group or push")
}

func change(branch, base, head string) Pull {
	branch, _ = clean.Plain(branch, maxName)
	branch = strings.TrimPrefix(branch, "refs/heads/")
	return Pull{Pull: trigger.Pull{HeadSHA: head, BaseRef: branch}, BaseSHA: base, Open: true}
}

// Proposal returns a pull request as it stands, with a clean title.
func (c *Client) Proposal(ctx context.Context, number int) (Pull, error) {
	found, err := c.readPull(ctx, number)
	return found.proposal(), err
}

func (p *pull) proposal() Pull {
	pull := p.pull()
	pull.Title = p.read().Title
	return pull
}

// Proved is the job that proved a pull request, as workflow_run reports it.
type Proved struct {
	Event      string
	Path       string // of the workflow
	Head, Repo string // the commit, and the repository that it comes from
}

// ReadProved reads the payload of workflow_run.
func ReadProved(body []byte) (Proved, error) {
	p, err := readPayload(body)
	if err != nil {
		return Proved{}, err
	}
	if p.Job == nil || p.Job.SHA == "" {
		return Proved{}, errors.New("it names no workflow run")
	}
	return Proved{Event: p.Job.Event, Path: p.Job.Path, Head: p.Job.SHA, Repo: p.Job.From.Name}, nil
}
