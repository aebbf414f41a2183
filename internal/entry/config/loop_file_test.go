package config_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/entry/config"
)

// An archive has the file of --config and the result: the loop with its settings, or the
// error.
func TestReadLoop(t *testing.T) {
	stories(t, "testdata/loop/*.txtar", func(t *testing.T, files []config.File) string {
		t.Helper()
		loop, err := config.ReadLoop(files[0])
		if err != nil {
			return complaint(t, err)
		}
		text, err := json.MarshalIndent(loop, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		return string(text) + "\n"
	})
}

func TestLoopKeepsItsSettings(t *testing.T) {
	loop, err := config.ReadLoop(config.File{
		Name: "s.json", Data: []byte(`{"maximumIterations": 7, "guardrails": [{"command": "make", "failAction": "APPEND"}]}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	got := loop.ApplyTo(policy.ForPreset(policy.ByTag))
	want := policy.ForPreset(policy.ByTag)
	want.Limits.Iterations = 7
	want.Checks = []policy.Check{{Name: "make", Command: "make", Timeout: 120e9, FailAction: policy.Append}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ApplyTo (-want +got):\n%s", diff)
	}
}

// The file of --config overrides the project's settings as settings.local.json does: lists
// are replaced, objects are merged.
func TestLoopIsLaidOverTheProject(t *testing.T) {
	project := []config.File{
		{Name: "settings.json", Data: []byte(`{"maximumIterations": 7, "guardrails": [{"command": "make", "failAction": "APPEND"}],
			"scm": {"command": "git", "tasks": ["commit"]}, "agent": {"command": "codex", "model": "m"}, "limits": {"maxCost": 1, "stallAfter": 9}}`)},
		{Name: "settings.local.json", Data: []byte(`{"protect": ["a"]}`)},
	}
	below := policy.ForPreset(policy.ByTag)
	below.Model, below.Protect = "m", []string{"a"}
	below.SCM = policy.SCM{Command: "git", Tasks: []string{"commit"}}
	below.Limits.CostUSD, below.Limits.Stall = 1, 9
	below.Checks = []policy.Check{{Name: "make", Command: "make", Timeout: 120e9, FailAction: policy.Append}}
	for name, test := range map[string]struct {
		file    config.File
		change  func(*policy.Policy)
		command string
	}{
		"settings": {
			config.File{Name: "s.yaml", Data: []byte("guardrails: [{command: make, failAction: REPLACE}]\nscm: {tasks: [push]}\nagent: {command: claude}\n")},
			func(p *policy.Policy) { p.Checks[0].FailAction, p.SCM.Tasks = policy.Replace, []string{"push"} }, "claude",
		},
		"a loop": {
			config.File{Name: "l.yaml", Data: []byte("ralph_loop: {max_iterations: 5, max_cost: 3}\n")},
			func(p *policy.Policy) { p.Limits.Iterations, p.Limits.CostUSD = 5, 3 }, "codex",
		},
	} {
		loop, err := config.ReadLoop(test.file, project...)
		if err != nil {
			t.Fatal(err)
		}
		want := below
		want.Checks = slices.Clone(below.Checks)
		test.change(&want)
		if diff := cmp.Diff(want, loop.ApplyTo(policy.ForPreset(policy.ByTag))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if loop.Settings.Agent.Command != test.command {
			t.Errorf("%s: agent %q, want %q", name, loop.Settings.Agent.Command, test.command)
		}
	}
}

func TestLoopTakesNullForNoLimit(t *testing.T) {
	loop, err := config.ReadLoop(config.File{
		Name: "ralph.yaml", Data: []byte("ralph_loop:\n  max_cost: null\n  completion_tag: FIN\n  agent: command\n"),
	})
	if err != nil {
		t.Fatal(err)
	}
	want := policy.ForPreset(policy.ByTag)
	want.Limits.CostUSD, want.Word, want.Agent = 0, "FIN", "command"
	if diff := cmp.Diff(want, loop.ApplyTo(policy.ForPreset(policy.ByTag))); diff != "" {
		t.Errorf("ApplyTo (-want +got):\n%s", diff)
	}
}

func FuzzReadLoop(f *testing.F) {
	f.Add("ralph.yaml", []byte("ralph_loop:\n  max_iterations: 25 # 1-100\n  max_cost: null\n  agent: build\n"))
	f.Add("ralph.yml", []byte("ralph_loop: &a {max_time: 1h, <<: *a}\n---\n- |\n  x\n"))
	f.Add("config", []byte(`{"maximumIterations": 5}`))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		loop, err := config.ReadLoop(config.File{Name: name, Data: data})
		if err == nil && loop.MaxIterations != nil && *loop.MaxIterations < 0 {
			t.Errorf("ReadLoop = %d iterations, want 0 or more", *loop.MaxIterations)
		}
	})
}
