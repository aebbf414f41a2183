package main_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/rhysd/actionlint"

	gh "github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/trigger"
)

// Every template is a workflow that GitHub takes.
func TestWorkflowTemplatesAreSound(t *testing.T) {
	linter, err := actionlint.NewLinter(io.Discard, &actionlint.LinterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	problems, err := linter.Lint("ralph.yml", laidOut(t, "workflows/ralph.yml"), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range problems {
		t.Error(problem)
	}
}

// delivery is what GitHub sends, as a workflow sees it.
type delivery struct {
	event   string
	payload map[string]any
}

// delivered are all examples that GitHub has of what it sends, by their events.
func delivered(t *testing.T) map[string][]delivery {
	t.Helper()
	file, err := os.Open(filepath.FromSlash("../../internal/github/testdata/webhooks.json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []struct {
		Name     string
		Examples []map[string]any
	}
	if err := json.NewDecoder(unzipped).Decode(&kinds); err != nil {
		t.Fatal(err)
	}
	all := map[string][]delivery{}
	for _, kind := range kinds {
		for _, example := range kind.Examples {
			all[kind.Name] = append(all[kind.Name], delivery{kind.Name, example})
		}
	}
	return all
}

// but is d with other values, by their paths.
func (d delivery) but(t *testing.T, values map[string]any) delivery {
	t.Helper()
	text, err := json.Marshal(d.payload)
	if err != nil {
		t.Fatal(err)
	}
	other := delivery{event: d.event}
	if err := json.Unmarshal(text, &other.payload); err != nil {
		t.Fatal(err)
	}
	for path, value := range values {
		names := strings.Split(path, ".")
		at := other.payload
		for _, name := range names[:len(names)-1] {
			next, is := at[name].(map[string]any)
			if !is {
				next = map[string]any{}
				at[name] = next
			}
			at = next
		}
		at[names[len(names)-1]] = value
	}
	return other
}

// wanted is whether the Action itself would take it, and why not.
func (d delivery) wanted(t *testing.T) string {
	t.Helper()
	text, err := json.Marshal(d.payload)
	if err != nil {
		t.Fatal(err)
	}
	got, err := gh.ReadTrigger(d.event, text)
	if err != nil {
		t.Fatal(err)
	}
	if inputs, _ := d.payload["inputs"].(map[string]any); inputs != nil && d.event == "workflow_dispatch" {
		got.Given.Prompt, _ = inputs["prompt"].(string)
	}
	_, why := trigger.Want(got, trigger.Rules{Reviews: true})
	return why
}

// begun are the jobs of the template that GitHub starts for d.
func (d delivery) begun(t *testing.T, w workflow) []string {
	t.Helper()
	on, listens := w.On[d.event]
	action, _ := d.payload["action"].(string)
	if !listens || len(on.Types) > 0 && !slices.Contains(on.Types, action) {
		return nil
	}
	repo, _ := property(d.payload["repository"], "full_name").(string)
	g := guard{map[string]any{
		"github": map[string]any{"event": d.payload, "event_name": d.event, "repository": repo}, "inputs": d.payload["inputs"],
	}}
	var jobs []string
	for _, name := range slices.Sorted(maps.Keys(w.Jobs)) {
		starts, err := g.holds(w.Jobs[name].If)
		if err != nil {
			t.Fatalf("the guard of %s: %v", name, err)
		}
		if starts {
			jobs = append(jobs, name)
		}
	}
	return jobs
}

func template(t *testing.T) workflow {
	t.Helper()
	var w workflow
	if err := yaml.Unmarshal(laidOut(t, "workflows/ralph.yml"), &w); err != nil {
		t.Fatal(err)
	}
	return w
}

// None of all that GitHub is known to send starts a job: nothing of it is meant.
func TestNothingStartsForNothing(t *testing.T) {
	w := template(t)
	examples := delivered(t)
	delete(examples, "workflow_dispatch") // which somebody has asked for
	if len(examples) < 50 {
		t.Fatalf("GitHub has examples of %d events, want more", len(examples))
	}
	for event, all := range examples {
		for i, d := range all {
			if jobs := d.begun(t, w); len(jobs) > 0 {
				t.Errorf("%s %d starts %v", event, i, jobs)
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
		"/ralph": "ralph", "/ralph\r\nplease": "ralph", "/ralph\nplease": "ralph", "/Ralph plan": "ralph", "/ralph retry US-001": "ralph",
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
			ways[event+" closed "+body] = way{event, map[string]any{"action": "created", "comment.body": body, "issue.state": "closed", "pull_request.state": "closed"}, ""}
		}
		ways["from a fork "+body] = way{"pull_request_review_comment", map[string]any{"action": "created", "comment.body": body, "pull_request.head.repo.full_name": "mia/shop"}, ""}
	}
	w, examples := template(t), delivered(t)
	for name, c := range ways {
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
		}
	}
}

// Nothing that is checked out leaves a credential behind, and what a person put
// into the workflow's inputs reaches no shell.
func TestWorkflowTemplateLeavesNothingOpen(t *testing.T) {
	text := laidOut(t, "workflows/ralph.yml")
	for name, job := range template(t).Jobs {
		for _, step := range job.Steps {
			if strings.HasPrefix(step.Uses, "actions/checkout@") && step.With["persist-credentials"] != "false" {
				t.Errorf("%s leaves the token in the folder it checks out", name)
			}
			if owner, at, _ := strings.Cut(step.Uses, "@"); !strings.HasPrefix(owner, "ralph-loop/") && len(at) != 40 {
				t.Errorf("%s takes %s by a name that can be moved", name, step.Uses)
			}
		}
	}
	if bytes.Contains(text, []byte("run:")) {
		t.Error("a step of the template is a script: look at what reaches it")
	}
}
