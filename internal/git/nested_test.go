package git_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/git/guarded"
)

// What is guarded goes by the folder: without a HEAD, or without any .git, too.
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

// A folder whose .git is none to git is not part of a repository further up.
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

// Other repositories in a tree are found, and what git would run of them.
func TestNested(t *testing.T) {
	top := project(t)
	for _, name := range []string{"n/.git/config", "b/.git", "c/HEAD", "c/objects/x", "c/refs/x", "d/HEAD", "e/.git/hooks/pre-push", "f/.git/config"} {
		write(t, filepath.Join(top, name), "x")
	}
	before := treeOf(top).Look(t.Context())
	if diff := cmp.Diff([]string{"b/.git", "c", "e/.git", "f/.git", "n/.git"}, before.Since(nil)); diff != "" {
		t.Errorf("found (-want +got):\n%s", diff)
	}
	for _, name := range []string{"n/.git/config", "b/.git", "c/config", "e/.git/hooks/pre-push", "f/.git/index", "f/x", ".git/config", "g/.git/HEAD"} {
		write(t, filepath.Join(top, name), "y")
	}
	if diff := cmp.Diff([]string{"b/.git", "c", "e/.git", "g/.git", "n/.git"}, treeOf(top).Look(t.Context()).Since(before.Nested)); diff != "" {
		t.Errorf("changed (-want +got):\n%s", diff)
	}
	before = treeOf(top).Look(t.Context())
	if err := os.Chmod(filepath.Join(top, "e/.git/hooks/pre-push"), 0o755); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"e/.git"}, treeOf(top).Look(t.Context()).Since(before.Nested)); diff != "" {
		t.Errorf("a hook that can be run (-want +got):\n%s", diff)
	}
}

// What git would run of a repository is moved aside; a repository as git makes it
// stays.
func TestDisarm(t *testing.T) {
	g, _ := newGit(t)
	top := project(t)
	for name, text := range map[string]string{
		"plain/.git/config":                 "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = https://example.com/x\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n\tmerge = refs/heads/main\n",
		"plain/.git/hooks/pre-push.sample":  "x",
		"home/.git/config":                  "[core]\n\tworktree = " + filepath.Dir(top) + "\n",
		"inner/.git/config":                 "[core]\n\tworktree = ../../plain/.git\n",
		"up/.git/config":                    "[core]\n\tworktree = ../..\n",
		"sub/.git":                          "gitdir: ../.git/modules/sub",
		".git/modules/sub/config":           "[core]\n\tworktree = ../../../sub\n",
		"monitor/.git/config":               "[core]\n\tfsmonitor = x\n",
		"include/.git/config":               "[include]\n\tpath = ../x\n",
		"half/.git/rebase-merge/todo":       "exec x\n",
		"half/.git/description":             "x",
		"half/.git/COMMIT_EDITMSG":          "x",
		"filter/.git/config":                "[filter \"x\"]\n\tclean = x\n",
		"broken/.git/config":                "[core",
		"worktree/.git/config.worktree":     "[core]\n\thooksPath = x\n",
		"hook/.git/hooks/post-index-change": "x",
		"common/.git/commondir":             "../../elsewhere",
		"out/.git":                          "gitdir: ../../elsewhere",
		"odd/.git":                          "x",
		"led/.git":                          "gitdir: ../.git/modules/led",
		".git/modules/led/config":           "[core]\n\tsshCommand = x\n",
		"beside/.git":                       "gitdir: " + filepath.Join(top, ".git/worktrees/beside"),
		".git/worktrees/beside/commondir":   "../..\n",
		"bare/config":                       "[core]\n\tpager = x\n",
		"lent/.git/objects/info/alternates": "../../../plain/.git/objects\n" + filepath.Join(filepath.Dir(top), "elsewhere") + "\n",
		"near/.git/objects/info/alternates": "../../../plain/.git/objects\n",
		"plain/.git/objects/x":              "x",
	} {
		write(t, filepath.Join(top, name), text)
	}
	write(t, filepath.Join(top, "closed/.git/config"), "[core]\n\tfsmonitor = x\n")
	write(t, filepath.Join(top, "closed/.git/config"+guarded.Aside, "x"), "")
	if err := os.Chmod(filepath.Join(top, "closed/.git"), 0o500); err != nil {
		t.Fatal(err)
	}
	// The project's own git folder stays as it is, and so does what lies beside another git folder.
	write(t, filepath.Join(top, ".git/config"), "[core]\n\tfsmonitor = mine\n")
	write(t, filepath.Join(top, "config"), "[core]\n\tfsmonitor = x\n")
	write(t, filepath.Join(top, "both/.git/config"), "[alias]\n\tmine = !mine\n")
	write(t, filepath.Join(top, "both/config"), "[core]\n\tfsmonitor = x\n")
	names := []string{".git", ".", "both", ".git/modules/led", ".git/modules/sub", "bare", "gone"}
	for _, name := range []string{"plain", "home", "inner", "up", "sub", "monitor", "include", "half", "filter", "broken", "worktree", "hook", "common", "out", "odd", "led", "beside", "closed", "lent", "near"} {
		names = append(names, name+"/.git")
	}
	moved, err := g.Disarm(t.Context(), treeOf(top), names)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, path := range []string{
		"config", "both/config", ".git/modules/led/config", "bare/config", "home/.git/config", "inner/.git/config", "up/.git/config", "monitor/.git/config", "include/.git/config", "half/.git/rebase-merge", "filter/.git/config", "broken/.git/config", "worktree/.git/config.worktree", "hook/.git/hooks",
		"common/.git/commondir", "out/.git", "odd/.git", "closed/.git/config", "lent/.git/objects/info/alternates",
	} {
		want = append(want, path+guarded.Aside)
		if _, err := os.Lstat(filepath.Join(top, path)); err == nil {
			t.Errorf("%s is still there", path)
		}
	}
	if diff := cmp.Diff(want, moved); diff != "" {
		t.Errorf("moved (-want +got):\n%s", diff)
	}
	if earlier, err := filepath.Glob(filepath.Join(top, "closed/.git/config.*"+guarded.Aside, "x")); err != nil || len(earlier) != 1 {
		t.Errorf("what was moved before is gone: %q, %v", earlier, err)
	}
	if moved, err := g.Disarm(t.Context(), treeOf(top), names); err != nil || len(moved) > 0 {
		t.Errorf("moved again: %q, %v", moved, err)
	}
}

