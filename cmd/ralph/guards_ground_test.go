package main_test

import (
	"compress/gzip"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/ralph-loop/ralph/internal/core/trigger"
	gh "github.com/ralph-loop/ralph/internal/hub/github"
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

// delivery is what GitHub sends, as a workflow sees it.
type delivery struct {
	event   string
	payload map[string]any
}

// delivered returns all examples that GitHub has of what it sends, by their events.
func delivered(t *testing.T) map[string][]delivery {
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
func (d delivery) begun(t *testing.T, w workflow) []string {
	t.Helper()
	on, listens := w.On[d.event]
	action, _ := d.payload["action"].(string)
	if !listens || len(on.Types) > 0 && !slices.Contains(on.Types, action) {
		return nil
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
	return jobs
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
