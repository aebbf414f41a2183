package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
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

var redConclusions = []string{"failure", "timed_out", "cancelled", "action_required", "startup_failure", "stale"}

// ProofCheck is the check that ralph writes. What it says is no work for an agent.
const ProofCheck = "ralph/proof"

// Red returns what is red on the head of a branch, and the names of what is red on its base. It
// leaves out jobs of the workflow named own, those of forks, and ralph's own check. Checks that
// the change may have broken come first.
func (c *Client) Red(ctx context.Context, head, branch, own string) (red []trigger.Check, base []string, err error) {
	base, err = c.redNames(ctx, branch)
	if err != nil {
		return nil, nil, err
	}
	all, err := c.redRuns(ctx, head)
	if err != nil {
		return nil, nil, err
	}
	slices.SortStableFunc(all, func(a, b checkRun) int { return likelihood(a, base) - likelihood(b, base) })
	for _, r := range all {
		if len(red) == maxFailing {
			break
		}
		check := trigger.Check{Name: r.Name, Conclusion: r.Conclusion}
		if r.App.Slug == "github-actions" {
			ours, err := c.addWorkflowRun(ctx, &check, r.ID, own)
			if err != nil {
				return nil, nil, err
			}
			if !ours {
				continue
			}
		}
		check.Summary = c.resultText(ctx, r)
		red = append(red, check)
	}
	states, err := c.redStatuses(ctx, head)
	return append(red, states...), base, err
}

// likelihood is 0 for checks that the change may have broken.
func likelihood(r checkRun, base []string) int {
	if slices.Contains(base, r.Name) {
		return 2
	}
	if !r.failed() {
		return 1
	}
	return 0
}

func (c *Client) redRuns(ctx context.Context, ref string) ([]checkRun, error) {
	all, err := c.checkRuns(ctx, ref)
	var red []checkRun
	for _, r := range all {
		r.Name, _ = clean.Plain(r.Name, maxName)
		if slices.Contains(redConclusions, r.Conclusion) && r.Name != ProofCheck {
			red = append(red, r)
		}
	}
	return red, err
}

// addWorkflowRun adds the workflow run. A check without a job cannot be run again.
func (c *Client) addWorkflowRun(
	ctx context.Context,
	check *trigger.Check,
	id int64,
	own string,
) (ours bool, err error) {
	job, err := request[struct {
		Run      int64  `json:"run_id"`
		Attempt  int    `json:"run_attempt"`
		Workflow string `json:"workflow_name"`
	}](ctx, c, operation{
		action: fmt.Sprintf("read job %d", id), permission: "actions: read",
		path: fmt.Sprintf("actions/jobs/%d", id),
	})
	if errors.Is(err, NotFound) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	if own != "" && job.Workflow == own {
		return false, nil
	}
	run, err := request[struct {
		From struct {
			Name string `json:"full_name"`
		} `json:"head_repository"`
	}](ctx, c, operation{
		action: fmt.Sprintf("read workflow run %d", job.Run), permission: "actions: read",
		path: fmt.Sprintf("actions/runs/%d", job.Run),
	})
	if err != nil {
		return false, err
	}
	check.Run = job.Run
	check.Attempt = job.Attempt
	return strings.EqualFold(run.From.Name, c.Owner+"/"+c.Repo), nil
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
		red = append(red, trigger.Check{Name: name, Conclusion: "failure", Summary: summary})
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

// Rerun has the failed jobs of a workflow run done again.
func (c *Client) Rerun(ctx context.Context, run int64) error {
	return send(ctx, c, operation{
		action:     fmt.Sprintf("re-run the failed jobs of workflow run %d", run),
		permission: actionsWrite, notRepeatable: true,
		method: http.MethodPost, path: fmt.Sprintf("actions/runs/%d/rerun-failed-jobs", run),
	})
}
