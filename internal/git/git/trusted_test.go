package git_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/remote"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
)

func TestMirror(t *testing.T) {
	l := newLab(t)
	work := t.TempDir()
	l.sh(work, "git", "clone", "-q", l.remote, ".")
	l.sh(work, "git", "switch", "-q", "-c", "work")
	l.sh(work, "git", "commit", "-q", "--allow-empty", "-m", "earlier work")
	l.sh(work, "git", "tag", "v1")
	l.sh(work, "git", "push", "-q", "origin", "work", "work:private", "v1")
	l.trusted = must.Get((remote.Repository{URL: "file://" + l.remote}).Clone(t.Context(), l.git, l.trusted.Dir, remote.Branches{Base: "main", Work: []string{"work"}}))(t)
	if got, want := l.in("for-each-ref", "--format=%(refname)"), "refs/heads/main\nrefs/heads/work"; got != want {
		t.Errorf("it holds %q, want %q", got, want)
	}
	l.sh(work, "git", "push", "-q", "origin", ":work")
	must.Get((remote.Repository{URL: l.remote}).Clone(t.Context(), l.git, l.trusted.Dir, remote.Branches{Base: "main", Work: []string{"work"}}))(t)
	if _, err := l.trusted.Resolve(t.Context(), "refs/heads/work"); !errors.Is(err, git.ErrNotFound) {
		t.Errorf("a branch that is gone resolves: %v", err)
	}
}

func TestBorrow(t *testing.T) {
	l := newLab(t)
	work := t.TempDir()
	l.sh(work, "git", "clone", "-q", "--depth=1", "file://"+l.remote, ".")
	l.sh(work, "git", "branch", "other")
	place := must.Get(l.git.Inspect(t.Context(), work))(t)
	dir := filepath.Join(t.TempDir(), "borrowed.git")
	for range 2 {
		l.trusted = must.Get(l.git.Borrow(t.Context(), place, dir, "other", "none"))(t)
	}
	if head := must.Get(l.trusted.Resolve(t.Context(), "HEAD"))(t); head != place.Head {
		t.Errorf("HEAD = %s, want %s", head, place.Head)
	}
	if got, want := l.in("for-each-ref", "--format=%(refname)"), "refs/heads/main\nrefs/heads/other"; got != want {
		t.Errorf("it holds %q, want %q", got, want)
	}
	before := l.sh(work, "find", ".git")
	l.tree = must.Get(l.trusted.Clone(t.Context(), git.CloneSpec{Dir: filepath.Join(t.TempDir(), "t"), Branch: "work", SHA: place.Head}))(t)
	l.commit("one", map[string]string{"a": "1"})
	if got := l.take(l.terms()); len(got.Commits) != 1 {
		t.Errorf("Take = %+v, want one commit", got)
	}
	if after := l.sh(work, "find", ".git"); after != before {
		t.Errorf("the user's repository was touched:\n%s", cmp.Diff(before, after))
	}
}

// The agent reads the repository's own store of objects, by a link. One that takes objects from elsewhere is refused.
func TestLent(t *testing.T) {
	g, _ := newGit(t)
	top := project(t)
	place := must.Get(g.Inspect(t.Context(), top))(t)
	borrowed := must.Get(g.Borrow(t.Context(), place, filepath.Join(t.TempDir(), "borrowed.git")))(t)
	if diff := cmp.Diff([]string{borrowed.Dir, borrowed.Dir + ".lent"}, borrowed.Lent()); diff != "" {
		t.Errorf("Lent (-want +got):\n%s", diff)
	}
	if to, err := os.Readlink(borrowed.Dir + ".lent"); err != nil || to != filepath.Join(place.Top, ".git", "objects") {
		t.Errorf("the repository's own store is %q, %v", to, err)
	}
	alternates := filepath.Join(place.Top, ".git/objects/info/alternates")
	write(t, alternates, "/elsewhere/objects\n")
	_, err := g.Borrow(t.Context(), place, filepath.Join(t.TempDir(), "more.git"))
	if !strings.HasSuffix(fault.Hint(err), "rm "+alternates) {
		t.Errorf("Borrow = %v", err)
	}
}

