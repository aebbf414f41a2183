package main_test

import (
	"bytes"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/rhysd/actionlint"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/templates"
)

// variants are the workflows that ralph init lays out, by its flags.
var variants = map[string][]string{
	"in a container": {"--no-host"}, "on the machine": {"--host"},
	"for an App": {"--no-host", "--app", "your-app"}, "for an App on the machine": {"--host", "--app", "your-app[bot]"},
}

// scaffolded returns the workflow that people start ralph by, as they are given it.
func scaffolded(t *testing.T, flags ...string) []byte {
	t.Helper()
	return scaffoldedFile(t, "ralph.yml", flags...)
}

func scaffoldedFile(t *testing.T, file string, flags ...string) []byte {
	t.Helper()
	return scaffoldedIn(t, map[string]string{"package.json": `{"scripts": {"test": "node --test"}}`, "package-lock.json": "{}"}, file, flags...)
}

func scaffoldedIn(t *testing.T, project map[string]string, file string, flags ...string) []byte {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, ".git"), 0o755); err != nil { // the top of a repository
		t.Fatal(err)
	}
	for name, text := range project {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if said, err := exec.CommandContext(t.Context(), "ralph", append([]string{"init", "--github", "-d", dir}, flags...)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	text, err := os.ReadFile(filepath.Join(dir, ".github", "workflows", file))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// workflow is what of a workflow has to be right, or it does harm.
type workflow struct {
	Name        string
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

func template(t *testing.T, flags ...string) workflow {
	t.Helper()
	return parsed(t, scaffolded(t, flags...))
}

func parsed(t *testing.T, text []byte) workflow {
	t.Helper()
	var w workflow
	if err := yaml.Unmarshal(text, &w); err != nil {
		t.Fatal(err)
	}
	return w
}

// afterGiven returns the workflow for the events after a pull request is open.
func afterGiven(t *testing.T, flags ...string) workflow {
	t.Helper()
	return parsed(t, scaffoldedFile(t, "ralph-after.yml", flags...))
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

// GitHub takes every workflow that ralph init lays out.
func TestWorkflowTemplatesAreSound(t *testing.T) {
	linter, err := actionlint.NewLinter(io.Discard, &actionlint.LinterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	lint := func(name string, text []byte) {
		problems, err := linter.Lint("ralph.yml", text, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, problem := range problems {
			t.Errorf("%s: %v", name, problem)
		}
	}
	for name, flags := range variants {
		lint(name, scaffolded(t, flags...))
		if !slices.Contains(flags, "--app") {
			lint(name, scaffoldedFile(t, "ralph-after.yml", flags...))
		}
	}
	for _, flags := range [][]string{{"--proof", "--host"}, {"--proof", "--no-host"}} {
		for _, name := range []string{"ralph-proof.yml", "ralph-proof-publish.yml"} {
			lint(name, scaffoldedFile(t, name, flags...))
		}
	}
}

// jobsMay are the permissions of each job.
var jobsMay = map[string]string{
	"ralph":        "actions:read checks:read contents:write issues:write pull-requests:write",
	"control":      "actions:write contents:read issues:write pull-requests:write",
	"after ralph":  "actions:read checks:read contents:write issues:write pull-requests:write statuses:read",
	"after record": "contents:write issues:write pull-requests:write",
}

// The jobs that people are given may do what they need and no more, and each has an end. Only
// those with an agent get a key of a model.
func TestWorkflowJobsMayDoLittle(t *testing.T) {
	for variant, flags := range variants {
		w := template(t, flags...)
		if w.Permissions == nil || len(w.Permissions) != 0 {
			t.Errorf("%s: permissions %v for all jobs", variant, w.Permissions)
		}
		for name, job := range jobsOf(t, flags...) {
			var may []string
			for what, how := range job.Permissions {
				may = append(may, what+":"+how)
			}
			slices.Sort(may)
			want := jobsMay[name]
			if name == "ralph" && slices.Contains(flags, "--app") { // the App relays red CI
				want += " statuses:read"
			}
			if strings.Join(may, " ") != want {
				t.Errorf("%s: %s may %v, want %s", variant, name, may, want)
			}
			if job.Timeout == 0 || job.Concurrency.Cancel || name == "control" && job.Concurrency.Group != "" {
				t.Errorf("%s: %s has no end, ends another or waits for what it is to end: %+v", variant, name, job)
			}
			for _, step := range job.Steps {
				_, key := step.With["anthropic-api-key"]
				if strings.HasPrefix(step.Uses, "ralph-loop/") && strings.HasSuffix(name, "ralph") != key {
					t.Errorf("%s: the job %s gets %v", variant, name, step.With)
				}
			}
		}
	}
}

// The workflow does one thing an issue at a time, and saves what ralph says that it has filled of
// the cache, under the key that ralph names.
func TestWorkflowTemplate(t *testing.T) {
	for variant, flags := range variants {
		job := template(t, flags...).Jobs["ralph"]
		group := "ralph-${{ github.event.issue.number || github.event.pull_request.number || inputs.issue || github.run_id }}"
		if slices.Contains(flags, "--app") {
			group = "ralph-${{ inputs.issue }}"
		}
		if job.Concurrency.Group != group {
			t.Errorf("%s: concurrency %+v", variant, job.Concurrency)
		}
		last := len(job.Steps) - 1
		if last < 3 || job.Steps[last].If != "always()" {
			t.Fatalf("%s: the job is %+v", variant, job)
		}
		restore, work, save := job.Steps[last-3], job.Steps[last-2], job.Steps[last-1]
		if dir := work.With["cache"]; dir == "" || restore.With["path"] != dir || save.With["path"] != dir {
			t.Errorf("%s: the cache is in %q, restored to %q and saved from %q", variant, dir, restore.With["path"], save.With["path"])
		}
		key := restore.With["restore-keys"] + "${{ steps.ralph.outputs.cache-key }}"
		if work.ID != "ralph" || save.If != "always() && steps.ralph.outputs.cache-key" || save.With["key"] != key {
			t.Errorf("%s: saved as %q if %q, of step %q", variant, save.With["key"], save.If, work.ID)
		}
	}
}

// Every input that the workflow gives is one that its Action has.
func TestWorkflowTemplateFitsTheAction(t *testing.T) {
	for variant, flags := range variants {
		uses, inputs := "ralph-loop/ralph@main", offeredBy(t, "../../action.yml").Inputs
		if slices.Contains(flags, "--host") {
			uses, inputs = "ralph-loop/ralph/host@main", offeredBy(t, "../../host/action.yml").Inputs
		}
		for name, job := range jobsOf(t, flags...) {
			for _, step := range job.Steps {
				if !strings.HasPrefix(step.Uses, "ralph-loop/") {
					continue
				}
				if step.Uses != uses {
					t.Errorf("%s: %s uses %s, want %s", variant, name, step.Uses, uses)
				}
				for input := range step.With {
					if _, ok := inputs[input]; !ok {
						t.Errorf("%s: %s has no input %q", variant, uses, input)
					}
				}
			}
		}
	}
}

// Nothing that is checked out leaves a credential behind, and what a person put
// into the workflow's inputs reaches no shell.
func TestWorkflowTemplateLeavesNothingOpen(t *testing.T) {
	for variant, flags := range variants {
		for name, job := range jobsOf(t, flags...) {
			for _, step := range job.Steps {
				if strings.HasPrefix(step.Uses, "actions/checkout@") && step.With["persist-credentials"] != "false" {
					t.Errorf("%s: %s leaves the token in the folder it checks out", variant, name)
				}
				if owner, at, _ := strings.Cut(step.Uses, "@"); !strings.HasPrefix(owner, "ralph-loop/") && len(at) != 40 {
					t.Errorf("%s: %s takes %s by a name that can be moved", variant, name, step.Uses)
				}
			}
		}
		if bytes.Contains(scaffolded(t, flags...), []byte("run:")) {
			t.Errorf("%s: a step of the template is a script: look at what reaches it", variant)
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
	form, err := templates.Files.ReadFile("workflows/issue.yml")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(readFile(t, "../../.github/ISSUE_TEMPLATE/ralph.yml"), string(form)); diff != "" {
		t.Errorf("templates/workflows/issue.yml (-own +template):\n%s", diff)
	}
}
