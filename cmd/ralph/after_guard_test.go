package main_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/testsupport/short"
)

// afterGiven returns the workflow for the events after a pull request is open.
func afterGiven(t *testing.T, flags ...string) workflow {
	t.Helper()
	return parsed(t, scaffoldedFile(t, "ralph-after.yml", flags...))
}

// Red checks and heads of ralph's own branches start one job, and all else starts none.
func TestOneJobAfterThePullRequest(t *testing.T) {
	type values = map[string]any
	type way struct {
		event string
		but   values
		jobs  string
	}
	ways := map[string]way{
		"merged or closed":                {"pull_request", values{"action": "closed"}, "record"},
		"another's is closed":             {"pull_request", values{"action": "closed", "pull_request.head.ref": "mia/cart"}, ""},
		"ready":                           {"pull_request", values{"action": "ready_for_review"}, "ralph"},
		"a fork's is ready":               {"pull_request", values{"action": "ready_for_review", "pull_request.head.repo.full_name": "mia/shop"}, ""},
		"opened":                          {"pull_request", values{"action": "opened"}, ""},
		"a fork's workflow is red":        {"workflow_run", values{"workflow_run.conclusion": "failure", "workflow_run.head_repository.full_name": "mia/shop"}, ""},
		"a workflow of another is red":    {"workflow_run", values{"workflow_run.conclusion": "failure", "workflow_run.head_branch": "main"}, ""},
		"this workflow is red":            {"workflow_run", values{"workflow_run.conclusion": "failure", "workflow_run.name": "ralph after"}, ""},
		"ralph's workflow is red":         {"workflow_run", values{"workflow_run.conclusion": "failure", "workflow_run.name": "ralph"}, ""},
		"a workflow begins":               {"workflow_run", values{"action": "requested", "workflow_run.conclusion": nil}, ""},
		"checks of another are red":       {"check_suite", values{"check_suite.conclusion": "failure", "check_suite.head_branch": "main"}, ""},
		"checks of a fork are red":        {"check_suite", values{"check_suite.conclusion": "failure", "check_suite.head_branch": nil}, ""},
		"the status ralph/proof is red":   {"status", values{"state": "failure", "context": "ralph/proof"}, ""},
		"a status of another is red":      {"status", values{"state": "failure", "branches": []any{values{"name": "main"}}}, ""},
		"a status of two branches is red": {"status", values{"state": "failure", "branches": []any{values{"name": "feature"}, values{"name": "ralph/issue-7-cart"}}}, "ralph"},
		"a status of no branch is red":    {"status", values{"state": "error", "branches": []any{}}, ""},
		"a status is red":                 {"status", values{"state": "failure"}, "ralph"},
		"a status tells of an error":      {"status", values{"state": "error"}, "ralph"},
		"a status waits, or is all right": {"status", values{"state": "pending"}, ""},
	}
	for _, conclusion := range []string{"failure", "timed_out"} {
		ways["a workflow: "+conclusion] = way{"workflow_run", values{"workflow_run.conclusion": conclusion}, "ralph"}
		ways["checks: "+conclusion] = way{"check_suite", values{"check_suite.conclusion": conclusion}, "ralph"}
	}
	for _, conclusion := range []string{"success", "skipped", "neutral", "cancelled", "action_required", "startup_failure", "stale"} {
		ways["a workflow: "+conclusion] = way{"workflow_run", values{"workflow_run.conclusion": conclusion}, ""}
		ways["checks: "+conclusion] = way{"check_suite", values{"check_suite.conclusion": conclusion}, ""}
	}
	ours := map[string]values{
		"pull_request": {
			"sender.login": "mia", "pull_request.user.login": "ralph[bot]", "pull_request.draft": false,
			"pull_request.head.repo.full_name": "acme/shop", "pull_request.head.ref": "ralph/issue-7-cart",
		},
		"workflow_run": {"action": "completed", "workflow_run.name": "CI", "workflow_run.head_branch": "ralph/issue-7-cart", "workflow_run.head_repository.full_name": "acme/shop"},
		"check_suite":  {"action": "completed", "check_suite.head_branch": "ralph/issue-7-cart"},
		"status":       {"context": "ci/outside", "branches": []any{values{"name": "ralph/issue-7-cart"}}},
	}
	all, app := delivered(t), template(t, "--no-host", "--app", "your-app")
	for _, flags := range [][]string{{"--no-host"}, {"--host"}} {
		w := afterGiven(t, flags...)
		for name, c := range ways {
			if !short.Has(name) {
				continue
			}
			with := maps.Clone(ours[c.event])
			with["repository.full_name"] = "acme/shop"
			maps.Copy(with, c.but)
			for _, example := range all[c.event] {
				d := example.but(t, with)
				if got := strings.Join(d.begun(t, w), " "); got != c.jobs {
					t.Errorf("%v: %s starts %q, want %q", flags, name, got, c.jobs)
				}
				if c.jobs != "ralph" || c.event == "pull_request" {
					continue
				}
				if got := strings.Join(d.relayed(t, "your-app[bot]").begun(t, app), " "); got != "ralph" {
					t.Errorf("%s starts %q by the App, want a job", name, got)
				}
			}
		}
		for event, examples := range all { // as GitHub sends them: none is of a branch of ralph's
			for i, d := range examples {
				if jobs := d.begun(t, w); len(jobs) > 0 {
					t.Errorf("%v: %s %d starts %v", flags, event, i, jobs)
				}
			}
		}
	}
}

// A job after the pull request may do what it needs, and no more. The one without
// an agent gets no key of a model.
func TestAfterWorkflowMayDoLittle(t *testing.T) {
	for _, flags := range [][]string{{"--no-host"}, {"--host"}} {
		w := afterGiven(t, flags...)
		if len(w.Jobs) != 2 || w.Permissions == nil || len(w.Permissions) != 0 {
			t.Errorf("%v: %d jobs with permissions %v for all", flags, len(w.Jobs), w.Permissions)
		}
		for name, want := range map[string]string{
			"ralph":  "actions:read checks:read contents:write issues:write pull-requests:write statuses:read",
			"record": "contents:write issues:write pull-requests:write",
		} {
			var may []string
			for what, how := range w.Jobs[name].Permissions {
				may = append(may, what+":"+how)
			}
			if slices.Sort(may); strings.Join(may, " ") != want {
				t.Errorf("%v: %s may %v, want %s", flags, name, may, want)
			}
			if w.Jobs[name].Timeout == 0 || w.Jobs[name].Concurrency.Cancel {
				t.Errorf("%v: %s has no end, or ends another: %+v", flags, name, w.Jobs[name].Concurrency)
			}
			for _, step := range w.Jobs[name].Steps {
				_, key := step.With["anthropic-api-key"]
				_, checks := step.With["checks"]
				if ours := strings.HasPrefix(step.Uses, "ralph-loop/"); ours && (name == "ralph") != (key && checks) {
					t.Errorf("%v: the job %s gets %v", flags, name, step.With)
				}
			}
		}
	}
}