func TestBorrowWorktreeAndSHA256(t *testing.T) {
	g, _ := newGit(t)
	dir, work := t.TempDir(), filepath.Join(t.TempDir(), "linked")
	sh(t, dir, "", "git", "init", "-q", "--object-format=sha256")
	sh(t, dir, "", "git", "commit", "-q", "--allow-empty", "-m", "x")
	sh(t, dir, "", "git", "worktree", "add", "-q", work)
	place := must.Get(g.Inspect(t.Context(), work))(t)
	trusted := must.Get(g.Borrow(t.Context(), place, filepath.Join(t.TempDir(), "b")))(t)
	l := &lab{T: t, trusted: trusted, base: place.Head}
	l.tree = must.Get(trusted.Clone(t.Context(), git.CloneSpec{Dir: filepath.Join(t.TempDir(), "t"), Branch: "work", SHA: place.Head}))(t)
	l.commit("one", map[string]string{"a": "1", "CODEOWNERS": "evil"})
	if got := l.take(l.terms()); len(got.Commits) != 1 || len(got.To) != 64 || len(got.Dropped) != 1 {
		t.Errorf("Take = %+v, want one commit made again", got)
	}
}

func TestRead(t *testing.T) {
	l := newLab(t)
	l.commit("one\x1b[31m red", map[string]string{"a": "1", "README.md": "# changed\n"})
	to := l.take(l.terms()).To
	ctx, span := t.Context(), git.Span{From: l.base, To: to}
	if diff := cmp.Diff([]journal.Commit{{SHA: to, Subject: "one[31m red"}}, must.Get(l.trusted.Log(ctx, span))(t)); diff != "" {
		t.Errorf("Log (-want +got):\n%s", diff)
	}
	text, cut, err := l.trusted.Diff(ctx, span, 1<<16)
	if err != nil || cut || !strings.Contains(text, "-# a project\n+# changed\n") {
		t.Errorf("Diff = %q, %v, %v", text, cut, err)
	}
	for _, size := range []int{10, len(text) / 2, len(text) - 1} { // in the middle of a line
		want := text[:strings.LastIndexByte(text[:size], '\n')+1]
		if got, cut, err := l.trusted.Diff(ctx, span, size); err != nil || !cut || got != want {
			t.Errorf("Diff = %q, %v, %v; want %q, its whole lines", got, cut, err, want)
		}
	}
	file := must.Get(l.trusted.ReadFile(ctx, git.At{Commit: l.base, Path: "src/main.go"}, 100))(t)
	if string(file) != "package main\n" {
		t.Errorf("ReadFile = %q", file)
	}
	if _, err := l.trusted.ReadFile(ctx, git.At{Commit: l.base, Path: "a"}, 100); !errors.Is(err, git.ErrNotFound) {
		t.Errorf("ReadFile of nothing = %v", err)
	}
	for _, path := range []string{"src", "README.md", "../x", "/etc/passwd", "./a"} {
		if _, err := l.trusted.ReadFile(ctx, git.At{Commit: l.base, Path: path}, 5); err == nil || errors.Is(err, git.ErrNotFound) {
			t.Errorf("ReadFile of %s = %v", path, err)
		}
	}
	for _, rev := range []string{"none", "--help", strings.Repeat("0", 40), "HEAD:src"} {
		if _, err := l.trusted.Resolve(ctx, rev); !errors.Is(err, git.ErrNotFound) {
			t.Errorf("Resolve(%q) = %v, want ErrNotFound", rev, err)
		}
	}
	if _, err := l.trusted.TreeOf(ctx, "HEAD"); err == nil {
		t.Error("TreeOf takes what is not a commit id")
	}
}

