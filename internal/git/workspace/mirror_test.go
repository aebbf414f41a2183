package workspace_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/untrusted"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
)

// seen returns a folder as text: name, mode and content of each file.
func seen(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		held := ""
		switch {
		case info.Mode().IsRegular():
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			held = string(text) + info.ModTime().Format(time.RFC3339Nano)
		case info.Mode().Type() == fs.ModeSymlink:
			if held, err = os.Readlink(path); err != nil {
				return err
			}
		}
		name, err := filepath.Rel(dir, path)
		all[name] = info.Mode().String() + " " + held
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Mirror restores a copy after any change by a program, and changes nothing outside.
func TestMirror(t *testing.T) {
	dir := t.TempDir()
	from, to, outside := filepath.Join(dir, "from"), filepath.Join(dir, "to"), filepath.Join(dir, "outside")
	in := func(at string, names ...string) string { return filepath.Join(append([]string{at}, names...)...) }
	old := time.Now().Add(-time.Hour).Truncate(time.Second)
	put := func(path, text string) error {
		return errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644), os.Chtimes(path, old, old))
	}
	must.Do(t, errors.Join(
		os.Mkdir(from, 0o755), os.Mkdir(to, 0o755), put(in(outside, "kept"), "kept"),
		put(in(from, "plain"), "plain"), put(in(from, "same"), "same"), put(in(from, "mode"), "mode"), put(in(from, "gone"), "gone"),
		put(in(from, "module", "m.go"), "module"), put(in(from, "folder", "deep", "file"), "deep"), put(in(from, "linked", "file"), "file"),
		os.Symlink("module/m.go", in(from, "link")), os.Symlink("nowhere", in(from, "other")), syscall.Mkfifo(in(from, "pipe"), 0o644),
		os.Chmod(in(from, "module", "m.go"), 0o444), os.Chmod(in(from, "module"), 0o555),
	))
	t.Cleanup(func() { _ = errors.Join(untrusted.RemoveAll(from), untrusted.RemoveAll(to)) })
	want := seen(t, from)
	delete(want, "pipe")
	must.Do(t, workspace.Mirror(from, to))
	if diff := cmp.Diff(want, seen(t, to)); diff != "" {
		t.Fatalf("copied (-want +got):\n%s", diff)
	}
	untouched := inode(t, in(to, "same"))
	must.Do(t, errors.Join(
		put(in(to, "plain"), "pl@in"), os.Chmod(in(to, "mode"), 0o755), os.Remove(in(to, "gone")),
		put(in(to, "new", "file"), "new"), os.Chmod(in(to, "new"), 0o500), syscall.Mkfifo(in(to, "folder", "pipe"), 0o644),
		os.Chmod(in(to, "module"), 0o755), os.Remove(in(to, "module", "m.go")), os.Symlink(in(outside, "kept"), in(to, "module", "m.go")),
		os.RemoveAll(in(to, "linked")), os.Symlink(outside, in(to, "linked")),
		os.Remove(in(to, "link")), os.Symlink("plain", in(to, "link")), os.Remove(in(to, "other")), put(in(to, "other"), "a file"),
	))
	must.Do(t, workspace.Mirror(from, to))
	if diff := cmp.Diff(want, seen(t, to)); diff != "" {
		t.Errorf("after changes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{".": want["."], "kept": want["plain"][:11] + "kept" + old.Format(time.RFC3339Nano)}, seen(t, outside)); diff != "" {
		t.Errorf("outside (-want +got):\n%s", diff)
	}
	if inode(t, in(to, "same")) != untouched {
		t.Error("a file that was as it should be was copied again")
	}
}

func inode(t *testing.T, path string) uint64 {
	t.Helper()
	info := must.Get(os.Stat(path))(t)
	return info.Sys().(*syscall.Stat_t).Ino
}
