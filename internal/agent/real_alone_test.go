package agent_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/environ"
	"github.com/ralph-loop/ralph/internal/testsupport/modeltest"
)

// Codex starts no thread that ralph does not count, and asks for no dearer tier, even if its user's settings ask for that.
func TestRealCodexIsAlone(t *testing.T) {
	if os.Getenv("AGENTS") == "" {
		return
	}
	outside := modeltest.Call{Tool: "exec_command", Input: map[string]any{
		"cmd": "echo hi > hello.txt", "sandbox_permissions": "require_escalated", "justification": "to write",
	}}
	for name, test := range map[string]struct {
		cli      string
		reads    bool
		settings string
		answers  []modeltest.Answer
	}{
		"its newest models": {"codex", false, "", []modeltest.Answer{done}},
		"other models":      {"codex-plain", false, "", []modeltest.Answer{done}},
		"by settings": {
			"codex", false, "service_tier = 'fast'\n[agents]\nenabled = true\n[features]\nmulti_agent_v2 = true\nmemories = true\n",
			[]modeltest.Answer{done},
		},
		"as a reviewer of its own commands": {
			"codex-plain", true, "approval_policy = 'on-request'\napprovals_reviewer = 'auto_review'\n",
			[]modeltest.Answer{{Words: "I write it.", Calls: []modeltest.Call{outside}}, done},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := clis[test.cli]
			c.T, c.reads = t, test.reads
			b := c.bench(test.answers...)
			file := filepath.Join(environ.Get(b.Env, "HOME"), ".codex", "config.toml")
			if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(test.settings), 0o600)); err != nil {
				t.Fatal(err)
			}
			if got, err := b.Do(t.Context(), b.order); err != nil || got.Failed {
				t.Errorf("Do = %+v, %v", got, err)
			}
			if asked := len(b.server.Requests()); asked != len(test.answers) {
				t.Errorf("it asked %d times, want %d", asked, len(test.answers))
			}
			for _, r := range b.server.Requests() {
				for _, word := range []string{"spawn_agent", "multi_agent_v1", `"service_tier":"priority"`} {
					if strings.Contains(r.Body, word) {
						t.Errorf("it has %s: %s", word, r.Body)
					}
				}
			}
			if _, err := os.Stat(filepath.Join(b.Dir, "hello.txt")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("it wrote: %v", err)
			}
		})
	}
}