func TestCheckBranch(t *testing.T) {
	for _, name := range []string{"main", "ralph/issue-7-a.b", "ü"} {
		if err := git.CheckBranch(name); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{
		"", "-x", "a..b", "a/", "/a", "a//b", ".a", "a/.b", "a.lock", "a.lock/b", "a b", "a~", "a^", "a:b", "a?", "a*", "a[", `a\`, "a@{b", "@", "HEAD", "a.", "a\n",
	} {
		if git.CheckBranch(name) == nil {
			t.Errorf("CheckBranch(%q) = nil", name)
		}
	}
}

// desk returns a user's clone that the trusted repository borrows from.
func (l *lab) desk() (work string, place git.Place) {
	l.Helper()
	work = l.TempDir()
	l.sh(work, "git", "clone", "-q", l.remote, ".")
	place = must.Get(l.git.Inspect(l.Context(), work))(l.T)
	l.trusted = must.Get(l.git.Borrow(l.Context(), place, filepath.Join(l.TempDir(), "b.git")))(l.T)
	l.tree = must.Get(l.trusted.Clone(l.Context(), git.CloneSpec{Dir: filepath.Join(l.TempDir(), "t"), Branch: "work", SHA: l.base}))(l.T)
	return work, place
}

// A delivery is complete, and forces nothing.
func TestDeliver(t *testing.T) {
	l := newLab(t)
	work, place := l.desk()
	l.commit("one", map[string]string{"a": "1", "CODEOWNERS": "evil"})
	sha := l.take(l.terms()).To
	before := l.sh(work, "find", ".git", "-type", "f")
	if err := remote.Deliver(t.Context(), l.trusted, place, "main", sha); !strings.Contains(fault.Hint(err), "switch to another branch") {
		t.Errorf("of the branch that is checked out Deliver = %v", err)
	}
	if after := l.sh(work, "find", ".git", "-type", "f"); after != before {
		t.Errorf("it left (-before +after):\n%s", cmp.Diff(before, after))
	}
	l.sh(work, "git", "switch", "-q", "-c", "theirs")
	l.sh(work, "git", "commit", "-q", "--allow-empty", "-m", "a person's")
	l.sh(work, "git", "switch", "-q", "main")
	if err := remote.Deliver(t.Context(), l.trusted, place, "theirs", sha); !errors.Is(err, remote.ErrNonFastForward) {
		t.Errorf("of a branch with a person's commit Deliver = %v", err)
	}
	for range 2 {
		must.Do(t, remote.Deliver(t.Context(), l.trusted, place, "work", sha))
	}
	l.sh(l.trusted.Dir, "find", ".", "-delete")
	l.sh(work, "git", "fsck", "--strict", "--full")
	if got := l.sh(work, "git", "log", "--format=%s", "work"); got != "one\nbegin" {
		t.Errorf("delivered was %q", got)
	}
}

// A commit is brought as any ref, also in place of another one.
func TestBring(t *testing.T) {
	l := newLab(t)
	work, place := l.desk()
	before := l.sh(work, "git", "for-each-ref")
	for _, text := range []string{"1", "2"} {
		l.agent("reset", "-q", "--hard", l.base)
		sha := l.commit("work", map[string]string{"a": text})
		l.sh(l.trusted.Dir, "git", "fetch", "-q", l.tree.Dir, sha)
		for range 2 {
			must.Do(t, remote.Bring(t.Context(), l.trusted, place, "refs/ralph/r1", sha))
		}
		if got := l.sh(work, "git", "rev-parse", "refs/ralph/r1"); got != sha {
			t.Errorf("it is %s, want %s", got, sha)
		}
	}
	l.sh(work, "git", "update-ref", "-d", "refs/ralph/r1")
	if diff := cmp.Diff(before, l.sh(work, "git", "for-each-ref")); diff != "" {
		t.Errorf("other refs (-before +after):\n%s", diff)
	}
	if err := remote.Bring(t.Context(), l.trusted, place, "refs/ralph/r1", "HEAD"); err == nil {
		t.Error("it takes a name for a commit")
	}
}

// Init removes the settings and alternates of an existing repository.
func TestInitKeepsNoSettings(t *testing.T) {
	l := newLab(t)
	dir := filepath.Join(t.TempDir(), "trusted.git")
	tool := l.trusted.Git()
	for range 2 {
		repository := must.Get(tool.Init(t.Context(), dir, "sha1"))(t)
		if text, err := repository.Ask(t.Context(), "config", "--list", "--file", filepath.Join(dir, "config")); err != nil || strings.Contains(text, "evil") {
			t.Errorf("it says %q, %v", text, err)
		}
		for name, text := range map[string]string{"config": "[core]\n\talternateRefsCommand = evil\n", "commondir": "../elsewhere\n", "objects/info/alternates": "/elsewhere\n"} {
			must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		}
	}
}

// FilesMatching searches all files, as they are in the requested commit.
func TestHolding(t *testing.T) {
	l := newLab(t)
	tip := l.commit("work", map[string]string{"src/main.go": "package other // mark\n", "new file": "mark\n", "README.md": "nothing\n"})
	if got := l.take(l.terms()); len(got.Refused) > 0 {
		t.Fatalf("Take = %+v", got)
	}
	for name, c := range map[string]struct {
		commit, expression string
		want               []string
	}{
		"both":    {tip, "(ma|xx)rk", []string{"new file", "src/main.go"}},
		"a start": {tip, "none|^mark$", []string{"new file"}},
		"not yet": {l.base, "mark", nil},
	} {
		if diff := cmp.Diff(c.want, must.Get(l.trusted.FilesMatching(t.Context(), c.commit, c.expression))(t)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if found, err := l.trusted.FilesMatching(t.Context(), tip, "("); err == nil {
		t.Errorf("an expression that cannot be read found %q", found)
	}
}

// Named accepts each way in which a user names a commit, and refuses other text.
func TestNamed(t *testing.T) {
	g, _ := newGit(t)
	dir := project(t)
	if sha := must.Get(g.Named(t.Context(), dir, "HEAD"))(t); len(sha) != 40 {
		t.Errorf("Named(HEAD) = %q", sha)
	}
	for _, rev := range []string{"nowhere", "--all", "HEAD:a", ""} {
		if sha, err := g.Named(t.Context(), dir, rev); err == nil {
			t.Errorf("Named(%q) = %s", rev, sha)
		}
	}
}

func TestNamedObjectsAreAskedForOnce(t *testing.T) {
	l := newLab(t)
	l.commit("one", map[string]string{"a": "1"})
	span := git.Span{From: l.base, To: l.take(l.terms()).To}
	look := func() (answers []any, calls int) {
		before := len(l.seen.argv)
		file := must.Get(l.trusted.ReadFile(t.Context(), git.At{Commit: l.base, Path: "src/main.go"}, 100))(t)
		answers = append(answers, string(file))
		clear(file) // is the caller's own
		answers = append(answers, must.Get(l.trusted.FilesMatching(t.Context(), l.base, "pack.ge"))(t))
		answers = append(answers, must.Get(l.trusted.FilesMatching(t.Context(), l.base, "nowhere"))(t))
		answers = append(answers, must.Get(l.trusted.ListAll(t.Context(), l.base))(t))
		answers = append(answers, must.Get(l.trusted.Compare(t.Context(), span))(t))
		return answers, len(l.seen.argv) - before
	}
	first, asked := look()
	again, calls := look()
	if diff := cmp.Diff(first, again); diff != "" || first[0] != "package main\n" || asked == 0 || calls != 0 {
		t.Errorf("%d calls, then %d, want none (-first +again):\n%s", asked, calls, diff)
	}
	must.Get(l.trusted.ReadFile(t.Context(), git.At{Commit: l.base, Path: "src/main.go"}, 13))(t)
	if _, err := l.trusted.ReadFile(t.Context(), git.At{Commit: l.base, Path: "src/main.go"}, 12); err == nil {
		t.Error("a file that was read before is longer than its reader wanted")
	}
}
