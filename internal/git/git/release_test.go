package git_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/remote"
	"github.com/ralph-loop/ralph/internal/lib/process"
)

// Accepted objects are complete and readable for others.
func TestTakeIsWhole(t *testing.T) {
	l := newLab(t)
	to := l.commit("one", map[string]string{"a": "1", "src/main.go": "package main // changed\n"})
	l.take(l.terms())
	if !l.has(to) {
		t.Error("it was not taken in")
	}
	for _, end := range []string{"pack", "idx"} {
		for _, name := range must(filepath.Glob(filepath.Join(l.trusted.Dir, "objects/pack/*."+end)))(t) {
			if mode := must(os.Stat(name))(t).Mode().Perm(); mode != 0o444 {
				t.Errorf("%s has mode %o, want 444: the agent reads it as another user", filepath.Base(name), mode)
			}
		}
	}
	l.in("fsck", "--strict", "--full")
}

// A pack with objects that do not belong to its tip is accepted, but without these
// objects.
func TestTakeLeavesTheRest(t *testing.T) {
	l := newLab(t)
	extra := l.hash("not asked for")
	l.tree.Run = func(ctx context.Context, c process.Command) (process.Result, error) {
		if c.Argv[1] == "pack-objects" {
			c.Stdin = io.MultiReader(c.Stdin, strings.NewReader(extra+"\n"))
		}
		return l.seen.run(ctx, c)
	}
	to := l.commit("one", map[string]string{"a": "1"})
	if got := l.take(l.terms()); got.To != to || !l.has(to) {
		t.Errorf("Take = %+v, want the commit", got)
	}
	if l.has(extra) {
		t.Error("an unexamined commit was taken in")
	}
}

// If the upper of two commits is dropped, none of its objects stay, and the lower
// commit is unchanged.
func TestTakeLeavesTheDropped(t *testing.T) {
	l := newLab(t)
	lower := l.commit("lower", map[string]string{"a": "1"})
	upper := l.commit("upper", map[string]string{"CODEOWNERS": "evil"})
	if got := l.take(l.terms()); got.To != lower {
		t.Errorf("To = %s, want the lower commit", got.To)
	}
	if l.has(upper) || l.has(l.hash("evil")) {
		t.Error("what was dropped was taken in")
	}
}

// desk returns a user's clone that the trusted repository borrows from.
func (l *lab) desk() (work string, place git.Place) {
	l.Helper()
	work = l.TempDir()
	l.sh(work, "git", "clone", "-q", l.remote, ".")
	place = must(l.git.Inspect(l.Context(), work))(l.T)
	l.trusted = must(l.git.Borrow(l.Context(), place, filepath.Join(l.TempDir(), "b.git")))(l.T)
	l.tree = must(l.trusted.Clone(l.Context(), git.CloneSpec{Dir: filepath.Join(l.TempDir(), "t"), Branch: "work", SHA: l.base}))(l.T)
	return work, place
}

// A delivery is complete, even after a failed one.
func TestDeliverBringsWhatIsMissing(t *testing.T) {
	l := newLab(t)
	work, place := l.desk()
	terms := l.terms()
	terms.Last = l.commit("one", map[string]string{"a": "1"})
	l.take(l.terms())
	sha := l.commit("two", map[string]string{"b": "2"})
	l.take(terms)
	if err := remote.Deliver(t.Context(), l.trusted, place, "work", sha); err != nil {
		t.Fatal(err)
	}
	l.sh(l.trusted.Dir, "find", ".", "-delete")
	l.sh(work, "git", "fsck", "--strict", "--full")
	if got := l.sh(work, "git", "log", "--format=%s", "work"); got != "two\none\nbegin" {
		t.Errorf("delivered was %q", got)
	}
}

// A failed delivery leaves nothing in the user's repository.
func TestDeliverLeavesNothing(t *testing.T) {
	l := newLab(t)
	work, place := l.desk()
	sha := l.commit("one", map[string]string{"a": "1"})
	l.take(l.terms())
	before := l.sh(work, "find", ".git", "-type", "f")
	if err := remote.Deliver(t.Context(), l.trusted, place, "main", sha); err == nil {
		t.Error("the branch that is checked out was moved")
	}
	if after := l.sh(work, "find", ".git", "-type", "f"); after != before {
		t.Errorf("it left (-before +after):\n%s", cmp.Diff(before, after))
	}
}

// A commit with a duplicate header line is read as git reads it.
func TestSeeWhatGitSees(t *testing.T) {
	f := newField(t, sow(t))
	first, second := f.git("rev-parse", "HEAD^{tree}"), f.git("rev-parse", "HEAD:folder")
	text := "tree " + first + "\ntree " + second + "\nauthor A <a@example.com> 1 +0000\ncommitter A <a@example.com> 1 +0000\n\nx\n"
	odd := sh(t, f.dir, text, "git", "hash-object", "-t", "commit", "-w", "--stdin", "--literally")
	f.files(".git/refs/heads/trunk", odd+"\n")
	if seen := must(f.tree.Inspect(t.Context()))(t); seen.Tree != first || seen.Head != odd {
		t.Errorf("See = %+v, want the tree %s", seen, first)
	}
	name := f.path(".git/objects/" + first[:2] + "/" + first[2:])
	f.must(os.Chmod(name, 0o644))
	for _, broken := range []string{"", "no object", read(t, name)[:30]} {
		fresh := newField(t, f.dir)
		fresh.files(strings.TrimPrefix(name, f.dir+"/"), broken)
		if seen, err := fresh.tree.Inspect(t.Context()); err == nil {
			t.Errorf("with a broken tree See = %+v", seen)
		}
	}
}
