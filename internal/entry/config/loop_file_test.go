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
