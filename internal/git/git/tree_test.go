package git_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
)

func TestGrow(t *testing.T) {
	l := newLab(t)
	if at := l.agent("symbolic-ref", "HEAD"); at != "refs/heads/work" {
		t.Errorf("HEAD = %s", at)
	}
	if s := l.agent("status", "--porcelain", "--ignored"); s != "" {
		t.Errorf("a new tree is not clean: %q", s)
	}
	alternates := filepath.Join(l.tree.Dir, ".git/objects/info/alternates")
	if got, want := read(t, alternates), filepath.Join(l.trusted.Dir, "objects")+"\n"; got != want {
		t.Errorf("alternates = %q, want %q", got, want)
	}
	write(t, filepath.Join(l.tree.Dir, "memory/prd.json"), "{}")
	if s := must.Get(l.tree.Inspect(t.Context()))(t); s.Dirty {
		t.Error("what is excluded makes it dirty")
	}
	if who := l.agent("config", "user.name") + " " + l.agent("config", "user.email"); who != "ralph ralph-loop@users.noreply.github.com" {
		t.Errorf("commits are by %q", who)
	}
	if left, _ := filepath.Glob(filepath.Join(l.trusted.Dir, "seed-*")); len(left) > 0 {
		t.Errorf("templates were left behind: %v", left)
	}
	spec := git.CloneSpec{Dir: filepath.Join(t.TempDir(), "clean"), SHA: l.base}
	clean := must.Get(l.trusted.Clone(t.Context(), spec))(t)
	if head := must.Get(clean.Head(t.Context()))(t); head != l.base || l.sh(spec.Dir, "git", "branch", "--show-current") != "" {
		t.Errorf("without a branch Head = %s, want %s", head, l.base)
	}
	if _, err := l.trusted.Clone(t.Context(), spec); err == nil {
		t.Error("it is cloned over what was there")
	}
}

func TestRegrow(t *testing.T) {
	l := newLab(t)
	sha := l.commit("one", map[string]string{"a": "1"})
	taken := l.take(l.terms())
	write(t, filepath.Join(l.tree.Dir, "b"), "uncommitted")
	must.Do(t, os.RemoveAll(filepath.Join(l.tree.Dir, ".git/objects")))
	terms := l.terms()
	terms.Last = taken.To
	if got := l.take(terms); len(got.Refused) == 0 || !got.Dirty {
		t.Errorf("with a broken repository Take = %+v, want refused", got)
	}
	l.tree = must.Get(l.trusted.Repair(t.Context(), git.CloneSpec{Dir: l.tree.Dir, Branch: "work", SHA: sha}))(t)
	if got := strings.Fields(l.agent("status", "--porcelain")); len(got) != 2 || got[1] != "b" {
		t.Errorf("changed: %q, want b", got)
	}
}

