package main_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/testsupport/modeltest"
)

// The guard keeps the real Codex from what is dangerous, by the hooks that
// plugin/codex has for it.
func TestRealGuardOfCodex(t *testing.T) {
	p := newSession(t, modeltest.Answer{Calls: []modeltest.Call{modeltest.Shell("rm -rf $HOME/../; echo gone")}}, talk("Then not."))
	if p == nil {
		return
	}
	p.codex("gpt-6-sol")
	p.asked("instead: ")
	if _, err := os.Stat(p.path("home")); err != nil {
		p.Error(err)
	}
}

func (p *session) codex(model string) {
	p.Helper()
	program, err := filepath.Abs("../../tools/agents/node_modules/.bin/codex")
	if err != nil {
		p.Fatal(err)
	}
	for name, from := range map[string]string{"hooks.json": "codex/hooks.json", "hooks/ralph-hook": "scripts/ralph-hook"} {
		text, err := os.ReadFile(filepath.Join("../../plugin", from))
		if err != nil {
			p.Fatal(err)
		}
		if err := write(p.path("home", ".codex", name), text); err != nil {
			p.Fatal(err)
		}
	}
	if err := os.Chmod(p.path("home", ".codex", "hooks", "ralph-hook"), 0o755); err != nil {
		p.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(p.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "exec", "--json", "--skip-git-repo-check",
		"--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust", "-m", model,
		"-c", `model_providers.x={name="x",base_url="`+p.server.URL+`/v1",wire_api="responses",env_key="CODEX_API_KEY",supports_websockets=false}`,
		"-c", `model_provider="x"`, "-")
	cmd.Dir, cmd.Env, cmd.Stdin = p.path("work"), append(p.env, "CODEX_API_KEY="+agentKey), strings.NewReader("Tidy up.")
	cmd.WaitDelay = 5 * time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		p.Errorf("codex: %v", err)
	}
	p.Cleanup(func() {
		if p.Failed() {
			p.Logf("codex said:\n%s", out.String())
		}
	})
}
