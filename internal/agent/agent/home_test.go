package agent_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/agent/agent"
)

// In a new home an agent has its login from where its user has it, and settings only if these choose a server.
func TestHomeFiles(t *testing.T) {
	moved := t.TempDir()
	settings, env := filepath.Join(moved, "config.toml"), []string{"HOME=/h", "CODEX_HOME=" + moved}
	login := agent.HomeFile{File: ".codex/auth.json", From: filepath.Join(moved, "auth.json"), IsLogin: true}
	for text, want := range map[string][]agent.HomeFile{
		"model = \"x\"\n":          {login},
		"model_provider = \"x\"\n": {login, {File: ".codex/config.toml", From: settings}},
	} {
		err := os.WriteFile(settings, []byte(text), 0o600)
		if diff := cmp.Diff(want, agent.HomeFiles("codex", env)); diff != "" || err != nil {
			t.Errorf("%q: %v (-want +got):\n%s", text, err, diff)
		}
	}
	got := agent.HomeFiles("opencode", []string{"HOME=/h", "XDG_CONFIG_HOME=/x"})
	if len(got) != 3 || got[1].From != "/x/opencode/opencode.json" {
		t.Errorf("files of opencode: %+v", got)
	}
}
