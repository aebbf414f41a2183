package main_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/templates"
)

func laidOut(t *testing.T, name string) []byte {
	t.Helper()
	text, err := templates.Files.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// workflow is what of a workflow has to be right, or it does harm.
type workflow struct {
	Name        string
	RunName     string `yaml:"run-name"`
	On          map[string]struct{ Types []string }
	Permissions map[string]string
	Jobs        map[string]workflowJob
}

type workflowJob struct {
	If          string
	Concurrency struct {
		Group  string
		Cancel bool `yaml:"cancel-in-progress"`
	}
	Permissions map[string]string
	Timeout     int `yaml:"timeout-minutes"`
	Steps       []struct {
		ID   string
		If   string
		Uses string
		With map[string]string
	}
}

// jobsOf returns the jobs of all workflows that people are given.
func jobsOf(t *testing.T, flags ...string) map[string]workflowJob {
	t.Helper()
	jobs := maps.Clone(template(t, flags...).Jobs)
	if !slices.Contains(flags, "--app") {
		for name, job := range afterGiven(t, flags...).Jobs {
			jobs["after "+name] = job
		}
	}
	return jobs
}

// The workflow that people are given may do little, and does one thing an issue
// at a time.
func TestWorkflowTemplate(t *testing.T) {
	for variant, flags := range variants {
		w := template(t, flags...)
		job, control := w.Jobs["ralph"], w.Jobs["control"]
		if len(w.Jobs) != 2 || w.Permissions == nil || len(w.Permissions) != 0 {
			t.Errorf("%s: %d jobs with permissions %v for all", variant, len(w.Jobs), w.Permissions)
		}
		may := map[string]string{"actions": "read", "contents": "write", "issues": "write", "pull-requests": "write", "checks": "read"}
		if w.RunName != "" { // of an App, which relays red CI
			may["statuses"] = "read"
		}
		if diff := cmp.Diff(may, job.Permissions); diff != "" {
			t.Errorf("%s: permissions (-want +got):\n%s", variant, diff)
		}
		if diff := cmp.Diff(map[string]string{"actions": "write", "contents": "read", "issues": "write", "pull-requests": "write"}, control.Permissions); diff != "" {
			t.Errorf("%s: permissions of the control job (-want +got):\n%s", variant, diff)
		}
		if control.Concurrency.Group != "" || control.Timeout == 0 {
			t.Errorf("%s: the control job would wait for what it is to end: %+v", variant, control.Concurrency)
		}
		group := "ralph-${{ github.event.issue.number || github.event.pull_request.number || inputs.issue || github.run_id }}"
		if w.RunName != "" { // of an App
			group = "ralph-${{ inputs.issue }}"
		}
		if job.Concurrency.Group != group || job.Concurrency.Cancel {
			t.Errorf("%s: concurrency %+v", variant, job.Concurrency)
		}
		last := len(job.Steps) - 1
		if job.Timeout == 0 || last < 3 || job.Steps[last].If != "always()" {
			t.Fatalf("%s: the job is %+v", variant, job)
		}
		restore, work, save := job.Steps[last-3], job.Steps[last-2], job.Steps[last-1]
		if work.With["checks"] == "" || !strings.HasPrefix(restore.Uses, "actions/cache/restore@") || !strings.HasPrefix(save.Uses, "actions/cache/save@") {
			t.Errorf("%s: the steps are %+v", variant, job.Steps)
		}
		if dir := work.With["cache"]; dir == "" || restore.With["path"] != dir || save.With["path"] != dir {
			t.Errorf("%s: the cache is in %q, restored to %q and saved from %q", variant, dir, restore.With["path"], save.With["path"])
		}
		// Only what ralph says it has filled is saved, under the key that it names.
		if prefix := restore.With["restore-keys"]; work.ID != "ralph" || save.If != "always() && steps.ralph.outputs.cache-key" || save.With["key"] != prefix+"${{ steps.ralph.outputs.cache-key }}" {
			t.Errorf("%s: saved as %q if %q, of step %q", variant, save.With["key"], save.If, work.ID)
		}
	}
}

// Every input that the workflow gives is one that its Action has.
func TestWorkflowTemplateFitsTheAction(t *testing.T) {
	actions := map[string]map[string]any{}
	for uses, file := range map[string]string{"ralph-loop/ralph@main": "../../action.yml", "ralph-loop/ralph/host@main": "../../host/action.yml"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var action struct{ Inputs map[string]any }
		if err := yaml.Unmarshal(text, &action); err != nil {
			t.Fatal(err)
		}
		actions[uses] = action.Inputs
	}
	for variant, flags := range variants {
		ours := map[string]bool{}
		for _, job := range jobsOf(t, flags...) {
			for _, step := range job.Steps {
				if !strings.HasPrefix(step.Uses, "ralph-loop/") {
					continue
				}
				ours[step.Uses] = true
				for name := range step.With {
					if _, known := actions[step.Uses][name]; !known {
						t.Errorf("%s: %s has no input %q", variant, step.Uses, name)
					}
				}
			}
		}
		if host := slices.Contains(flags, "--host"); len(ours) != 1 || ours["ralph-loop/ralph/host@main"] != host {
			t.Errorf("%s uses %v", variant, ours)
		}
	}
}

// On the machine itself the agent is the one that ralph is tested with.
func TestHostWorkflowHasTheAgentOfTheTests(t *testing.T) {
	claude, err := agent.Pick("claude", agent.Options{})
	if err != nil {
		t.Fatal(err)
	}
	steps := template(t, "--host").Jobs["ralph"].Steps
	if got := steps[len(steps)-3].With["agent-version"]; got != claude.Tested {
		t.Errorf("agent-version is %q, want %q", got, claude.Tested)
	}
}

// The issue form that people are given is the one this project uses.
func TestIssueFormTemplate(t *testing.T) {
	own, err := os.ReadFile("../../.github/ISSUE_TEMPLATE/ralph.yml")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(own), string(laidOut(t, "workflows/issue.yml"))); diff != "" {
		t.Errorf("templates/workflows/issue.yml (-own +template):\n%s", diff)
	}
	var form struct {
		Name, Description string
		Body              []struct{ Type, ID string }
	}
	if err := yaml.Unmarshal(own, &form); err != nil {
		t.Fatal(err)
	}
	fields := []string{}
	for _, field := range form.Body {
		fields = append(fields, field.ID)
	}
	if form.Name == "" || !slices.Equal(fields, []string{"change", "criteria", "context"}) {
		t.Errorf("the form %q asks for %v", form.Name, fields)
	}
}
