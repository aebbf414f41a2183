package main_test

import (
	"bytes"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rhysd/actionlint"

	"github.com/ralph-loop/ralph/internal/testsupport/short"
)

// GitHub takes every workflow that ralph init lays out, and every example.
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
	examples, err := filepath.Glob("../../examples/*.yml")
	if err != nil || len(examples) == 0 {
		t.Fatalf("%d examples: %v", len(examples), err)
	}
	for _, name := range examples {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		lint(name, text)
	}
}

// None of all that GitHub is known to send starts a job: nothing of it is meant.
func TestNothingStartsForNothing(t *testing.T) {
	examples := delivered(t)
	delete(examples, "workflow_dispatch") // which somebody has asked for
	if len(examples) < 50 {
		t.Fatalf("GitHub has examples of %d events, want more", len(examples))
	}
	for variant, flags := range variants {
		w := template(t, flags...)
		for event, all := range examples {
			for i, d := range all {
				if jobs := d.begun(t, w); len(jobs) > 0 {
					t.Errorf("%s: %s %d starts %v", variant, event, i, jobs)
				}
			}
		}
	}
}

// person is somebody's doing, on what is open and lies in the repository itself.
var person = map[string]any{
	"sender.type": "User", "sender.login": "mia", "issue.state": "open", "comment.user.type": "User", "pull_request.state": "open",
	"repository.full_name": "acme/shop", "repository.name": "shop", "repository.owner.login": "acme",
	"pull_request.head.repo.full_name": "acme/shop", "pull_request.head.ref": "ralph/issue-7-cart",
}

// What is meant starts one job, and what is not starts none; no job is started
// that would find out that it was not meant.
func TestOneJobACommand(t *testing.T) {
	type way struct {
		event string
		but   map[string]any
		jobs  string
	}
	ways := map[string]way{
		"the label":              {"issues", map[string]any{"action": "labeled", "label.name": "ralph"}, "ralph"},
		"the label in capitals":  {"issues", map[string]any{"action": "labeled", "label.name": "Ralph"}, "ralph"},
		"another label":          {"issues", map[string]any{"action": "labeled", "label.name": "bug"}, ""},
		"the label taken off":    {"issues", map[string]any{"action": "unlabeled", "label.name": "ralph"}, ""},
		"a label of a bot":       {"issues", map[string]any{"action": "labeled", "label.name": "ralph", "sender.type": "Bot"}, ""},
		"a label, but closed":    {"issues", map[string]any{"action": "labeled", "label.name": "ralph", "issue.state": "closed"}, ""},
		"a review":               {"pull_request_review", map[string]any{"action": "submitted", "review.state": "changes_requested"}, "ralph"},
		"a review that approves": {"pull_request_review", map[string]any{"action": "submitted", "review.state": "approved"}, ""},
		"a review that is gone":  {"pull_request_review", map[string]any{"action": "dismissed", "review.state": "changes_requested"}, ""},
		"a review of another's":  {"pull_request_review", map[string]any{"action": "submitted", "review.state": "changes_requested", "pull_request.head.ref": "mia/cart"}, ""},
		"a review of a fork's":   {"pull_request_review", map[string]any{"action": "submitted", "review.state": "changes_requested", "pull_request.head.repo.full_name": "mia/shop"}, ""},
		"a prompt by hand":       {"workflow_dispatch", map[string]any{"inputs": map[string]any{"prompt": "Mend it", "issue": ""}}, "ralph"},
		"nothing by hand":        {"workflow_dispatch", map[string]any{"inputs": map[string]any{"prompt": "", "issue": ""}}, ""},
	}
	for body, jobs := range map[string]string{
		"/ralph": "ralph", "/ralph\r\nplease": "ralph", "/ralph\nplease": "ralph", "/Ralph plan": "ralph", "/ralph retry US-001": "ralph", "/ralph update": "ralph",
		"/ralph --draft -- stop it": "ralph", "/ralph -- stop": "ralph", "/ralph dance": "ralph", "/ralph stop": "control", "/ralph status": "control",
		"/ralph help": "control", "/ralph STOP\nnow": "control", "/ralphs": "", `/ralph"x`: "", `/ralph\x`: "", "see /ralph": "", "ralph": "", "": "", "please\n/ralph": "",
	} {
		for _, event := range []string{"issue_comment", "pull_request_review_comment"} {
			ways[event+" "+body] = way{event, map[string]any{"action": "created", "comment.body": body}, jobs}
			if strings.Contains(body, "\n") || jobs == "" {
				continue
			}
			ways[event+" edited "+body] = way{event, map[string]any{"action": "edited", "comment.body": body}, ""}
			ways[event+" of a bot "+body] = way{event, map[string]any{"action": "created", "comment.body": body, "sender.type": "Bot"}, ""}
			closed := map[string]any{"action": "created", "comment.body": body, "issue.state": "closed", "pull_request.state": "closed"}
			ways[event+" closed "+body] = way{event, closed, strings.TrimSuffix(jobs, "ralph")} // what is at work there may well be ended
		}
		ways["from a fork "+body] = way{"pull_request_review_comment", map[string]any{"action": "created", "comment.body": body, "pull_request.head.repo.full_name": "mia/shop"}, ""}
	}
	w, host, app, examples := template(t, "--no-host"), template(t, "--host"), template(t, "--no-host", "--app", "your-app"), delivered(t)
	for name, c := range ways {
		if !short.Has(name) {
			continue
		}
		if len(examples[c.event]) == 0 {
			t.Fatalf("GitHub has no example of %s", c.event)
		}
		for _, example := range examples[c.event] {
			values := maps.Clone(person)
			maps.DeleteFunc(values, func(path string, _ any) bool { // what that event does not have at all
				head, _, _ := strings.Cut(path, ".")
				return example.payload[head] == nil
			})
			maps.Copy(values, c.but)
			d := example.but(t, values)
			jobs := d.begun(t, w)
			if got := strings.Join(jobs, " "); got != c.jobs {
				t.Errorf("%s starts %q, want %q", name, got, c.jobs)
			}
			if why := d.wanted(t); len(jobs) > 0 && why != "" {
				t.Errorf("%s starts a job that finds out: %s", name, why)
			}
			if got := d.begun(t, host); !slices.Equal(got, jobs) {
				t.Errorf("%s starts %q on the machine, want %q", name, got, jobs)
			}
			if len(jobs) == 0 || c.event == "workflow_dispatch" {
				continue
			}
			if got := d.relayed(t, "your-app[bot]").begun(t, app); !slices.Equal(got, jobs) {
				t.Errorf("%s starts %q by the App, want %q", name, got, jobs)
			}
			if got := d.relayed(t, "another[bot]").begun(t, app); len(got) > 0 {
				t.Errorf("%s starts %q by another than the App", name, got)
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
