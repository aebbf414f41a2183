package workspace_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
)

// A run writes the marker over any older file, keeps a second run out, and removes the
// marker at its end.
func TestHoldMarks(t *testing.T) {
	for name, left := range map[string]string{
		"nothing": "", "a living process, not one of ours": `{"pid":1}`, "half a marker": `{"pid":`,
	} {
		project := t.TempDir()
		folder := workspace.Folder{Path: filepath.Join(project, ".ralph")}
		marker := filepath.Join(project, ".ralph-active")
		if left != "" {
			write(t, marker, left)
		}
		write(t, filepath.Join(folder.Path, "lock"), "123456789012345\n") // from a process that ended
		active := workspace.Active{Timestamp: time.Unix(1e9, 0).UTC(), PID: os.Getpid(), MaxIterations: 7, Mode: "direct"}
		held, release, err := folder.Hold(&active)
		if err != nil {
			t.Fatalf("%s: Hold = %v", name, err)
		}
		if got, alive := workspace.ReadActive(project); !alive || !cmp.Equal(got, active) {
			t.Errorf("%s: the marker says %+v, %t", name, got, alive)
		}
		if _, _, err := folder.Hold(nil); err == nil || !strings.HasSuffix(err.Error(), fmt.Sprint(": process ", os.Getpid())) ||
			fault.Exit(err) != fault.ExitUsage || fault.Hint(err) == "" {
			t.Errorf("%s: Hold = %v, want a refusal with the pid", name, err)
		}
		again, err := held.Lock()
		if err != nil || again() != nil {
			t.Errorf("%s: Lock of what is held = %v", name, err)
		}
		if err := folder.CheckUnlocked(); err == nil {
			t.Errorf("%s: Free = nil after what is held was given back", name)
		}
		if err := release(); err != nil {
			t.Error(err)
		}
		if _, err := os.Lstat(marker); err == nil || folder.CheckUnlocked() != nil {
			t.Errorf("%s: the marker or the lock is still there", name)
		}
	}
}

// A marker that cannot be written leaves no lock behind.
func TestHoldFails(t *testing.T) {
	project := t.TempDir()
	folder := workspace.Folder{Path: filepath.Join(project, ".ralph")}
	write(t, filepath.Join(project, ".ralph-active", "x"), "")
	if _, _, err := folder.Hold(&workspace.Active{PID: 1}); err == nil || folder.CheckUnlocked() != nil {
		t.Errorf("Hold = %v with a folder in the marker's place, CheckUnlocked = %v", err, folder.CheckUnlocked())
	}
}

// A message repeats only a pid from a lock file, not foreign text.
func TestLockRepeatsOnlyAPid(t *testing.T) {
	folder := workspace.Folder{Path: filepath.Join(t.TempDir(), ".ralph")}
	release := must.Get(folder.Lock())(t)
	defer func() { _ = release() }()
	write(t, filepath.Join(folder.Path, "lock"), "\x1b[2Jnobody")
	if err := folder.CheckUnlocked(); err == nil || !strings.HasSuffix(err.Error(), ": another process") {
		t.Errorf("Free = %q", err)
	}
}

// Pid 0 is no process. kill(2) takes it for the own process group.
func TestMarkerOfNoProcess(t *testing.T) {
	for _, left := range []string{`{"pid":0}`, `{}`, `{"pid":-1}`} {
		project := t.TempDir()
		write(t, filepath.Join(project, ".ralph-active"), left)
		if active, alive := workspace.ReadActive(project); alive || active.PID != 0 {
			t.Errorf("%s: ReadActive = %+v, %t, want none", left, active, alive)
		}
	}
}
