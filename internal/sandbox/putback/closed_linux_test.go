package putback_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-loop/ralph/internal/sandbox/putback"
	"github.com/ralph-loop/ralph/internal/testsupport/rights"
)

// Programs of the same user can close folders to their owner. What they changed there is put back all the same.
func TestClosedFolders(t *testing.T) {
	for _, closed := range []string{".", ".git", ".git/logs", ".git/logs/refs", ".git/objects/ab"} {
		for _, mode := range []fs.FileMode{0, 0o111, 0o444, 0o555} {
			t.Run(fmt.Sprint(closed, mode), func(t *testing.T) { putBackClosed(t, closed, mode) })
		}
	}
}

func putBackClosed(t *testing.T, closed string, mode fs.FileMode) {
	t.Helper()
	top := t.TempDir()
	config, added, link := filepath.Join(top, ".git/config"), filepath.Join(top, ".git/hooks"), filepath.Join(top, ".git/logs/refs/link")
	users := []string{filepath.Join(top, ".git/logs/refs/x"), filepath.Join(top, ".git/objects/ab/x")}
	rights.Drop(t, top)
	t.Cleanup(func() { _ = os.Chmod(top, 0o755) }) // else it stays
	err := errors.Join(os.MkdirAll(filepath.Dir(link), 0o755), os.WriteFile(config, []byte("ours"), 0o644), os.MkdirAll(filepath.Dir(users[1]), 0o755))
	for _, name := range users {
		err = errors.Join(err, os.WriteFile(name, nil, 0o644))
	}
	kept, failed := putback.Files{Write: []string{top}, Guards: []putback.Guard{{Dir: filepath.Join(top, ".git"), But: []string{"logs", "objects"}}}}.Keep()
	err = errors.Join(err, failed, os.WriteFile(config, []byte("theirs"), 0o644), os.Mkdir(added, 0o755), os.Symlink("/", link), os.Chmod(filepath.Join(top, closed), mode))
	if err != nil {
		t.Fatal(err)
	}
	if err := kept.PutBack(nil); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(config); string(text) != "ours" {
		t.Errorf("the file says %q: %v", text, err)
	}
	for _, name := range users {
		if _, err := os.Lstat(name); err != nil {
			t.Errorf("what the user had there is gone: %v", err)
		}
	}
	for _, name := range []string{added, link} {
		if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v, want it to be gone", name, err)
		}
	}
}

// A file that can be written to can lie in a folder that a program closed, such as the user's home.
func TestFieldsInAClosedFolder(t *testing.T) {
	for _, mode := range []fs.FileMode{0, 0o111, 0o444, 0o555} {
		t.Run(fmt.Sprint(mode), func(t *testing.T) {
			top := t.TempDir()
			file := filepath.Join(top, "fields.json")
			err := os.WriteFile(file, []byte("{}"), 0o644)
			rights.Drop(t, top, file)
			t.Cleanup(func() { _ = os.Chmod(top, 0o755) }) // else it stays
			kept, failed := putback.Files{Write: []string{file}, Fields: map[string][]string{file: {"may"}}}.Keep()
			err = errors.Join(err, failed, os.WriteFile(file, []byte(`{"may": 1, "not": 1}`), 0o644), os.Chmod(top, mode))
			if err := errors.Join(err, kept.PutBack(nil)); err != nil {
				t.Error(err)
			}
			if text, err := os.ReadFile(file); string(text) != "{\n  \"may\": 1\n}\n" {
				t.Errorf("the file says %q: %v", text, err)
			}
		})
	}
}

// A folder of Write that lies in another one, as ~/.claude does by a link in a project of settings files, could be
// exchanged as a whole.
func TestFolderInAnother(t *testing.T) {
	top := t.TempDir()
	inner, link := filepath.Join(top, "tree", "inner"), filepath.Join(top, "link")
	settings, fields := filepath.Join(inner, "settings.json"), filepath.Join(inner, "fields.json")
	err := errors.Join(os.MkdirAll(inner, 0o755), os.Symlink(inner, link), os.Symlink(fields, link+".json"), os.WriteFile(settings, []byte("{}"), 0o644), os.WriteFile(fields, []byte("{}"), 0o644))
	kept, failed := putback.Files{
		Write:  []string{link, link + ".json", filepath.Join(top, "tree")},
		Guards: []putback.Guard{{Dir: link, But: []string{"fields.json"}}},
		Fields: map[string][]string{link + ".json": {"may"}},
	}.Keep()
	err = errors.Join(err, failed, os.Rename(inner, filepath.Join(top, "tree", "other")), os.Mkdir(inner, 0o755))
	for _, name := range []string{settings, fields, filepath.Join(inner, "added")} {
		err = errors.Join(err, os.WriteFile(name, []byte(`{"hooks": "theirs"}`), 0o644))
	}
	if err := errors.Join(err, kept.PutBack(nil)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{settings, fields} {
		if text, err := os.ReadFile(name); len(text) > 3 || err != nil {
			t.Errorf("%s says %q: %v", name, text, err)
		}
	}
	if _, err := os.Lstat(filepath.Join(inner, "added")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what was added: %v, want it to be gone", err)
	}
}

// A file in place of a folder that was missing stays: nothing can lie below it.
func TestFileInTheWay(t *testing.T) {
	top := t.TempDir()
	kept, err := putback.Files{Write: []string{top}, ReadOnly: []string{filepath.Join(top, ".claude", "settings.local.json")}}.Keep()
	if err := errors.Join(err, os.WriteFile(filepath.Join(top, ".claude"), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	if err := kept.PutBack(func(names []string) { t.Errorf("%q is put back", names) }); err != nil {
		t.Error(err)
	}
}

// What another user has closed stays as it is.
func TestFoldersOfAnother(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Log("only root can make a folder of another user")
		return
	}
	top := t.TempDir()
	dir := filepath.Join(top, ".claude")
	err := os.Mkdir(dir, 0o700)
	rights.Drop(t, top)
	kept, failed := putback.Files{Write: []string{top}, ReadOnly: []string{filepath.Join(dir, "settings.local.json")}}.Keep()
	if err := errors.Join(err, failed); err != nil {
		t.Fatal(err)
	}
	if err := kept.PutBack(func(names []string) { t.Errorf("%q is put back", names) }); err != nil {
		t.Error(err)
	}
}
