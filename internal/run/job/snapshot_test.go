package job_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-loop/ralph/internal/testsupport/must"

	"github.com/ralph-loop/ralph/internal/testsupport/gittest"

	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/run/job"
)

// What checks of an iteration wrote is not work of the next, until the agent changes or commits it.
func TestTidy(t *testing.T) {
	dir, ctx := t.TempDir(), t.Context()
	do := func(args ...string) string { return gittest.Git(t, dir, args...) }
	write := func(name, text string) { gittest.Write(t, filepath.Join(dir, name), text) }
	do("init", "-q")
	write("a", "1")
	do("add", "a")
	do("commit", "-q", "-m", "begin")
	tree, err := git.Git{Run: new(process.Runner).Run, Path: os.Getenv("PATH"), Home: t.TempDir()}.Own(ctx, git.Place{Top: dir})
	if err != nil {
		t.Fatal(err)
	}
	snapshot := func() string {
		t.Helper()
		now := must.Get(tree.Look(ctx))(t)
		return now.Work
	}
	before := snapshot()
	for _, name := range []string{"coverage.out", "changed.out", "committed.out"} {
		write(name, name)
	}
	after := snapshot()
	write("changed.out", "by the agent")
	write("new", "by the agent")
	do("add", "committed.out")
	do("commit", "-q", "-m", "wanted")
	tidy := must.Get(job.Tidy(ctx, tree, git.Span{From: before, To: after}, snapshot()))(t)
	if got := do("diff", "--name-only", before, tidy); got != "changed.out\ncommitted.out\nnew" {
		t.Errorf("left is %q", got)
	}
}

func TestNothingIsIgnoredThroughALink(t *testing.T) {
	dir := t.TempDir()
	outside, exclude := filepath.Join(dir, "outside"), filepath.Join(dir, "tree/.git/info/exclude")
	must.Do(t, os.MkdirAll(filepath.Dir(exclude), 0o700))
	must.Do(t, os.WriteFile(outside, []byte("mine"), 0o600))
	must.Do(t, os.Symlink(outside, exclude))
	err := job.Ignore(filepath.Join(dir, "tree"), []string{"/x"})
	if text, _ := os.ReadFile(outside); err == nil || string(text) != "mine" {
		t.Errorf("%v, and the file outside is %q", err, text)
	}
}
