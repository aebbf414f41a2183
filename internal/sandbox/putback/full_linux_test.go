package putback_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/sandbox/putback"
)

// small returns a folder on a disk with so many inodes, or an ordinary folder where no disk can be mounted.
func small(t *testing.T, inodes int) (top string, mounted bool) {
	t.Helper()
	top = t.TempDir()
	runtime.LockOSThread() // for good: the thread and its mounts end with the test
	err := unix.Unshare(unix.CLONE_NEWNS | unix.CLONE_FS)
	if err == nil {
		err = errors.Join(unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""), unix.Mount("small", top, "tmpfs", 0, fmt.Sprintf("size=8m,nr_inodes=%d", inodes)))
	}
	if err != nil {
		t.Log("without a small disk:", err)
		return top, false
	}
	t.Cleanup(func() { _ = unix.Unmount(top, unix.MNT_DETACH) })
	return top, true
}

// fill takes all inodes of the disk, and returns what frees them.
func fill(t *testing.T, top string, mounted bool) (free func()) {
	t.Helper()
	full := filepath.Join(top, "full")
	err := os.Mkdir(full, 0o755)
	for i := 0; mounted && err == nil; i++ {
		err = os.WriteFile(filepath.Join(full, fmt.Sprint(i)), nil, 0o600)
	}
	if err != nil && !errors.Is(err, unix.ENOSPC) {
		t.Fatal(err)
	}
	return func() {
		if err := os.RemoveAll(full); err != nil {
			t.Error(err)
		}
	}
}

func (g *guarded) texts() map[string]string {
	g.Helper()
	all := map[string]string{}
	for _, name := range []string{"hooks", "config"} {
		_ = filepath.WalkDir(filepath.Join(g.top, ".git", name), func(name string, _ os.DirEntry, _ error) error { // it may be gone
			if text, err := os.ReadFile(name); err == nil {
				all[name] = string(text)
			}
			return nil
		})
	}
	return all
}

func (g *guarded) removeKept() {
	g.Helper()
	if err := errors.Join(os.RemoveAll(filepath.Join(g.top, ".git", "hooks")), os.Remove(filepath.Join(g.top, ".git", "config"))); err != nil {
		g.Fatal(err)
	}
}

// Those inside can use up all inodes: those that it takes to put back what they removed are taken before.
func TestInodesAreTaken(t *testing.T) {
	top, mounted := small(t, 200)
	g := guard(t, top)
	for i := range 20 {
		g.write(fmt.Sprintf(".git/hooks/%d", i))
	}
	g.write(".git/config", ".git/HEAD")
	g = guard(t, top)
	before := g.texts()
	if err := os.RemoveAll(filepath.Join(top, ".git")); err != nil {
		t.Fatal(err)
	}
	fill(t, top, mounted)
	if err := g.kept.PutBack(nil); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(before, g.texts()); diff != "" || len(before) != 21 {
		t.Errorf("it changed (-before +after):\n%s", diff)
	}
}

// What a full disk keeps from being put back is told, and the next ralph puts it back.
func TestFullDisk(t *testing.T) {
	top, mounted := small(t, 500)
	g := guard(t, top)
	for i := range 200 {
		g.write(fmt.Sprintf(".git/hooks/%d", i))
	}
	g.write(".git/config", ".git/HEAD")
	g = guard(t, top)
	before := g.texts()
	g.removeKept()
	free := fill(t, top, mounted)
	err := g.kept.PutBack(nil)
	if mounted && (!errors.Is(err, putback.ErrNotPutBack) || !strings.Contains(fault.Hint(err), "inodes") || !strings.Contains(err.Error(), ".git/hooks")) {
		t.Errorf("%v, hint %q", err, fault.Hint(err))
	}
	if all := err == nil; len(g.done) != 1 || g.done[0] != all {
		t.Errorf("done %v, of an end with %v", g.done, err)
	}
	if mounted {
		if _, _, err := putback.Recover(g.mark, false); !errors.Is(err, unix.ENOSPC) {
			t.Errorf("recovered on a full disk: %v", err)
		}
	}
	free()
	if moved, _, err := putback.Recover(g.mark, false); len(moved) > 0 || err != nil {
		t.Errorf("moved %q, %v", moved, err)
	}
	if diff := cmp.Diff(before, g.texts()); diff != "" || len(before) != 201 {
		t.Errorf("it changed (-before +after):\n%s", diff)
	}
}

// What a command removed whose ralph was killed is put back, once; what the user changed since then stays.
func TestRecoverPutsBackWhatIsMissing(t *testing.T) {
	g := guard(t, t.TempDir())
	g.write(".git/hooks/a", ".git/hooks/b/c", ".git/config", ".git/info/attributes")
	g = guard(t, g.top)
	before := g.texts()
	g.removeKept()
	g.write(".git/hooks/.put-back-x") // which a ralph began that was killed
	config, info := filepath.Join(g.top, ".git", "config"), filepath.Join(g.top, ".git", "info")
	err := errors.Join(g.kept.Close(), os.WriteFile(config, []byte("user's"), 0o600), os.RemoveAll(info), os.Symlink("hooks", info))
	if err != nil {
		t.Fatal(err)
	}
	before[config] = "user's"
	moved, restored, err := putback.Recover(g.mark, false)
	if !cmp.Equal(moved, []string{info}) || len(restored) == 0 || err != nil {
		t.Errorf("moved %q, restored %q, %v", moved, restored, err)
	}
	if diff := cmp.Diff(before, g.texts()); diff != "" {
		t.Errorf("it changed (-before +after):\n%s", diff)
	}
	if _, restored, err := putback.Recover(g.mark, false); len(restored) > 0 || err != nil {
		t.Errorf("restored again %q, %v", restored, err)
	}
}

// What could not be put back counts as the command's: the next ralph puts back what was changed, too.
func TestRecoverAfterAFailure(t *testing.T) {
	g := guard(t, t.TempDir())
	g.write(".git/hooks/a", ".git/hooks/b", ".git/config", "fields.json")
	file := filepath.Join(g.top, "fields.json")
	if err := os.WriteFile(file, []byte(`{"not": 1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	g = guard(t, g.top)
	before := g.texts()
	hook := filepath.Join(g.top, ".git", "hooks", "a")
	err := errors.Join(g.kept.Close(), os.WriteFile(file, []byte(`{"may": 2, "not": 2}`), 0o600), os.WriteFile(hook, []byte("theirs"), 0o600),
		os.Remove(filepath.Join(g.top, ".git", "hooks", "b")), os.Chmod(g.top, 0))
	if err != nil {
		t.Fatal(err)
	}
	moved, restored, err := putback.Recover(g.mark, true)
	if len(moved) > 0 || err != nil {
		t.Errorf("moved %q, %v", moved, err)
	}
	if diff := cmp.Diff([]string{hook, filepath.Join(g.top, ".git", "hooks", "b"), file}, restored); diff != "" {
		t.Errorf("restored (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, g.texts()); diff != "" {
		t.Errorf("it changed (-before +after):\n%s", diff)
	}
	if text, err := os.ReadFile(file); string(text) != "{\n  \"may\": 2,\n  \"not\": 1\n}\n" {
		t.Errorf("the file says %q: %v", text, err)
	}
}
