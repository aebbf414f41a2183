package sandbox_test

import (
	"bufio"
	"os/exec"
	"slices"
	"testing"

	"github.com/ralph-loop/ralph/internal/sandbox"
)

// Two runs on a machine attack at the same time, and each comes upon what the
// other has laid out: what is its own is told all the same.
func TestTheAttackIsNotMisledByAnother(t *testing.T) {
	if !asOther.possible(sandbox.Namespace) {
		return
	}
	for range 3 {
		c := exec.CommandContext(t.Context(), "/proc/self/exe", sandbox.Hidden, "stubborn")
		c.Env = []string{"RALPH_SECRET=RALPH-CANARY-OFANOTHER", "MORE=one; two"}
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _, _ = c.Process.Kill(), c.Wait() })
		if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	const memory = "memory, environment and files of the program"
	open := order{Wall: sandbox.Wall{Level: sandbox.Namespace}, Without: []string{"another user", "landlock files", "mounts", "no capabilities"}}
	if got := through(attacked(t, asOther, open)); !slices.Contains(got, memory) {
		t.Errorf("%q was held all the same; through came %q", memory, got)
	}
	if got := through(attacked(t, asOther, order{Wall: sandbox.Wall{Level: sandbox.Namespace}})); len(got) > 0 {
		t.Errorf("through came %q", got)
	}
}
