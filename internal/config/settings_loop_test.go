package config_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/policy"
)

// An archive holds the file that --config names and what comes of it: the loop
// with the settings that were set, or all that is wrong.
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
	got := loop.Over(policy.Of(policy.Checked))
	want := policy.Of(policy.Checked)
	want.Limits.Iterations = 7
	want.Checks = []policy.Check{{Name: "make", Command: "make", Timeout: 120e9, FailAction: policy.Append}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Over (-want +got):\n%s", diff)
	}
}

func TestLoopOverTakesNullForNoLimit(t *testing.T) {
	loop, err := config.ReadLoop(config.File{
		Name: "ralph.yaml", Data: []byte("ralph_loop:\n  max_cost: null\n  completion_tag: FIN\n  agent: command\n"),
	})
	if err != nil {
		t.Fatal(err)
	}
	want := policy.Of(policy.Checked)
	want.Limits.CostUSD, want.Word, want.Agent = 0, "FIN", "command"
	if diff := cmp.Diff(want, loop.Over(policy.Of(policy.Checked))); diff != "" {
		t.Errorf("Over (-want +got):\n%s", diff)
	}
}

func FuzzReadLoop(f *testing.F) {
	f.Add("ralph.yaml", []byte("ralph_loop:\n  max_iterations: 25 # 1-100\n  max_cost: null\n  agent: build\n"))
	f.Add("ralph.yml", []byte("ralph_loop: &a {max_time: 1h, <<: *a}\n---\n- |\n  x\n"))
	f.Add("config", []byte(`{"maximumIterations": 5}`))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		loop, err := config.ReadLoop(config.File{Name: name, Data: data})
		if err == nil && loop.MaxIterations != nil && (*loop.MaxIterations < 1 || *loop.MaxIterations > 100) {
			t.Errorf("ReadLoop = %d iterations, want 1 to 100", *loop.MaxIterations)
		}
	})
}
