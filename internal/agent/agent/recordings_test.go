package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/testsupport/agenttest"
	"github.com/ralph-loop/ralph/internal/testsupport/golden"
)

// endings are how the agents ended when they printed the recordings.
var endings = map[string]process.Result{
	"claude/budget":        {Exit: 1},
	"claude/credit":        {Exit: 1},
	"claude/err401-retry1": {Exit: 1},
	"claude/err429-default": {
		Exit: 1, Took: 182 * time.Second,
	},
	"claude/maxturns": {Exit: 1},
	"claude/sigint":   {Exit: 0},
	"claude/sigkill":  {Exit: 137, Signal: "SIGKILL", Swept: 2},
	"claude/sigterm":  {Exit: 143},

	"codex/err401-retry1": {Exit: 1},
	"codex/err429-retry1": {Exit: 1},
	"codex/err500-default": {
		Exit: 1, Took: 8 * time.Second,
	},
	"codex/sigint": {Exit: 1},
}

// models are those that the orders named; Codex does not say which it asked.
var models = map[string]string{"codex": "gpt-5-codex", "opencode": "mock/mock-model"}

func TestRecordings(t *testing.T) {
	paths, err := filepath.Glob("testdata/*/*.ndjson")
	if err != nil || len(paths) == 0 {
		t.Fatal("no recordings", err)
	}
	for _, path := range paths {
		cli := filepath.Base(filepath.Dir(path))
		name := cli + "/" + strings.TrimSuffix(filepath.Base(path), ".ndjson")
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			s := agenttest.New(t, cli, agent.Options{Command: agenttest.Self(t, "env")})
			s.Run = func(_ context.Context, c process.Command) (process.Result, error) {
				_, err := bytes.NewReader(data).WriteTo(c.Stdout)
				return endings[name], err
			}
			ended, err := s.Do(t.Context(), agent.Order{Iteration: 1, Max: 10, Prompt: "work", Model: models[cli]})
			if err != nil {
				t.Fatal(err)
			}
			sum, err := json.MarshalIndent(ended, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden.Compare(t, *update, strings.TrimSuffix(path, ".ndjson")+".want", s.Script()+string(sum)+"\n")
			if !bytes.Equal(s.Kept["transcript_1.ndjson"].Bytes(), data) {
				t.Error("the transcript differs from what was printed")
			}
		})
	}
}
