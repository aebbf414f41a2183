package laptop_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/laptop"
)

// folder returns a new folder by its path without links.
func folder(t *testing.T) string {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return top
}

func link(t *testing.T, to, at string) {
	t.Helper()
	if err := os.Symlink(to, at); err != nil {
		t.Fatal(err)
	}
}

// A folder has one name, no matter what the command line calls it. A link that a sandboxed
// command may have made is refused.
func TestFolder(t *testing.T) {
	top := folder(t)
	shop, victim := repository(t, filepath.Join(top, "shop")), repository(t, filepath.Join(top, "victim"))
	w := world(t, filepath.Join(top, "home"))
	if _, err := w.MarkAndAccess(t.Context(), nil, shop); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(shop, "web"), 0o755); err != nil {
		t.Fatal(err)
	}
	link(t, shop, filepath.Join(top, "mine"))
	link(t, victim, filepath.Join(shop, "theirs"))
	link(t, filepath.Join(shop, "theirs"), filepath.Join(top, "to-theirs"))
	t.Chdir(filepath.Join(top, "mine"))
	for name, want := range map[string]string{
		".": shop, "web": filepath.Join(shop, "web"), "../mine": shop, filepath.Join(top, "mine", "web"): filepath.Join(shop, "web"),
		"missing": filepath.Join(shop, "missing"), "theirs": "", "theirs/web": "", filepath.Join(top, "to-theirs"): "",
	} {
		got, err := w.Folder(name)
		if got != want || (want == "") != (fault.Hint(err) != "") {
			t.Errorf("Folder(%q) = %q, %v; want %q", name, got, err, want)
		}
	}
}

// A folder that became a link to another repository after it was found is refused, by a
// run as by a single command.
func TestReplacedFolder(t *testing.T) {
	top := folder(t)
	shop, victim := repository(t, filepath.Join(top, "shop")), repository(t, filepath.Join(top, "victim"))
	w := world(t, filepath.Join(top, "home"))
	at, err := w.MarkAndAccess(t.Context(), nil, shop)
	if err != nil || at.Write[0] != shop {
		t.Errorf("MarkAndAccess(shop) writes to %v, %v; want shop", at.Write, err)
	}
	replaced := filepath.Join(shop, "replaced")
	link(t, victim, replaced)
	if at, err := w.MarkAndAccess(t.Context(), nil, replaced); fault.Hint(err) == "" {
		t.Errorf("MarkAndAccess of a link to another repository writes to %v, %v; want a fault", at.Write, err)
	}
	if d, err := (laptop.Flags{ProjectDir: replaced}).Open(t.Context(), w); fault.Hint(err) == "" {
		t.Errorf("a run works in %s; want a fault", d.Root())
	}
	marker := filepath.Join(victim, ".ralph-active")
	if err := errors.Join(os.Mkdir(filepath.Join(victim, ".ralph"), 0o755), os.WriteFile(marker, nil, 0o644), laptop.Flags{ProjectDir: replaced}.Unmark()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(marker); err != nil {
		t.Errorf("the other project's marker: %v", err)
	}
	if above := w.FoldersAbove(replaced); !slices.Contains(above, shop) {
		t.Errorf("links are followed in shop: Above = %v", above)
	}
}

// A repository that a sandboxed command, in a folder above, led to another one opens nothing
// of that one. A linked worktree does, which its repository names.
func TestStrayedRepository(t *testing.T) {
	top := folder(t)
	code, victim, w := filepath.Join(top, "code"), repository(t, filepath.Join(top, "victim")), world(t, filepath.Join(top, "home"))
	for _, name := range []string{"file", "link", "common", "store", "honest"} {
		repository(t, filepath.Join(code, name))
	}
	if _, err := w.MarkAndAccess(t.Context(), nil, code); err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(code, name, ".git") }
	for _, name := range []string{"file", "link"} {
		if err := os.RemoveAll(at(name)); err != nil {
			t.Fatal(err)
		}
	}
	link(t, filepath.Join(victim, ".git"), at("link"))
	for file, text := range map[string]string{
		at("file"): "gitdir: " + victim + "/.git", filepath.Join(at("common"), "commondir"): victim + "/.git", filepath.Join(at("store"), "objects", "info", "alternates"): victim + "/.git/objects",
	} {
		if err := os.WriteFile(file, []byte(text+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "git", "worktree", "add", "-q", filepath.Join(code, "worktree"))
	cmd.Dir = victim
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git worktree add: %v\n%s", err, out)
	}
	for name, want := range map[string]bool{"file": false, "link": false, "common": false, "store": false, "honest": true, "worktree": true} {
		if at, err := w.MarkAndAccess(t.Context(), nil, filepath.Join(code, name)); (err == nil) != want || !want && fault.Hint(err) == "" {
			t.Errorf("%s: it writes to %v and reads %v, %v; want an error: %v", name, at.Write, at.Read, err, !want)
		}
	}
}

// A folder in which something was confined is known without a repository in it.
func TestAbove(t *testing.T) {
	top := folder(t)
	plain, w := filepath.Join(top, "plain"), world(t, filepath.Join(top, "home"))
	if err := os.Mkdir(plain, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := w.MarkAndAccess(t.Context(), nil, plain); err != nil {
		t.Fatal(err)
	}
	if above := w.FoldersAbove(filepath.Join(plain, "web")); !slices.Contains(above, plain) {
		t.Errorf("Above = %v, want %s", above, plain)
	}
}

// Each command marks the folder and its repository, also if an earlier repository of that name or a folder above
// has a mark: a worktree and the moved repository know by their own marks that an agent was there.
func TestMarkedAnew(t *testing.T) {
	top := folder(t)
	w := world(t, filepath.Join(top, "home"))
	mark := func(dir string) {
		t.Helper()
		if _, err := w.MarkAndAccess(t.Context(), nil, dir); err != nil {
			t.Fatal(err)
		}
	}
	shop := repository(t, filepath.Join(top, "above", "shop"))
	mark(shop)
	if err := os.RemoveAll(shop); err != nil {
		t.Fatal(err)
	}
	repository(t, shop)
	mark(shop)
	mark(filepath.Dir(shop))
	mark(repository(t, filepath.Join(top, "above", "other")))
	for _, name := range []string{"shop", "other"} {
		moved := filepath.Join(top, "moved-"+name)
		if err := os.Rename(filepath.Join(top, "above", name), moved); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Lstat(filepath.Join(moved, ".git", "ralph-sandboxed")); err != nil {
			t.Errorf("the repository has no mark: %v", err)
		}
		mark(moved)
		if above := w.FoldersAbove(filepath.Join(moved, "web")); !slices.Contains(above, moved) {
			t.Errorf("Above = %v, want %s", above, moved)
		}
	}
}
