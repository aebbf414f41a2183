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
			Uses string
			With map[string]string
		}
	}
}

// The workflow that people are given starts for little, may do little, and
// does one thing an issue at a time.
func TestWorkflowTemplate(t *testing.T) {
	var w workflow
	if err := yaml.Unmarshal(laidOut(t, "workflows/ralph.yml"), &w); err != nil {
		t.Fatal(err)
	}
	job, control := w.Jobs["ralph"], w.Jobs["control"]
	if len(w.Jobs) != 2 || len(w.On) != 3 || w.Permissions == nil || len(w.Permissions) != 0 {
		t.Errorf("%d jobs on %v with permissions %v for all", len(w.Jobs), w.On, w.Permissions)
	}
	if diff := cmp.Diff(map[string]string{"actions": "read", "contents": "write", "issues": "write", "pull-requests": "write", "checks": "read"}, job.Permissions); diff != "" {
		t.Errorf("permissions (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"actions": "write", "contents": "read", "issues": "write", "pull-requests": "write"}, control.Permissions); diff != "" {
		t.Errorf("permissions of the control job (-want +got):\n%s", diff)
	}
	for _, verb := range []string{"'/ralph stop'", "'/ralph status'"} {
		if !strings.Contains(control.If, verb) || !strings.Contains(job.If, "!(") || !strings.Contains(job.If, verb) {
			t.Errorf("%s starts not the one job alone:\n%s\n%s", verb, job.If, control.If)
		}
	}
	if control.Concurrency.Group != "" || control.Timeout == 0 {
		t.Errorf("the control job would wait for what it is to end: %+v", control.Concurrency)
	}
	if job.Concurrency.Group != "ralph-${{ github.event.issue.number || github.event.pull_request.number }}" || job.Concurrency.Cancel {
		t.Errorf("concurrency %+v", job.Concurrency)
	}
	for _, guard := range []string{
		"sender.type == 'User'", "label.name == 'ralph'", "comment.body == '/ralph'", "startsWith(github.event.comment.body, '/ralph ')",
		"pull_request.head.repo.full_name == github.repository",
	} {
		if !strings.Contains(job.If, guard) {
			t.Errorf("no %s in the guard: %s", guard, job.If)
		}
	}
	if job.Timeout == 0 || len(job.Steps) != 1 || job.Steps[0].With["checks"] == "" {
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
	var w workflow
	if err := yaml.Unmarshal(text, &action); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(laidOut(t, "workflows/ralph.yml"), &w); err != nil {
		t.Fatal(err)
	}
	for _, step := range w.Jobs["ralph"].Steps {
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