func TestSnapshot(t *testing.T) {
	l := newLab(t)
	write(t, filepath.Join(l.tree.Dir, "new.txt"), "new")
	write(t, filepath.Join(l.tree.Dir, "debug.log"), "ignored")
	write(t, filepath.Join(l.tree.Dir, ".ralph/journal"), "ours")
	l.sh(l.tree.Dir, "git", "init", "-q", "unborn")
	write(t, filepath.Join(l.tree.Dir, "unborn/x"), "in a repository without a commit")
	l.sh(l.tree.Dir, "mkfifo", "pipe")
	index := read(t, filepath.Join(l.tree.Dir, ".git/index"))
	tree := must.Get(l.tree.Look(t.Context()))(t).Work
	want := ".gitattributes\n.github/workflows/ci.yml\n.gitignore\nCODEOWNERS\nREADME.md\nnew.txt\nsrc/main.go"
	if got := l.agent("ls-tree", "-r", "--name-only", tree); got != want {
		t.Errorf("Snapshot holds\n%s\nwant\n%s", got, want)
	}
	if read(t, filepath.Join(l.tree.Dir, ".git/index")) != index {
		t.Error("the index was touched")
	}
	if left, _ := filepath.Glob(filepath.Join(l.tree.Dir, ".git/ralph-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	write(t, filepath.Join(l.tree.Dir, ".git/index.lock"), "")
	if again := must.Get(l.tree.Look(t.Context()))(t).Work; again != tree {
		t.Errorf("with a stale lock Snapshot = %s, want %s", again, tree)
	}
}

func TestTreeDiff(t *testing.T) {
	l := newLab(t)
	write(t, filepath.Join(l.tree.Dir, "new.txt"), "new\n")
	text, cut, err := l.tree.Diff(t.Context(), l.base, 1<<16)
	if err != nil || cut || !strings.Contains(text, "+++ b/new.txt\n@@ -0,0 +1 @@\n+new\n") {
		t.Errorf("Diff = %q, %v, %v", text, cut, err)
	}
	head, _, _ := strings.Cut(text, "\n")
	text, cut, err = l.tree.Diff(t.Context(), l.base, len(head)+5)
	if err != nil || !cut || text != head+"\n" {
		t.Errorf("Diff = %q, %v, %v; want its first line", text, cut, err)
	}
}

func TestCommitAll(t *testing.T) {
	l := newLab(t)
	if sha := must.Get(must.Get(l.tree.Inspect(t.Context()))(t).CommitAll(t.Context(), git.Message{Subject: "nothing"}))(t); sha != l.base {
		t.Errorf("with nothing to commit CommitAll = %s", sha)
	}
	write(t, filepath.Join(l.tree.Dir, "new.txt"), "new\n")
	write(t, filepath.Join(l.tree.Dir, ".git/index.lock"), "")
	write(t, filepath.Join(l.tree.Dir, ".git/refs/heads/work.lock"), "")
	l.sh(l.tree.Dir, "git", "init", "-q", "within")
	l.sh(filepath.Join(l.tree.Dir, "within"), "git", "commit", "-q", "--allow-empty", "-m", "x")
	sha := must.Get(must.Get(l.tree.Inspect(t.Context()))(t).CommitAll(t.Context(), git.Message{Subject: "do\nit", Trailers: []string{"A: b", "C: d"}}))(t)
	if got, want := l.agent("log", "-1", "--format=%H %an%n%B", "work"), sha+" ralph\ndo it\n\nA: b\nC: d\n"; got != want {
		t.Errorf("the commit is %q, want %q", got, want)
	}
	if s := l.agent("status", "--porcelain"); s != "?? within/" {
		t.Errorf("left is %q, want the repository within", s)
	}
	if got := l.take(l.terms()); got.To != sha {
		t.Errorf("Take = %+v", got)
	}
}

// What somebody else commits meanwhile stays, on this branch and on another that was checked out.
func TestCommitAllLosesNoCommit(t *testing.T) {
	for _, meanwhile := range [][]string{{"checkout", "-q", "work"}, {"checkout", "-q", "-b", "other"}} {
		l := newLab(t)
		write(t, filepath.Join(l.tree.Dir, "new.txt"), "new\n")
		seen := must.Get(l.tree.Inspect(t.Context()))(t)
		l.agent(meanwhile...)
		l.agent("commit", "-q", "--allow-empty", "-m", "a person's")
		if sha, err := seen.CommitAll(t.Context(), git.Message{Subject: "x"}); err == nil {
			t.Errorf("after %q: CommitAll = %s", meanwhile, sha)
		}
		if got := l.agent("log", "-1", "--format=%s"); got != "a person's" {
			t.Errorf("after %q HEAD is %q", meanwhile, got)
		}
	}
}

// If ralph is killed within a commit, the user's next one does not remove its files.
func TestCommitAllIsCutOff(t *testing.T) {
	l := newLab(t)
	write(t, filepath.Join(l.tree.Dir, "new.txt"), "new\n")
	seen := must.Get(l.tree.Inspect(t.Context()))(t)
	l.seen.stop = "reset"
	if sha, err := seen.CommitAll(t.Context(), git.Message{Subject: "x"}); err == nil {
		t.Errorf("CommitAll = %s", sha)
	}
	l.agent("commit", "-q", "--allow-empty", "-m", "a person's")
	if l.agent("ls-tree", "--name-only", "HEAD", "new.txt") == "" {
		t.Error("the next commit removes the file")
	}
}

func TestResetKeepsWork(t *testing.T) {
	l := newLab(t)
	l.commit("one", map[string]string{"a": "1", "CODEOWNERS": "evil", ".github/new": "evil"})
	write(t, filepath.Join(l.tree.Dir, "a"), "2")
	write(t, filepath.Join(l.tree.Dir, "CODEOWNERS"), "worse")
	write(t, filepath.Join(l.tree.Dir, "untracked"), "x")
	l.agent("rm", "-q", "--cached", "README.md")
	l.agent("add", "untracked")
	got := l.take(l.terms())
	must.Do(t, l.tree.Reset(t.Context(), got.To))
	if diff := cmp.Diff([]string{"M", "a", "??", "untracked"}, strings.Fields(l.agent("status", "--porcelain"))); diff != "" {
		t.Errorf("changed (-want +got):\n%s", diff)
	}
	if read(t, filepath.Join(l.tree.Dir, "a")) != "2" || read(t, filepath.Join(l.tree.Dir, "CODEOWNERS")) != "* @owner\n" {
		t.Error("work was lost, or what is protected was not put back")
	}
}

// git ignores the files that Untracked found in an unused tree, also for the
// agent.
func TestStraysAreIgnored(t *testing.T) {
	l := newLab(t)
	odd := []string{"a b ", "tail\t", "star*", "[x]?", `back\slash`, "!not", "#no comment", "src/gen.go", "deps/one/a", "deps/two"}
	for _, name := range odd {
		write(t, filepath.Join(l.tree.Dir, name), "made")
	}
	write(t, filepath.Join(l.tree.Dir, "seen.log"), "ignored already")
	strays := must.Get(l.tree.Untracked(t.Context()))(t)
	if len(strays) != len(odd)-1 {
		t.Errorf("Untracked = %q, want one for each of %q, and one for deps", strays, odd)
	}
	write(t, filepath.Join(l.tree.Dir, ".git/info/exclude"), strings.Join(strays, "\n"))
	write(t, filepath.Join(l.tree.Dir, "deps/three"), "made later")
	for _, near := range []string{"starling", "x0", "work/src/gen.go"} {
		write(t, filepath.Join(l.tree.Dir, near), "the agent's")
	}
	l.agent("add", "-A")
	if diff := cmp.Diff("A  starling\nA  work/src/gen.go\nA  x0", l.agent("status", "--porcelain", "--untracked-files=all")); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
	if again := must.Get(l.tree.Untracked(t.Context()))(t); len(again) > 0 {
		t.Errorf("Untracked = %q afterwards, want none", again)
	}
}

// Restore undoes changes and commits, and keeps new files.
func TestRestore(t *testing.T) {
	l := newLab(t)
	l.commit("by setup", map[string]string{"src/main.go": "package changed\n"})
	write(t, filepath.Join(l.tree.Dir, "README.md"), "changed")
	write(t, filepath.Join(l.tree.Dir, "new"), "new")
	write(t, filepath.Join(l.tree.Dir, ".git/index.lock"), "of one that was killed")
	must.Do(t, l.tree.Restore(t.Context(), l.base))
	if got := l.agent("rev-parse", "work") + "\n" + l.agent("status", "--porcelain"); got != l.base+"\n?? new" {
		t.Errorf("the tree stands at %s, want %s with a new file", got, l.base)
	}
	if err := l.tree.Restore(t.Context(), "HEAD"); err == nil {
		t.Error("Restore took a name for a commit")
	}
}

// Files above GitHub's limit are left out of the work and reported, in any folder.
// Committed ones stay in it.
func TestHugeFilesAreLeftOut(t *testing.T) {
	l := newLab(t)
	sparse := func(name string, size int64) {
		t.Helper()
		write(t, filepath.Join(l.tree.Dir, name), "")
		must.Do(t, os.Truncate(filepath.Join(l.tree.Dir, name), size))
	}
	const most = 100 << 20
	sparse("new/odd [name]*.bin", most+1)
	sparse("README.md", 2<<30)
	sparse("kept.bin", most)
	sparse("ignored.log", most+1)
	write(t, filepath.Join(l.tree.Dir, "new/work.go"), "package new\n")
	must.Do(t, os.Symlink("/dev/zero", filepath.Join(l.tree.Dir, "link")))
	seen := must.Get(l.tree.Inspect(t.Context()))(t)
	if got, want := seen.Huge(t.Context()), []string{"README.md", "new/odd [name]*.bin"}; !slices.Equal(got, want) {
		t.Errorf("Huge = %q, want %q", got, want)
	}
	must.Get(must.Get(l.tree.Inspect(t.Context()))(t).CommitAll(t.Context(), git.Message{Subject: "rest"}))(t)
	if got, want := l.agent("show", "--format=", "--name-only"), "kept.bin\nlink\nnew/work.go"; got != want {
		t.Errorf("CommitAll took %q, want %q", got, want)
	}
}
