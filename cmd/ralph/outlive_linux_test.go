package main_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// toolShell is an agent that has a shell at work in another session, as agents
// have; the shell has lost its parents.
const toolShell = `cat >/dev/null
setsid sh -c 'sh -c "while :; do sleep 1000; done" &' </dev/null >/dev/null 2>&1
sleep 1000
`

// TestNothingOutlivesRalph kills both processes of ralph at once, and nothing is
// left of what a run has started in a sandbox.
func TestNothingOutlivesRalph(t *testing.T) {
	t.Parallel()
	for _, level := range []string{"notify", "namespace"} {
		t.Run(level, func(t *testing.T) {
			try := exec.CommandContext(t.Context(), "ralph", "sandbox", "--level="+level, "--", "true")
			try.Dir = t.TempDir()
			if said, err := try.CombinedOutput(); level == "namespace" && bytes.Contains(said, []byte("is not available here")) {
				return
			} else if err != nil {
				t.Fatalf("%v: %s", err, said)
			}
			for range 5 {
				killBoth(t, level)
			}
		})
	}
}

// killBoth begins a run, and kills ralph once the agent's shell is up.
func killBoth(t *testing.T, level string) {
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
	for _, pid := range []int{ralph.Process.Pid, s.told("RALPH_OUTER")} {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) { // it may die with the one before
			t.Error(err)
		}
	}
	_ = ralph.Wait()
	s.noneLeft()
}

// told returns the process of the run that has its parent's number under that name.
func (s *scene) told(name string) (found int) {
	s.t.Helper()
	for _, line := range living(s.dir) {
		var pid, parent int
		var command, state string
		stat, _ := os.ReadFile("/proc/" + strings.Fields(line)[0] + "/stat")
		_, _ = fmt.Sscan(string(stat), &pid, &command, &state, &parent)
		env, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if marker := fmt.Appendf(nil, "\x00%s=%d", name, parent); bytes.Contains(env, marker) {
			found = pid
		}
	}
	if found == 0 {
		s.t.Fatalf("no process is told of its %s: %q", name, living(s.dir))
	}
	return found
}