// What the configuration of a nested repository includes belongs to it, at any depth.
func TestNestedIncludes(t *testing.T) {
	g, _ := newGit(t)
	top := project(t)
	write(t, filepath.Join(top, "web/.git/config"), "[include]\n\tpath = ../first.cfg\n")
	write(t, filepath.Join(top, "web/first.cfg"), "[includeIf \"onbranch:x\"]\n\tpath = ../second.cfg\n")
	look := treeOf(top)
	look.Includes = g.Includes(t.Context())
	before := look.Look(t.Context())
	if diff := cmp.Diff([]string(nil), look.Look(t.Context()).Since(before.Nested)); diff != "" {
		t.Errorf("changed at first (-want +got):\n%s", diff)
	}
	write(t, filepath.Join(top, "second.cfg"), "[core]\n\tfsmonitor = x\n")
	if diff := cmp.Diff([]string{"web/.git"}, look.Look(t.Context()).Since(before.Nested)); diff != "" {
		t.Errorf("changed (-want +got):\n%s", diff)
	}
	moved, err := g.Disarm(t.Context(), look, []string{"web/.git"})
	if diff := cmp.Diff([]string{"web/.git/config" + guarded.Aside}, moved); err != nil || diff != "" {
		t.Errorf("moved, %v (-want +got):\n%s", err, diff)
	}
}

// A bare repository may keep its objects and refs elsewhere, and lie in a folder of
// ralph's own.
func TestNestedElsewhere(t *testing.T) {
	top := project(t)
	for _, name := range []string{"linked/HEAD", "shared/HEAD", "shared/commondir", ".ralph/sub/.git/config", "other/HEAD", "stores/objects/x", "stores/refs/x"} {
		write(t, filepath.Join(top, name), "x")
	}
	for _, name := range []string{"objects", "refs"} {
		if err := os.Symlink("../stores/"+name, filepath.Join(top, "linked", name)); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{".ralph/sub/.git", "linked", "shared"}, treeOf(top).Look(t.Context()).Since(nil)); diff != "" {
		t.Errorf("found (-want +got):\n%s", diff)
	}
}

