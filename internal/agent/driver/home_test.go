package driver_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/agent/driver"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/lib/redact"
)

// A killed program leaves its agent's home. The next home removes it.
func TestHomesOfKilledProgramsAreRemoved(t *testing.T) {
	temp := t.TempDir()
	if err := os.MkdirAll(filepath.Join(temp, "ralph-for-agent-1", ".gemini"), 0o700); err != nil {
		t.Fatal(err)
	}
	adapter, err := agent.Pick("gemini", agent.Options{Command: "sh -c 'ls \"$TMPDIR\" >&2; exit 1' --"})
	if err != nil {
		t.Fatal(err)
	}
	adapter.Home = map[string]string{"settings": "{}"}
	hand := &driver.Agent{
		Redact: redact.Values().Writer, Adapter: adapter, Run: (&process.Runner{}).Run, Dir: t.TempDir(), Now: epoch,
		Env: []string{"PATH=/usr/bin:/bin", "TMPDIR=" + temp},
	}
	if _, err := hand.Do(t.Context(), agent.Order{Iteration: 1, Prompt: "go"}); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(temp)
	if err != nil || len(left) != 0 {
		t.Errorf("left %v, %v", left, err)
	}
}
