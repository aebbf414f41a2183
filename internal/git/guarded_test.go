package git_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/git/guarded"
)

// An agent in the user's own tree can read the alternates. It cannot write what
// git would run, also of a submodule or another worktree.
func TestNeeds(t *testing.T) {
	l := newLab(t)
	top := project(t)
	for _, name := range []string{".git/modules/sub/HEAD", ".git/modules/sub/objects/HEAD", ".git/worktrees/other/HEAD"} {
		write(t, filepath.Join(top, name), "ref: refs/heads/main\n")
	}
	write(t, filepath.Join(top, ".git/objects/info/alternates"), filepath.Join(l.trusted.Dir, "objects")+"\n")
	place := must(l.git.Inspect(t.Context(), top))(t)
	needs := must(l.git.Own(t.Context(), place))(t).Needs(t.Context())
	for _, name := range []string{".git", ".git/modules/sub", ".git/worktrees/other"} {
		for _, within := range []string{"", "info", "objects/info"} {
			if !slices.Contains(guardedIn(needs), filepath.Join(place.Top, name, within)) {
				t.Errorf("%s of %s is not guarded: %q", within, name, guardedIn(needs))
			}
		}
	}
	if !slices.Contains(needs.ReadOnly, filepath.Join(place.Top, ".gitmodules")) {
		t.Errorf(".gitmodules can be changed: %q", needs.ReadOnly)
	}
	if slices.Contains(guardedIn(needs), filepath.Join(place.Top, ".git/modules/sub/objects")) {
		t.Error("it looked for repositories among objects")
	}
	if !slices.Contains(needs.Read, filepath.Join(l.trusted.Dir, "objects")) || len(needs.Write) > 0 {
		t.Errorf("needs to read %q and write %q", needs.Read, needs.Write)
	}
}

// Settings behind a link of the user's in the project are guarded where they lie. Those elsewhere are not the project's.
func TestSettingsBehindALink(t *testing.T) {
	dir := must(filepath.EvalSymlinks(t.TempDir()))(t)
	top := filepath.Join(dir, "top")
	for _, name := range []string{"own/x", "../out/x"} {
		write(t, filepath.Join(top, name), "")
	}
	for link, to := range map[string]string{".hg": "own", ".sl": "../out", ".jj": "missing", ".claude": "own", ".gemini": "../out"} {
		if err := os.Symlink(to, filepath.Join(top, link)); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{".gitmodules", "own/config", "own/hgrc", "own/hgrc-not-shared", "own/settings.local.json", "own/sharedpath"}
	var got []string
	for _, path := range append(guarded.Folder(top).ReadOnly, guarded.LocalIn(top)...) {
		got = append(got, must(filepath.Rel(top, path))(t))
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("read-only are (-want +got):\n%s", diff)
	}
}

func guardedIn(needs guarded.Needs) (dirs []string) {
	for _, guard := range needs.Guarded {
		dirs = append(dirs, guard.Dir)
	}
	return dirs
}

// A submodule or worktree named like a git folder is guarded. A branch or reflog named like a file
// of a repository is not. Any one file of a repository is enough to recognize it.
func TestGuardedUnderAnyName(t *testing.T) {
	dir := t.TempDir()
	sha := strings.Repeat("a1", 20)
	var want []string
	for _, name := range []string{"logs", "hooks", "info", "refs", "objects", "lfs", "objects/ab"} {
		write(t, filepath.Join(dir, ".git/modules/lib", name, "config"), "[core]\n")
		want = append(want, ".git/modules/lib/"+name)
		if !strings.Contains(name, "/") { // as git names worktrees
			write(t, filepath.Join(dir, ".git/worktrees", name, "commondir"), "../..\n")
			want = append(want, ".git/worktrees/"+name)
		}
	}
	for _, trace := range []string{"HEAD", "config", "commondir", "gitdir", "index", "packed-refs"} {
		write(t, filepath.Join(dir, ".git/modules/only", trace, trace), "x")
		want = append(want, ".git/modules/only/"+trace)
	}
	write(t, filepath.Join(dir, ".git/modules/lib/config"), "[core]\n")
	write(t, filepath.Join(dir, ".git/modules/lib/refs/heads/config"), sha+"\n")
	write(t, filepath.Join(dir, ".git/modules/lib/refs/remotes/origin/HEAD"), "ref: refs/remotes/origin/main\n")
	write(t, filepath.Join(dir, ".git/modules/lib/logs/refs/heads/index"), sha+" "+sha+" Ada\n")
	got := guardedIn(guarded.Folder(dir))
	for _, name := range append(want, ".git/modules/lib", ".git") {
		if !slices.Contains(got, filepath.Join(dir, name)) {
			t.Errorf("%s is not guarded", name)
		}
	}
	for _, name := range []string{"refs/heads", "refs/remotes/origin", "logs/refs/heads"} {
		if slices.Contains(got, filepath.Join(dir, ".git/modules/lib", name)) {
			t.Errorf("%s is taken for a repository", name)
		}
	}
}

// An agent gets no access by writing to the list of alternates, nor by a list that
// names other folders.
func TestStoresAreLookedForOnce(t *testing.T) {
	l := newLab(t)
	top, list := project(t), filepath.Join(".git", "objects", "info", "alternates")
	write(t, filepath.Join(top, list), "/home/ada/.ssh\n/\n"+filepath.Join(l.trusted.Dir, "objects")+"\n")
	place := must(l.git.Inspect(t.Context(), top))(t)
	write(t, filepath.Join(top, list), "/elsewhere/objects\n")
	tree := must(l.git.Own(t.Context(), place))(t)
	borrowed := must(l.git.Borrow(t.Context(), place, filepath.Join(t.TempDir(), "borrowed.git")))(t)
	own, other := filepath.Join(place.Top, ".git", "objects"), filepath.Join(l.trusted.Dir, "objects")
	if diff := cmp.Diff([]string{other, l.git.Home}, tree.Needs(t.Context()).Read); diff != "" {
		t.Errorf("the tree needs (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{borrowed.Dir, own, other}, borrowed.Lent()); diff != "" {
		t.Errorf("lent is (-want +got):\n%s", diff)
	}
}

// The repository of a linked worktree is elsewhere, and writable there.
func TestNeedsOfAWorktree(t *testing.T) {
	g, _ := newGit(t)
	place := must(g.Inspect(t.Context(), project(t)))(t)
	made := must(g.AddWorktree(t.Context(), place, "side"))(t)
	there := must(g.Inspect(t.Context(), made.Dir))(t)
	needs := must(g.Own(t.Context(), there))(t).Needs(t.Context())
	if !slices.Contains(needs.ReadOnly, filepath.Join(there.Top, ".git")) {
		t.Errorf("where its repository lies can be changed: %q", needs.ReadOnly)
	}
	common := filepath.Join(place.Top, ".git")
	own := must(filepath.Glob(filepath.Join(common, "worktrees", "*")))(t)
	for _, dir := range append(own, common) {
		if !slices.Contains(guardedIn(needs), dir) {
			t.Errorf("%s is not guarded: %q", dir, guardedIn(needs))
		}
	}
	if diff := cmp.Diff([]string{common}, needs.Write); len(own) != 1 || diff != "" { // what they could replace is no way in
		t.Errorf("to be written to is (-want +got):\n%s", diff)
	}
}

func TestFiles(t *testing.T) {
	l := newLab(t)
	files := must(l.trusted.Files(t.Context(), l.base))(t)
	want := []string{".gitattributes", ".github/workflows/ci.yml", ".gitignore", "CODEOWNERS", "README.md", "src/main.go"}
	if !slices.Equal(files, want) {
		t.Errorf("Files = %q, want %q", files, want)
	}
	if _, err := l.trusted.Files(t.Context(), "main"); err == nil {
		t.Error("it takes a name for a commit")
	}
}

// If a submodule's repository cannot be found, all of them are read-only.
func TestGuardedWhereNotAllIsSeen(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, ".git/modules/a/config"), "[core]\n")
	write(t, filepath.Join(dir, ".git/modules", strings.Repeat("d/", 300), "config"), "[core]\n")
	write(t, filepath.Join(dir, ".git/worktrees/w/commondir"), "../..\n")
	needs := guarded.Folder(dir)
	modules, worktrees := filepath.Join(dir, ".git/modules"), filepath.Join(dir, ".git/worktrees")
	if !slices.Contains(needs.ReadOnly, modules) || slices.Contains(needs.ReadOnly, worktrees) {
		t.Errorf("read-only are %q, want %s among them", needs.ReadOnly, modules)
	}
}

