package main_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// toolShell is an agent that has a shell at work in another session, as agents
// have; the shell has lost its parents.
const toolShell = `cat >/dev/null
setsid sh -c 'sh -c "while :; do sleep 1000; done" &' </dev/null >/dev/null 2>&1
sleep 1000
`

// TestNothingOutlivesRalph kills ralph, and nothing is left of what a run has started in a sandbox.
func TestNothingOutlivesRalph(t *testing.T) {
	t.Parallel()
	for _, level := range []string{"notify", "namespace"} {
		t.Run(level, func(t *testing.T) {
			try := exec.CommandContext(t.Context(), "ralph", "sandbox", "--sandbox="+level, "--", "true")
			try.Dir = t.TempDir()
			if said, err := try.CombinedOutput(); level == "namespace" && bytes.Contains(said, []byte("is not available here")) {
				return
			} else if err != nil {
				t.Fatalf("%v: %s", err, said)
			}
			for range 5 {
				killRalph(t, level)
			}
		})
	}
}

// killRalph begins a run, and kills ralph once the agent's shell is up.
func killRalph(t *testing.T, level string) {
	t.Helper()
	s := &scene{town: &town{dir: t.TempDir()}, t: t}
	out, err := os.Create(s.path("log"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	ralph := exec.CommandContext(t.Context(), "ralph", "run", "-p", "x", "-m", "1", "--sandbox="+level, "--agent", "command", "--agent-command", "sh agent.sh", "--check", "true")
	ralph.Dir, ralph.Stdout, ralph.Stderr = s.path("project"), out, out
	ralph.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.path("home"), quickExit}
	err = errors.Join(os.Mkdir(s.path("home"), 0o755), write(s.path("project", "agent.sh"), []byte(toolShell)), ralph.Start())
	if err != nil {
		t.Fatal(err)
	}
	s.until("the agent's shell is up", func() bool {
		all := living(s.dir)
		if len(all) == 0 {
			said, _ := os.ReadFile(s.path("log"))
			t.Fatalf("ralph is gone:\n%s", said)
		}
		return slices.ContainsFunc(all, func(line string) bool { return strings.Contains(line, " sh -c while") })
	})
	if err := ralph.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = ralph.Wait()
	s.noneLeft()
}
