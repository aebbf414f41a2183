package git_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
	"github.com/ralph-loop/ralph/internal/testsupport/short"
)

// field is a user's repository with many kinds of files.
type field struct {
	*testing.T
	dir  string
	tree *git.Tree
}

func newField(t *testing.T, sown string) *field {
	t.Helper()
	f := &field{T: t, dir: filepath.Join(t.TempDir(), "field")}
	sh(t, ".", "", "cp", "-a", sown, f.dir)
	g, _ := newGit(t)
	f.tree = must.Get(g.Own(t.Context(), git.Place{Top: f.dir}))(t)
	return f
}

// sow makes a field to be copied.
func sow(t *testing.T) string {
	t.Helper()
	f := &field{T: t, dir: t.TempDir()}
	f.git("init", "-q", "-b", "trunk")
	f.files("a", "1", "b", "1", "folder/c", "1", "ralph/prd.json", "1", "ralph/deep/d", "1", "ralph.txt", "1", ".ralph/settings.json", "1", ".gitignore", "*.log\n.ralph/\n")
	f.git("init", "-q", "module")
	f.git("-C", "module", "commit", "-q", "--allow-empty", "-m", "one")
	f.git("-c", "advice.addEmbeddedRepo=false", "add", "-A")
	f.git("add", "-f", ".ralph")
	f.git("commit", "-q", "-m", "begin")
	return f.dir
}

func (f *field) git(args ...string) string {
	f.Helper()
	return sh(f.T, f.dir, "", append([]string{"git"}, args...)...)
}

func (f *field) path(name string) string { return filepath.Join(f.dir, name) }

// files writes files, given as names and texts in turn.
func (f *field) files(pairs ...string) {
	f.Helper()
	for i := 0; i < len(pairs); i += 2 {
		write(f.T, f.path(pairs[i]), pairs[i+1])
	}
}

// plainly returns the tree of the working files without some paths, made with
// simple git commands.
func (f *field) plainly(without ...string) string {
	f.Helper()
	specs := []string{"add", "--all", "--ignore-errors", "--", "."}
	drop := []string{"rm", "-r", "-f", "-q", "--cached", "--ignore-unmatch", "--", "nothing"}
	for _, name := range append([]string{".ralph", ".ralph-active"}, without...) {
		specs = append(specs, ":(top,exclude,literal)"+name)
	}
	index := "GIT_INDEX_FILE=" + filepath.Join(f.TempDir(), "index")
	on := func(args ...string) string {
		f.Helper()
		// 1 says that some of it is ignored.
		return sh(f.T, f.dir, "", append([]string{"env", index, "sh", "-c", `git "$@" || test $? = 1`, "git"}, args...)...)
	}
	on("read-tree", "HEAD")
	on(append(drop, without...)...)
	on(specs...)
	for line := range strings.Lines(on("diff-index", "--cached", "--diff-filter=A", "--no-renames", "HEAD")) {
		if mode, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t"); strings.HasPrefix(mode, ":000000 160000") {
			on("update-index", "--force-remove", name)
		}
	}
	return on("write-tree")
}

// situations are states of a tree.
var situations = map[string]func(*field){
	"nothing":             func(*field) {},
	"a change":            func(f *field) { f.files("a", "22") },
	"a deletion":          func(f *field) { f.git("rm", "-q", "--cached", "b"); f.remove("b"); f.git("reset", "-q") },
	"a new folder":        func(f *field) { f.files("new/folder/x", "1", "new/y", "1") },
	"a folder for a file": func(f *field) { f.remove("a"); f.files("a/x", "1") },
	"a link for a file":   func(f *field) { f.remove("a"); must.Do(f, os.Symlink("b", f.path("a"))) },
	"a mode":              func(f *field) { must.Do(f, os.Chmod(f.path("a"), 0o755)) },
	"odd names":           func(f *field) { f.files("new \t\"x\"", "1", "ü", "1", "-f", "1") },
	"ignored":             func(f *field) { f.files("x.log", "1") },
	"staged":              func(f *field) { f.files("a", "22", "new", "1"); f.git("add", "-A") },
	"staged, then undone": func(f *field) { f.files("a", "22"); f.git("add", "a"); f.files("a", "1") },
	"unstaged":            func(f *field) { f.git("rm", "-q", "--cached", "a") },
	"to be added":         func(f *field) { f.files("new", "1", "x.log", "1"); f.git("add", "-N", "-f", "new", "x.log") },
	"ours staged":         func(f *field) { f.files(".ralph/settings.json", "2", ".ralph/new", "1"); f.git("add", "-f", ".ralph") },
	"ours changed":        func(f *field) { f.files(".ralph/settings.json", "2", ".ralph/new", "1") },
	"books changed":       func(f *field) { f.files("ralph/prd.json", "2", "ralph/new", "1", "ralph/deep/d", "2") },
	"books gone":          func(f *field) { f.remove("ralph") },
	"books for a file":    func(f *field) { f.remove("ralph"); f.files("ralph", "1") },
	"books and work":      func(f *field) { f.files("ralph/prd.json", "2", "a", "22") },
	"no books": func(f *field) {
		f.git("rm", "-q", "-r", "ralph")
		f.git("commit", "-qm", "no books")
		f.files("a", "22")
	},
	"a module and work": func(f *field) { f.files("module/x", "1", "a", "22") },
	"a repository":      func(f *field) { f.within("within") },
	"one staged":        func(f *field) { f.within("within"); f.git("-c", "advice.addEmbeddedRepo=false", "add", "-A") },
	"one for a folder":  func(f *field) { f.remove("folder"); f.within("folder") },
	"a conflict":        (*field).conflict,
	"too fast to see":   (*field).racy,
}

