package git_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ralph-loop/ralph/internal/testsupport/must"

	"github.com/ralph-loop/ralph/internal/git/git"
)

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
