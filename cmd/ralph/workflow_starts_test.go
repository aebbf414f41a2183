package main_test

import (
	"compress/gzip"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/trigger"
	gh "github.com/ralph-loop/ralph/internal/hub/github"
	"github.com/ralph-loop/ralph/internal/testsupport/short"
)

// delivery is what GitHub sends, as a workflow sees it.
type delivery struct {
	event   string
	payload map[string]any
}

// delivered returns an example of GitHub's of what it sends, by the events.
func delivered(t *testing.T) map[string]delivery {
	t.Helper()
	file, err := os.Open(filepath.FromSlash("../../internal/hub/github/testdata/webhooks.json.gz"))
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
	all := map[string]delivery{}
	for _, kind := range kinds {
		all[kind.Name] = delivery{kind.Name, kind.Examples[0]}
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
		got.Inputs.Prompt, _ = inputs["prompt"].(string)
	}
	_, why := trigger.CommandOf(got, trigger.Rules{})
	return why
}

// relayed returns the dispatch by which the server of an App hands d on.
func (d delivery) relayed(t *testing.T, by string) delivery {
	t.Helper()
	text, err := json.Marshal(d.payload)
	if err != nil {
		t.Fatal(err)
	}
	read, err := gh.ReadTrigger(d.event, text)
	if err != nil {
		t.Fatal(err)
	}
	sent, err := gh.Relayed{ID: "1", Trigger: read}.Text()
	if err != nil {
		t.Fatal(err)
	}
	return delivery{"workflow_dispatch", map[string]any{
		"inputs": map[string]any{"id": "1", "issue": "7", "delivery": sent}, "sender": map[string]any{"login": by, "type": "Bot"},
	}}
}

