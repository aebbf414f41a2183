package agent_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent/agent"
)

// What a program would run of a repository unasked is found, in the tree and
// above it.
func TestTrusts(t *testing.T) {
	opencode, err := agent.Pick("opencode", agent.Options{})
	if err != nil {
		t.Fatal(err)
	}
	claude, err := agent.Pick("claude", agent.Options{})
	if err != nil {
		t.Fatal(err)
	}
	top := t.TempDir()
	inner := filepath.Join(top, "a", "b")
	if err := os.MkdirAll(inner, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := opencode.CheckAutoRuns(inner); err != nil {
		t.Errorf("nothing is there: %v", err)
	}
	if err := os.MkdirAll(filepath.Join(top, ".opencode", "plugin"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{top, inner} {
		if err := opencode.CheckAutoRuns(dir); err == nil || !strings.Contains(err.Error(), ".opencode/plugin") {
			t.Errorf("%s: %v", dir, err)
		}
	}
	if err := claude.CheckAutoRuns(inner); err != nil {
		t.Errorf("claude: %v", err)
	}
}
