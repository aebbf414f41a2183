package github

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/trigger"
	"github.com/ralph-loop/ralph/internal/lib/clean"
)

type ciPayload struct {
	Branch     string `json:"head_branch"`
	SHA        string `json:"head_sha"`
	Conclusion string `json:"conclusion"`
	Updated    stamp  `json:"updated_at"`
	// A workflow run alone has these.
	Event string `json:"event"`
	Path  string `json:"path"` // of the workflow
	From  struct {
		Name string `json:"full_name"`
	} `json:"head_repository"`
}

// ci leaves out branches of forks, regardless of their names.
func (p payload) ci(event string) trigger.CI {
	var completed *ciPayload
	switch {
	case event == trigger.EventSuite && p.Action == "completed":
		completed = p.Suite
	case event == trigger.EventWorkflowRun && p.Action == "completed":
		completed = p.Job
	case event == trigger.EventStatus:
		return p.statusCI()
	}
	if p.Pull != nil && p.Action == "ready_for_review" { // its checks may have ended while it was a draft
		pull := p.Pull.pull().Pull
		if !pull.IsFork(p.repo()) {
			return trigger.CI{SHA: pull.HeadSHA, Branch: pull.HeadRef, Conclusion: p.Action, At: p.Pull.UpdatedAt.Time}
		}
	}
	if completed == nil {
		return trigger.CI{}
	}
	found := trigger.CI{SHA: completed.SHA, Conclusion: completed.Conclusion, At: completed.Updated.Time}
	from := completed.From.Name
	if from == "" || strings.EqualFold(from, p.repo().String()) {
		found.Branch = completed.Branch
	}
	return found
}

// statusCI returns what a status says. One of ralph's branches counts before others.
func (p payload) statusCI() trigger.CI {
	found := trigger.CI{SHA: p.SHA, Conclusion: p.State, At: p.Updated.Time}
	isOurs := func(branch string) bool { return strings.HasPrefix(branch, trigger.DefaultBranchPrefix) }
	for _, b := range p.Branches {
		if b.Commit.SHA != p.SHA || b.Name == p.Repo.DefaultBranch {
			continue
		}
		if found.Branch == "" || (isOurs(b.Name) && !isOurs(found.Branch)) {
			found.Branch = b.Name
		}
	}
	return found
}

// ProofCheck is the check that ralph writes. What it says is no work for an agent.
const ProofCheck = "ralph/proof"

// Red returns what failed on the head of a branch, and not on its base. It leaves out jobs of the workflow named own,
// those of forks, and ralph's own check. Strangers could start work with a fork's.
func (c *Client) Red(ctx context.Context, head, base, own string) ([]trigger.Check, error) {
	atBase, err := c.redNames(ctx, base)
	if err != nil {
		return nil, err
	}
	all, err := c.redRuns(ctx, head)
	if err != nil {
		return nil, err
	}
	var red []trigger.Check
	for _, r := range all {
		if len(red) == maxFailing {
			break
		}
		if slices.Contains(atBase, r.Name) {
			continue
		}
		ours, err := c.isOurs(ctx, r, own)
		if err != nil {
			return nil, err
		}
		if ours {
			red = append(red, c.withText(ctx, r))
		}
	}
	states, err := c.redStatuses(ctx, head)
	for _, s := range states {
		if !slices.Contains(atBase, s.Name) {
			red = append(red, s)
		}
	}
	return red, err
}

// redRuns returns the checks that failed on a commit, but for ralph's own.
func (c *Client) redRuns(ctx context.Context, ref string) ([]checkRun, error) {
	all, err := c.checkRuns(ctx, ref)
	var red []checkRun
	for _, r := range all {
		r.Name, _ = clean.Plain(r.Name, maxName)
		if r.failed() && r.Name != ProofCheck {
			red = append(red, r)
		}
	}
	return red, err
}

// isOurs reports whether a check is of other CI, or a job of this repository in another workflow than own.
func (c *Client) isOurs(ctx context.Context, r checkRun, own string) (bool, error) {
	if r.App.Slug != "github-actions" { // whose jobs have the numbers of their checks
		return true, nil
	}
	job, err := request[struct {
		Run      int64  `json:"run_id"`
		Workflow string `json:"workflow_name"`
	}](ctx, c, operation{
		action: fmt.Sprintf("read job %d", r.ID), permission: "actions: read",
		path: fmt.Sprintf("actions/jobs/%d", r.ID),
	})
	if errors.Is(err, NotFound) {
		return true, nil
	}
	if err != nil || (own != "" && job.Workflow == own) {
		return false, err
	}
	run, err := request[struct {
		From struct {
			Name string `json:"full_name"`
		} `json:"head_repository"`
	}](ctx, c, operation{
		action: fmt.Sprintf("read workflow run %d", job.Run), permission: "actions: read",
		path: fmt.Sprintf("actions/runs/%d", job.Run),
	})
	return strings.EqualFold(run.From.Name, c.Owner+"/"+c.Repo), err
}

// redStatuses are red statuses, by which CI outside GitHub reports.
func (c *Client) redStatuses(ctx context.Context, ref string) ([]trigger.Check, error) {
	found, err := request[struct {
		Statuses []struct {
			Context     string `json:"context"`
			State       string `json:"state"`
			Description string `json:"description"`
		} `json:"statuses"`
	}](ctx, c, operation{
		action: "read the statuses of " + ref, permission: "statuses: read",
		path: "commits/" + url.PathEscape(ref) + "/status?per_page=100",
	})
	if Withheld(err) {
		return nil, nil
	}
	var red []trigger.Check
	for _, s := range found.Statuses {
		if s.State != "failure" && s.State != "error" {
			continue
		}
		name, _ := clean.Plain(s.Context, maxName)
		if name == ProofCheck {
			continue
		}
		summary := code(s.Description, maxComment)
		red = append(red, trigger.Check{Name: name, Summary: summary})
	}
	return red, err
}

func (c *Client) redNames(ctx context.Context, branch string) ([]string, error) {
	all, err := c.redRuns(ctx, branch)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, r := range all {
		names = append(names, r.Name)
	}
	states, err := c.redStatuses(ctx, branch)
	for _, s := range states {
		names = append(names, s.Name)
	}
	return names, err
}
