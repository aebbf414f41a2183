package workspace_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
)

// holder starts a process that locks a folder.
func holder(t *testing.T, path string) *exec.Cmd {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), holderKey+"="+path)
	if _, err := child.StdinPipe(); err != nil { // the process ends when this is closed
		t.Fatal(err)
	}
	out := must.Get(child.StdoutPipe())(t)
	must.Do(t, child.Start())
	t.Cleanup(func() { _ = child.Process.Kill(); _ = child.Wait() })
	if said, _ := bufio.NewReader(out).ReadString('\n'); said != "held\n" {
		t.Fatalf("the holder says %q", said)
	}
	return child
}

// A second run is refused with the pid of the first. When the first is killed, its
// lock is free.
func TestLockIsHeldByTheLiving(t *testing.T) {
	folder := workspace.Folder{Path: filepath.Join(t.TempDir(), ".ralph")}
	write(t, filepath.Join(folder.Path, "lock"), "123456789012345\n") // from a process that ended
	child := holder(t, folder.Path)
	_, err := folder.Lock()
	if want := fmt.Sprintf(": process %d", child.Process.Pid); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("Lock = %v, want %q in it", err, want)
	}
	if fault.Exit(err) != fault.ExitUsage || fault.Hint(err) == "" {
		t.Errorf("Lock = %v with exit %d and hint %q", err, fault.Exit(err), fault.Hint(err))
	}
	must.Do(t, child.Process.Kill())
	_ = child.Wait()
	release, err := folder.Lock()
	if err != nil {
		t.Fatalf("Lock after kill -9 = %v", err)
	}
	must.Do(t, release())
}