func (f *field) remove(name string) { f.Helper(); must.Do(f, os.RemoveAll(f.path(name))) }

func (f *field) within(name string) {
	f.Helper()
	f.git("init", "-q", name)
	f.git("-C", name, "commit", "-q", "--allow-empty", "-m", "x")
}

func (f *field) move() {
	f.Helper()
	f.git("-C", "module", "commit", "-q", "--allow-empty", "-m", "two")
}

func (f *field) conflict() {
	f.Helper()
	f.git("branch", "side")
	f.files("a", "ours")
	f.git("commit", "-qam", "ours")
	f.git("switch", "-q", "side")
	f.files("a", "theirs")
	f.git("commit", "-qam", "theirs")
	sh(f.T, f.dir, "", "sh", "-c", "! git merge -q trunk >/dev/null")
}

// racy changes a file right after the index was written, so that its size and
// times equal those in the index.
func (f *field) racy() {
	f.Helper()
	f.git("config", "core.trustctime", "false")
	info, err := os.Stat(f.path("a"))
	must.Do(f, err)
	f.files("a", "2")
	must.Do(f, os.Chtimes(f.path("a"), info.ModTime(), info.ModTime()))
	must.Do(f, os.Chtimes(f.path(".git/index"), info.ModTime(), info.ModTime()))
}

// A snapshot and a commit equal those made with simple git commands.
func TestSnapshotIsWhatGitSees(t *testing.T) {
	sown := sow(t)
	for name, happen := range situations {
		if !short.Has(name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newField(t, sown)
			must.Get(f.tree.Look(t.Context()))(t) // it may remember
			happen(f)
			dirty := f.git("status", "--porcelain", "--ignore-submodules=all", "--", ".", ":!.ralph") != ""
			seen := must.Get(f.tree.Inspect(t.Context()))(t)
			if seen.Dirty != dirty || seen.Head != f.git("rev-parse", "HEAD") || seen.Tree != f.git("rev-parse", "HEAD^{tree}") {
				t.Errorf("Inspect = %+v, want dirty %t", seen, dirty)
			}
			for _, beside := range [][]string{{"ralph/deep", "none"}, {"b", "ralph", "none"}} {
				f.tree.Beside = beside
				got, want := must.Get(f.tree.Look(t.Context()))(t).Work, f.plainly(beside...)
				if got != want {
					t.Errorf("beside %v Snapshot differs:\n%s", beside, f.git("diff", "--raw", want, got))
				}
			}
			want := f.plainly()
			sha := must.Get(must.Get(f.tree.Inspect(t.Context()))(t).CommitAll(t.Context(), git.Message{Subject: "all"}))(t)
			if got := f.git("rev-parse", sha+"^{tree}"); got != want {
				t.Errorf("CommitAll differs:\n%s", f.git("diff", "--raw", want, got))
			}
		})
	}
}

// What happens to a submodule alone is no work: a pull leaves it behind.
func TestASubmoduleAloneIsNoWork(t *testing.T) {
	sown := sow(t)
	for name, happen := range map[string]func(*field){
		"moved":  (*field).move,
		"staged": func(f *field) { f.move(); f.git("add", "module") },
		"gone":   func(f *field) { f.remove("module") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newField(t, sown)
			happen(f)
			seen := must.Get(f.tree.Look(t.Context()))(t)
			if head := f.git("rev-parse", "HEAD^{tree}"); seen.Dirty || seen.Work != head {
				t.Errorf("dirty %v: %s", seen.Dirty, f.git("diff", "--raw", head, seen.Work))
			}
		})
	}
}

// CommitSnapshot commits the paths in Beside as they are now, and other files as
// they were.
func TestCommitSnapshotIsWhatGitSees(t *testing.T) {
	sown := sow(t)
	for name, happen := range situations {
		if !short.Has(name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			newField(t, sown).commitHeld("ralph", happen)
		})
	}
	t.Run("books in a new folder", func(t *testing.T) {
		newField(t, sown).commitHeld("new/folder", situations["a new folder"])
	})
}

// commitHeld commits a snapshot from before a change.
func (f *field) commitHeld(beside string, happen func(*field)) {
	f.Helper()
	f.tree.Beside = []string{beside}
	f.files("a", "held", "held", "1")
	held := must.Get(f.tree.Look(f.Context()))(f.T).Work
	happen(f)
	commit := func() string {
		f.Helper()
		seen := must.Get(f.tree.Inspect(f.Context()))(f)
		return must.Get(seen.CommitSnapshot(f.Context(), held, git.Message{Subject: "held"}))(f)
	}
	sha := commit()
	books := func(tree string) string { return f.git("ls-tree", "-r", tree, "--", beside) }
	if got, want := books(sha), books(f.plainly()); got != want {
		f.Errorf("the books are\n%s\nwant\n%s", got, want)
	}
	work := func(tree string) string {
		return f.git("ls-tree", "-r", tree, "--", "a", "b", "folder", "held", "module", "ralph.txt")
	}
	if got, want := work(sha), work(held); got != want {
		f.Errorf("the work is\n%s\nwant\n%s", got, want)
	}
	if again := commit(); again != sha {
		f.Errorf("with nothing new it is %s, want %s", again, sha)
	}
}
