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

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/process"
)

// endings are how Claude Code ended when it printed the recordings.
var endings = map[string]process.Result{
	"budget":        {Exit: 1},
	"credit":        {Exit: 1},
	"err401-retry1": {Exit: 1},
	"err429-default": {
		Exit: 1, Took: 182 * time.Second,
	},
	"maxturns": {Exit: 1},
	"sigint":   {Exit: 0},
	"sigkill":  {Exit: 137, Signal: "SIGKILL", Swept: 2},
	"sigterm":  {Exit: 143},
}

func TestRecordings(t *testing.T) {
	paths, err := filepath.Glob("testdata/claude/*.ndjson")
	if err != nil || len(paths) == 0 {
		t.Fatal("no recordings", err)
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".ndjson")
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			s := newStand(t, "claude", agent.Options{Command: self(t, "env")})
			s.Run = func(_ context.Context, c process.Command) (process.Result, error) {
				_, err := bytes.NewReader(data).WriteTo(c.Stdout)
				return endings[name], err
			}
			ended, err := s.Do(t.Context(), agent.Order{Iteration: 1, Max: 10, Prompt: "work"})
			if err != nil {
				t.Fatal(err)
			}
			sum, err := json.MarshalIndent(ended, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden(t, strings.TrimSuffix(path, ".ndjson")+".want", script(s.items)+string(sum)+"\n")
			if !bytes.Equal(s.kept["transcript_1.ndjson"].Bytes(), data) {
				t.Error("the transcript differs from what was printed")
			}
		})
	}
}
