package git_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/testsupport/must"

	"github.com/google/go-cmp/cmp"
)

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