// begun returns the jobs of the template that GitHub starts for d.
func (d delivery) begun(t *testing.T, w workflow) string {
	t.Helper()
	on, listens := w.On[d.event]
	action, _ := d.payload["action"].(string)
	if !listens || len(on.Types) > 0 && !slices.Contains(on.Types, action) {
		return ""
	}
	repo, _ := property(d.payload["repository"], "full_name").(string)
	g := guard{map[string]any{
		"github": map[string]any{"event": d.payload, "event_name": d.event, "repository": repo, "workflow": w.Name}, "inputs": d.payload["inputs"],
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
	return strings.Join(jobs, " ")
}

// person is somebody's doing, on what is open and lies in the repository itself.
var person = map[string]any{
	"sender.type": "User", "sender.login": "mia", "issue.state": "open", "comment.user.type": "User", "pull_request.state": "open",
	"repository.full_name": "acme/shop", "repository.name": "shop", "repository.owner.login": "acme",
	"pull_request.head.repo.full_name": "acme/shop", "pull_request.head.ref": "ralph/issue-7-cart",
}

// start is what GitHub sends, and the jobs that it starts, by the difference to an example of GitHub's.
type start struct {
	event string
	but   map[string]any
	jobs  string
}

type values = map[string]any

// What is meant starts one job, and what is not starts none; no job is started
// that would find out that it was not meant.
func TestOneJobACommand(t *testing.T) {
	changes := func(more values) values {
		all := values{"action": "submitted", "review.state": "changes_requested"}
		maps.Copy(all, more)
		return all
	}
	starts := map[string]start{
		"the label":              {"issues", values{"action": "labeled", "label.name": "ralph"}, "ralph"},
		"the label in capitals":  {"issues", values{"action": "labeled", "label.name": "Ralph"}, "ralph"},
		"another label":          {"issues", values{"action": "labeled", "label.name": "bug"}, ""},
		"the label taken off":    {"issues", values{"action": "unlabeled", "label.name": "ralph"}, ""},
		"a label of a bot":       {"issues", values{"action": "labeled", "label.name": "ralph", "sender.type": "Bot"}, ""},
		"a label, but closed":    {"issues", values{"action": "labeled", "label.name": "ralph", "issue.state": "closed"}, ""},
		"a review":               {"pull_request_review", changes(nil), "ralph"},
		"a review that approves": {"pull_request_review", changes(values{"review.state": "approved"}), ""},
		"a review that is gone":  {"pull_request_review", changes(values{"action": "dismissed"}), ""},
		"a review of another's":  {"pull_request_review", changes(values{"pull_request.head.ref": "mia/cart"}), ""},
		"a review of a fork's":   {"pull_request_review", changes(values{"pull_request.head.repo.full_name": "mia/shop"}), ""},
		"a prompt by hand":       {"workflow_dispatch", values{"inputs": values{"prompt": "Mend it", "issue": ""}}, "ralph"},
		"nothing by hand":        {"workflow_dispatch", values{"inputs": values{"prompt": "", "issue": ""}}, ""},
	}
	for body, jobs := range map[string]string{
		"/ralph": "ralph", "/ralph\r\nplease": "ralph", "/ralph\nplease": "ralph", "/Ralph plan": "ralph",
		"/ralph -- stop": "ralph", "/ralph stop": "control", "/ralph status": "control", "/ralph help": "control",
		"/ralph STOP\nnow": "control", "/ralphs": "", `/ralph\x`: "", "see /ralph": "", "": "", "please\n/ralph": "",
	} {
		for _, event := range []string{"issue_comment", "pull_request_review_comment"} {
			starts[event+" "+body] = start{event, values{"action": "created", "comment.body": body}, jobs}
			starts[event+" edited "+body] = start{event, values{"action": "edited", "comment.body": body}, ""}
			starts[event+" of a bot "+body] = start{event, values{"action": "created", "comment.body": body, "sender.type": "Bot"}, ""}
			closed := values{"action": "created", "comment.body": body, "issue.state": "closed", "pull_request.state": "closed"}
			starts[event+" closed "+body] = start{event, closed, strings.TrimSuffix(jobs, "ralph")} // what is at work there may well be ended
		}
		fork := values{"action": "created", "comment.body": body, "pull_request.head.repo.full_name": "mia/shop"}
		starts["from a fork "+body] = start{"pull_request_review_comment", fork, ""}
	}
	w, host, app, examples := template(t, "--no-host"), template(t, "--host"), template(t, "--no-host", "--app", "your-app"), delivered(t)
	for name, c := range starts {
		if !short.Has(name) {
			continue
		}
		example := examples[c.event]
		with := maps.Clone(person)
		maps.DeleteFunc(with, func(path string, _ any) bool { // what that event does not have at all
			head, _, _ := strings.Cut(path, ".")
			return example.payload[head] == nil
		})
		maps.Copy(with, c.but)
		d := example.but(t, with)
		jobs := d.begun(t, w)
		if jobs != c.jobs {
			t.Errorf("%s starts %q, want %q", name, jobs, c.jobs)
		}
		if why := d.wanted(t); jobs != "" && why != "" {
			t.Errorf("%s starts a job that finds out: %s", name, why)
		}
		if got := d.begun(t, host); got != jobs {
			t.Errorf("%s starts %q on the machine, want %q", name, got, jobs)
		}
		if jobs == "" || c.event == "workflow_dispatch" {
			continue
		}
		if got := d.relayed(t, "your-app[bot]").begun(t, app); got != jobs {
			t.Errorf("%s starts %q by the App, want %q", name, got, jobs)
		}
		if got := d.relayed(t, "another[bot]").begun(t, app); got != "" {
			t.Errorf("%s starts %q by another than the App", name, got)
		}
	}
}

// Red checks and heads of ralph's own branches start one job, and all else starts none.
func TestOneJobAfterThePullRequest(t *testing.T) {
	starts := map[string]start{
		"merged or closed":                {"pull_request", values{"action": "closed"}, "record"},
		"another's is closed":             {"pull_request", values{"action": "closed", "pull_request.head.ref": "mia/cart"}, ""},
		"ready":                           {"pull_request", values{"action": "ready_for_review"}, "ralph"},
		"a fork's is ready":               {"pull_request", values{"action": "ready_for_review", "pull_request.head.repo.full_name": "mia/shop"}, ""},
		"opened":                          {"pull_request", values{"action": "opened"}, ""},
		"a workflow is red":               {"workflow_run", nil, "ralph"},
		"a workflow is too slow":          {"workflow_run", values{"workflow_run.conclusion": "timed_out"}, "ralph"},
		"a workflow is cancelled":         {"workflow_run", values{"workflow_run.conclusion": "cancelled"}, ""},
		"a fork's workflow is red":        {"workflow_run", values{"workflow_run.head_repository.full_name": "mia/shop"}, ""},
		"a workflow of another is red":    {"workflow_run", values{"workflow_run.head_branch": "main"}, ""},
		"this workflow is red":            {"workflow_run", values{"workflow_run.name": "ralph after"}, ""},
		"ralph's workflow is red":         {"workflow_run", values{"workflow_run.name": "ralph"}, ""},
		"a workflow begins":               {"workflow_run", values{"action": "requested", "workflow_run.conclusion": nil}, ""},
		"checks are red":                  {"check_suite", nil, "ralph"},
		"checks are green":                {"check_suite", values{"check_suite.conclusion": "success"}, ""},
		"checks of another are red":       {"check_suite", values{"check_suite.head_branch": "main"}, ""},
		"checks of a fork are red":        {"check_suite", values{"check_suite.head_branch": nil}, ""},
		"the status ralph/proof is red":   {"status", values{"context": "ralph/proof"}, ""},
		"a status of another is red":      {"status", values{"branches": []any{values{"name": "main"}}}, ""},
		"a status of two branches is red": {"status", values{"branches": []any{values{"name": "feature"}, values{"name": "ralph/issue-7-cart"}}}, "ralph"},
		"a status of no branch is red":    {"status", values{"state": "error", "branches": []any{}}, ""},
		"a status is red":                 {"status", nil, "ralph"},
		"a status waits, or is all right": {"status", values{"state": "pending"}, ""},
	}
	ours := map[string]values{
		"pull_request": {
			"sender.login": "mia", "pull_request.user.login": "ralph[bot]", "pull_request.draft": false,
			"pull_request.head.repo.full_name": "acme/shop", "pull_request.head.ref": "ralph/issue-7-cart",
		},
		"workflow_run": {
			"action": "completed", "workflow_run.conclusion": "failure", "workflow_run.name": "CI",
			"workflow_run.head_branch": "ralph/issue-7-cart", "workflow_run.head_repository.full_name": "acme/shop",
		},
		"check_suite": {"action": "completed", "check_suite.conclusion": "failure", "check_suite.head_branch": "ralph/issue-7-cart"},
		"status":      {"state": "failure", "context": "ci/outside", "branches": []any{values{"name": "ralph/issue-7-cart"}}},
	}
	examples, app := delivered(t), template(t, "--no-host", "--app", "your-app")
	for _, flag := range []string{"--no-host", "--host"} {
		w := afterGiven(t, flag)
		for name, c := range starts {
			if !short.Has(name) {
				continue
			}
			with := maps.Clone(ours[c.event])
			with["repository.full_name"] = "acme/shop"
			maps.Copy(with, c.but)
			d := examples[c.event].but(t, with)
			if got := d.begun(t, w); got != c.jobs {
				t.Errorf("%s: %s starts %q, want %q", flag, name, got, c.jobs)
			}
			if c.jobs != "ralph" || c.event == "pull_request" {
				continue
			}
			if got := d.relayed(t, "your-app[bot]").begun(t, app); got != "ralph" {
				t.Errorf("%s starts %q by the App, want a job", name, got)
			}
		}
	}
}
