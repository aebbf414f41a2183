package git_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
)

// An overlay takes only the given files of the other commit: changed, added and
// removed ones.
func TestGraft(t *testing.T) {
	l := newLab(t)
	to := l.commit("one", map[string]string{"README.md": "# changed\n", "tests/a.sh": "true\n", "src/b.go": "package main\n"})
	l.take(l.terms())
	ctx := t.Context()
	names := must.Get(l.trusted.ChangedPaths(ctx, git.Span{From: l.base, To: to}))(t)
	if diff := cmp.Diff([]string{"README.md", "src/b.go", "tests/a.sh"}, names); diff != "" {
		t.Errorf("Names (-want +got):\n%s", diff)
	}
	for name, test := range map[string]struct {
		graft git.Overlay
		want  []string // that differ from Onto
	}{
		"tests onto the base": {git.Overlay{Onto: l.base, From: to, Paths: []string{"tests/a.sh"}}, []string{"tests/a.sh"}},
		"back to the base":    {git.Overlay{Onto: to, From: l.base, Paths: []string{"README.md", "src/b.go"}}, []string{"README.md", "src/b.go"}},
		"a text of its own":   {git.Overlay{Onto: to, From: l.base, Texts: map[string][]byte{"tests/a.sh": []byte("false\n"), "tests/new/b.sh": nil}}, []string{"tests/a.sh", "tests/new/b.sh"}},
		"what is the same":    {git.Overlay{Onto: l.base, From: to, Paths: []string{"CODEOWNERS", "nowhere"}}, nil},
	} {
		made := must.Get(l.trusted.Overlay(ctx, test.graft))(t)
		if again := must.Get(l.trusted.Overlay(ctx, test.graft))(t); again != made {
			t.Errorf("%s: made %s and %s", name, made, again)
		}
		if diff := cmp.Diff(test.want, l.differing(test.graft.Onto, made)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		dir := filepath.Join(t.TempDir(), "clean")
		must.Get(l.trusted.Clone(ctx, git.CloneSpec{Dir: dir, SHA: made}))(t)
		if left := l.sh(dir, "git", "status", "--porcelain"); left != "" {
			t.Errorf("%s: its checkout is not clean:\n%s", name, left)
		}
	}
	without := must.Get(l.trusted.Overlay(ctx, git.Overlay{Onto: to, From: l.base, Without: []string{"src/b.go", "nowhere"}}))(t)
	if touched := l.differing(to, without); !slices.Equal(touched, []string{"src/b.go"}) {
		t.Errorf("left out: %q", touched)
	}
	if gone := l.sh(".", "git", "--git-dir="+l.trusted.Dir, "for-each-ref", "--contains="+must.Get(l.trusted.Overlay(ctx, git.Overlay{Onto: l.base, From: to, Paths: []string{"tests/a.sh"}}))(t)); gone != "" {
		t.Errorf("a ref leads to it: %s", gone)
	}
}

// differing returns the paths that differ between two commits.
func (l *lab) differing(from, to string) (paths []string) {
	for _, change := range must.Get(l.trusted.Compare(l.Context(), git.Span{From: from, To: to}))(l.T) {
		paths = append(paths, change.Path)
	}
	return paths
}

// A file can replace a folder, and a folder a file.
func TestGraftTurnsFilesIntoFolders(t *testing.T) {
	l := newLab(t)
	l.sh(l.tree.Dir, "git", "rm", "-q", "README.md")
	to := l.commit("one", map[string]string{"README.md/a_test.go": "package a\n"})
	l.take(l.terms())
	for _, graft := range []git.Overlay{
		{Onto: l.base, From: to, Paths: []string{"README.md/a_test.go"}},
		{Onto: to, From: l.base, Paths: []string{"README.md"}},
	} {
		if made := must.Get(l.trusted.Overlay(t.Context(), graft))(t); made == graft.Onto {
			t.Errorf("nothing came of %+v", graft)
		}
	}
}

// A text keeps the mode of the file that it replaces.
func TestGraftKeepsModes(t *testing.T) {
	l := newLab(t)
	l.commit("one", map[string]string{"tests/a.sh": "true\n", "tests/b.sh": "true\n"})
	l.sh(l.tree.Dir, "git", "update-index", "--chmod=+x", "tests/a.sh")
	to := l.commit("two", map[string]string{"tests/c.sh": "true\n"})
	l.take(l.terms())
	text := []byte("false\n")
	made := must.Get(l.trusted.Overlay(t.Context(), git.Overlay{Onto: to, From: l.base, Texts: map[string][]byte{"tests/a.sh": text, "tests/b.sh": text}}))(t)
	got := l.sh(".", "git", "--git-dir="+l.trusted.Dir, "ls-tree", "-r", "--format=%(objectmode) %(path)", made, "tests/")
	if diff := cmp.Diff("100755 tests/a.sh\n100644 tests/b.sh\n100644 tests/c.sh", got); diff != "" {
		t.Errorf("modes (-want +got):\n%s", diff)
	}
	if read := must.Get(l.trusted.ReadFile(t.Context(), git.At{Commit: made, Path: "tests/a.sh"}, 100))(t); string(read) != "false\n" {
		t.Errorf("it holds %q", read)
	}
}

// The history and HEAD of an overlay do not tell that it is one.
func TestOverlayIsLikeItsCommit(t *testing.T) {
	g, _ := newGit(t)
	top := project(t)
	write(t, filepath.Join(top, "a"), "2")
	sh(t, top, "", "git", "commit", "-qam", "more\n\n- of it")
	trusted, span := borrowed(t, g, top)
	overlay := git.Overlay{Onto: span.To, From: span.From, Paths: []string{"a"}}
	const format = "--format=%P %an %ae %at %cn %ce %ct %B"
	want := sh(t, top, "", "git", "log", format)
	for name, commit := range map[string]string{"the overlay": span.To, "of an overlay": must.Get(trusted.Overlay(t.Context(), overlay))(t)} {
		again := overlay
		again.Onto, again.Texts = commit, map[string][]byte{"b": []byte("b\n")}
		dir := filepath.Join(t.TempDir(), "clean")
		must.Get(trusted.Clone(t.Context(), git.CloneSpec{Dir: dir, SHA: must.Get(trusted.Overlay(t.Context(), again))(t)}))(t)
		if diff := cmp.Diff(want, sh(t, dir, "", "git", "log", format)); diff != "" {
			t.Errorf("the log %s (-want +got):\n%s", name, diff)
		}
	}
}

// Where the history ends at a commit, it ends at an overlay of it, too.
func TestOverlayOfTheEndOfHistory(t *testing.T) {
	g, _ := newGit(t)
	top := project(t)
	for _, text := range []string{"2", "3"} {
		write(t, filepath.Join(top, "a"), text)
		sh(t, top, "", "git", "commit", "-qam", text)
	}
	clone := filepath.Join(t.TempDir(), "clone")
	sh(t, top, "", "git", "clone", "-q", "--depth=2", "file://"+top, clone)
	trusted, span := borrowed(t, g, clone)
	made := must.Get(trusted.Overlay(t.Context(), git.Overlay{Onto: span.From, From: span.To, Paths: []string{"a"}}))(t)
	dir := filepath.Join(t.TempDir(), "clean")
	must.Get(trusted.Clone(t.Context(), git.CloneSpec{Dir: dir, SHA: made}))(t)
	if log := sh(t, dir, "", "git", "log", "--format=%s"); log != "2" {
		t.Errorf("its log is %q", log)
	}
}
