package main_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

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
	On          map[string]struct{ Types []string }
	Permissions map[string]string
	Jobs        map[string]struct {
		If          string
		Concurrency struct {
			Group  string
			Cancel bool `yaml:"cancel-in-progress"`
		}
		Permissions map[string]string
		Timeout     int `yaml:"timeout-minutes"`
		Steps       []struct {
			If   string
			Uses string
			With map[string]string
		}
	}
}

// The workflow that people are given may do little, and does one thing an issue
// at a time.
func TestWorkflowTemplate(t *testing.T) {
	w := template(t)
	job, control := w.Jobs["ralph"], w.Jobs["control"]
	if len(w.Jobs) != 2 || w.Permissions == nil || len(w.Permissions) != 0 {
		t.Errorf("%d jobs with permissions %v for all", len(w.Jobs), w.Permissions)
	}
	if diff := cmp.Diff(map[string]string{"actions": "read", "contents": "write", "issues": "write", "pull-requests": "write", "checks": "read"}, job.Permissions); diff != "" {
		t.Errorf("permissions (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"actions": "write", "contents": "read", "issues": "write", "pull-requests": "write"}, control.Permissions); diff != "" {
		t.Errorf("permissions of the control job (-want +got):\n%s", diff)
	}
	if control.Concurrency.Group != "" || control.Timeout == 0 {
		t.Errorf("the control job would wait for what it is to end: %+v", control.Concurrency)
	}
	const group = "ralph-${{ github.event.issue.number || github.event.pull_request.number || inputs.issue || github.run_id }}"
	if job.Concurrency.Group != group || job.Concurrency.Cancel {
		t.Errorf("concurrency %+v", job.Concurrency)
	}
	if job.Timeout == 0 || len(job.Steps) != 2 || job.Steps[0].With["checks"] == "" || job.Steps[1].If != "always()" {
		t.Errorf("the job is %+v", job)
	}
}

// Every input that the workflow gives is one that the Action has.
func TestWorkflowTemplateFitsTheAction(t *testing.T) {
	text, err := os.ReadFile("../../action.yml")
	if err != nil {
		t.Fatal(err)
	}
	var action struct{ Inputs map[string]any }
	if err := yaml.Unmarshal(text, &action); err != nil {
		t.Fatal(err)
	}
	for _, step := range template(t).Jobs["ralph"].Steps {
		if !strings.HasPrefix(step.Uses, "ralph-loop/") {
			continue
		}
		for name := range step.With {
			if _, known := action.Inputs[name]; !known {
				t.Errorf("the Action has no input %q", name)
			}
		}
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
