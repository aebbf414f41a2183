package sandbox_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/process"
	"github.com/ralph-loop/ralph/internal/sandbox"
)

// What is directly in the folder of the machine's tools is the user's, too, as a database there or a key.
func TestWhatIsClosedBesideToolsStaysOutside(t *testing.T) {
	for _, level := range connected() {
		w, opt := testConfig(t, level, users()[0]), secretive(t)
		t.Cleanup(sandbox.Opt(opt))
		if err := os.Chmod(filepath.Join(opt, "key"), 0o600); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(opt, "tool"), "tool\n")
		write(t, filepath.Join(opt, "app.conf"), "password=secret\n")
		said, _ := inside(t, w, process.Command{Argv: []string{"sh", "-c", `cd "$1"; cat key app.conf tool`, "sh", opt}})
		if !strings.Contains(said, "tool\n") || strings.Contains(said, "secret\n") {
			t.Errorf("level %s: %s", level, said)
		}
	}
}

// Another command may have left large files in a folder of PATH: what is too much to look at is hidden, there alone.
func TestTheSearchForLoginsEnds(t *testing.T) {
	for _, level := range connected() {
		w, out, other := testConfig(t, level, users()[0]), secretive(t), secretive(t)
		write(t, filepath.Join(other, "tool.conf"), "tool\n")
		for i := range 40 {
			name := filepath.Join(out, fmt.Sprintf("%d.json", i+10))
			write(t, name, "")
			if err := os.Truncate(name, 1<<20); err != nil {
				t.Fatal(err)
			}
		}
		w.Read = []string{out, other}
		said, _ := inside(t, w, process.Command{Argv: []string{"sh", "-c", `cd "$1"; wc -c <10.json; wc -c <49.json; cat "$2/tool.conf"`, "sh", out, other}})
		if strings.Count(said, "1048576\n") != 1 || !strings.Contains(said, "tool\n") {
			t.Errorf("level %s: %s", level, said)
		}
	}
}