// A link may lead to a repository that lies within a git folder, the tree's own or
// that of another one. What git makes there itself is none.
func TestNestedInGitFolders(t *testing.T) {
	top := project(t)
	for _, name := range []string{".git/logs/HEAD", ".git/logs/refs/x", ".git/refs/remotes/origin/HEAD", ".git/objects/ab/cd", "n/.git/HEAD", "n/.git/objects/x", "n/.git/refs/x"} {
		write(t, filepath.Join(top, name), "x")
	}
	before := treeOf(top).Look(t.Context())
	if diff := cmp.Diff([]string{"n/.git"}, before.Since(nil)); diff != "" {
		t.Errorf("as git makes them (-want +got):\n%s", diff)
	}
	for _, name := range []string{
		".git/objects/src/.git/config", ".git/logs/objects/x", ".git/modules/m/HEAD", ".git/modules/m/objects/x", ".git/modules/m/refs/x",
		"n/.git/objects/in/.git", "n/.git/lfs/HEAD", "n/.git/lfs/commondir",
	} {
		write(t, filepath.Join(top, name), "x")
	}
	want := []string{".git/logs", ".git/modules/m", ".git/objects/src/.git", "n/.git/lfs", "n/.git/objects/in/.git"}
	if diff := cmp.Diff(want, treeOf(top).Look(t.Context()).Since(before.Nested)); diff != "" {
		t.Errorf("made (-want +got):\n%s", diff)
	}
}

func treeOf(top string) guarded.Search { return guarded.Search{Top: top, Git: ".git", All: true} }

// A linked worktree has its repository elsewhere: in there others may lie, too.
func TestNestedInTheFolderOfALinkedWorktree(t *testing.T) {
	g, _ := newGit(t)
	top, tree := project(t), t.TempDir()
	common := filepath.Join(top, ".git")
	for _, name := range []string{
		"HEAD", "objects/x", "refs/x", "config", "worktrees/wt/HEAD", "worktrees/wt/index", "objects/in/.git/config", "worktrees/HEAD", "worktrees/commondir", "worktrees/objects/in/.git/config",
	} {
		write(t, filepath.Join(common, name), "[core]\n\tfsmonitor = x\n")
	}
	write(t, filepath.Join(common, "worktrees/wt/commondir"), "../..\n")
	write(t, filepath.Join(tree, "in/.git/config"), "x")
	where := guarded.Searches(tree, []string{tree, common, filepath.Join(common, "worktrees/wt")}, nil)
	if len(where) != 2 {
		t.Fatalf("searched: %+v", where)
	}
	if diff := cmp.Diff([]string{"in/.git"}, where[0].Look(t.Context()).Since(nil)); diff != "" {
		t.Errorf("in the tree (-want +got):\n%s", diff)
	}
	names := where[1].Look(t.Context()).Since(nil)
	if diff := cmp.Diff([]string{".git/objects/in/.git", ".git/worktrees", ".git/worktrees/objects/in/.git", ".git/worktrees/wt"}, names); diff != "" {
		t.Errorf("in the git folder (-want +got):\n%s", diff)
	}
	moved, err := g.Disarm(t.Context(), where[1], names)
	want := []string{".git/objects/in/.git/config", ".git/worktrees/commondir", ".git/worktrees/objects/in/.git/config"}
	for i := range want {
		want[i] += guarded.Aside
	}
	if diff := cmp.Diff(want, moved); diff != "" || err != nil {
		t.Errorf("moved, %v (-want +got):\n%s", err, diff)
	}
}

// What was too much to be looked at may have changed each time.
func TestNestedBeyondWhatIsLookedAt(t *testing.T) {
	large := guarded.Nested{"a": "x", guarded.NotAll: ""}
	if diff := cmp.Diff([]string{guarded.NotAll}, large.Since(large)); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}