// With hundreds of submodules, their folders are read-only as a whole: guarding each takes time.
func TestGuardedFoldersAreFew(t *testing.T) {
	dir := t.TempDir()
	for n := range 501 {
		write(t, filepath.Join(dir, ".git/modules", strconv.Itoa(n), "HEAD"), "x")
		write(t, filepath.Join(dir, ".git/worktrees", strconv.Itoa(n%500), "HEAD"), "x")
	}
	needs, modules := guarded.Folder(dir), filepath.Join(dir, ".git/modules")
	if diff := cmp.Diff([]string{filepath.Join(dir, ".gitmodules"), modules}, needs.ReadOnly); diff != "" || len(needs.Guarded) != 3*501 {
		t.Errorf("%d guards, and read-only are (-want +got):\n%s", len(needs.Guarded), diff)
	}
}

// A git folder is guarded also without a HEAD, or if it does not exist.
func TestGuardedByTheFolder(t *testing.T) {
	dir := t.TempDir()
	at := filepath.Join(dir, ".git")
	if got := guarded.Folder(dir); !slices.Contains(guardedIn(got), at) || !slices.Contains(got.ReadOnly, filepath.Join(dir, ".gitmodules")) {
		t.Errorf("where there is none: %q", got)
	}
	write(t, filepath.Join(at, "config"), "")
	write(t, filepath.Join(at, "modules/sub/config"), "")
	if got := guarded.Folder(dir); !slices.Contains(guardedIn(got), at) || !slices.Contains(guardedIn(got), filepath.Join(at, "modules/sub")) {
		t.Errorf("without a HEAD: %q", got)
	}
	tree := t.TempDir()
	write(t, filepath.Join(tree, ".git"), "gitdir: elsewhere\n")
	want := guarded.Needs{ReadOnly: []string{filepath.Join(tree, ".gitmodules"), filepath.Join(tree, ".git")}}
	if diff := cmp.Diff(want, guarded.Folder(tree)); diff != "" {
		t.Errorf("a file that leads there (-want +got):\n%s", diff)
	}
}

// A folder with an invalid .git is not part of a repository further up.
func TestInspectIsNotLedUpwards(t *testing.T) {
	g, _ := newGit(t)
	top := project(t)
	below := filepath.Join(top, "sub", "deep")
	write(t, filepath.Join(below, "x"), "")
	if place, err := g.Inspect(t.Context(), below); err != nil || filepath.Base(place.Top) != filepath.Base(top) {
		t.Errorf("Inspect = %+v, %v", place, err)
	}
	write(t, filepath.Join(top, "sub", ".git", "config"), "")
	if place, err := g.Inspect(t.Context(), below); err == nil {
		t.Errorf("Inspect = %+v", place)
	}
}
