package sandbox_test

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"testing"

	"github.com/ralph-loop/ralph/internal/box/sandbox"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
)

// Who leaves its session and parents is found all the same, and gone before
// anybody reads what was left.
func TestNoProcessStaysInside(t *testing.T) {
	for _, level := range sandboxes() {
		w, left := testConfig(t, level, users()[0]), badge(t)
		out, res := inside(t, w, playing(t, &w, "leave", "outer", left))
		if out != "up\n" || alive(left) || res.Swept == 0 {
			t.Errorf("level %s: %q, alive: %t, swept %d", level, out, alive(left), res.Swept)
		}
	}
}

// killRalph starts a ralph with a program in a sandbox, and kills it without a chance to
// sweep, once the program says that it is up.
func killRalph(t *testing.T, who user, w sandbox.Config, role ...string) {
	t.Helper()
	c := who.as(t, append([]string{"hold", asJSON(t, order{Sandbox: w})}, role...)...)
	ralph := exec.CommandContext(t.Context(), c.Argv[0], c.Argv[1:]...)
	ralph.Env, ralph.SysProcAttr = c.Env, c.Sys
	out := must.Get(ralph.StdoutPipe())(t)
	must.Do(t, ralph.Start())
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || !alive(role[len(role)-1]) {
		t.Errorf("level %s: it says %q, %v, and was never there", w.Level, line, err)
	}
	_ = ralph.Process.Kill()
	_ = ralph.Wait()
}

// Killed without a chance to sweep, ralph leaves no process: the signal of its
// death must survive the change of user, which clears it.
func TestNoProcessOutlivesRalph(t *testing.T) {
	for _, level := range confined() {
		left := badge(t)
		killRalph(t, users()[0], testConfig(t, level, users()[0]), "stubborn", left)
		eventually(t, func() bool { return !alive(left) })
	}
}

// That holds for those, too, who left their session and their parents: the kernel ends them in a process namespace, and
// the supervisor elsewhere.
func TestNoProcessOutlivesItsSandbox(t *testing.T) {
	for _, who := range []user{users()[0], asOrdinary} {
		for _, level := range confined() {
			for range 5 {
				if left := badge(t); who.possible(level) {
					killRalph(t, who, testConfig(t, level, who), "stay", "outer", left)
					eventually(t, func() bool { return !alive(left) })
				}
			}
		}
	}
}

// In a process namespace others are not seen, and each is found by its own number.
func TestProcessesOfOthersAreNotThere(t *testing.T) {
	for _, level := range here(sandbox.Namespace) {
		w := testConfig(t, level, users()[0])
		script := `readlink /proc/self/ns/pid; test -d /proc/$$ && test -d /proc/$PPID && ls -d /proc/[0-9]* | wc -l`
		out, _ := inside(t, w, process.Command{Argv: []string{"sh", "-c", script}})
		ours := must.Get(os.Readlink("/proc/self/ns/pid"))(t)
		if said := lines(out); said[0] == ours || len(said) != 3 || atoi(t, said[1]) > 4 { // the first, the shell, ls and wc
			t.Errorf("%q; we are in %s", out, ours)
		}
	}
}

// Without a process namespace all that runs as another user can be ended: no other
// program runs as that user.
func TestAllOfAnotherUserCanBeEnded(t *testing.T) {
	for _, who := range []user{asOther, asRoot} {
		for _, level := range confined() {
			w, uid := testConfig(t, level, who), -1
			_, _ = w.Run(func(_ context.Context, c process.Command) (process.Result, error) {
				uid = c.UID
				return process.Result{}, nil
			})(t.Context(), process.Command{Argv: []string{"true"}})
			want := who.uid
			if level == sandbox.Namespace || os.Geteuid() != 0 {
				want = 0
			}
			if uid != want {
				t.Errorf("level %s, %s: %d, want %d", level, who.name, uid, want)
			}
		}
	}
}
