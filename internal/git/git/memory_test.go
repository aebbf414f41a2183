package git_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/testsupport/must"

	"github.com/ralph-loop/ralph/internal/box/handover"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/lib/process"
)

// An agent can make git need endless memory, by its tree, or by a small pack that expands: each git that reads what an
// agent wrote has a limit.
func TestGitIsBounded(t *testing.T) {
	l := newLab(t)
	var asked []string
	bounded := l.git
	bounded.Run = func(ctx context.Context, c process.Command) (process.Result, error) {
		asked = append(asked, c.Argv[1])
		readsSizes := slices.Contains(c.Argv, "--batch-check") // and so the beginning of each object alone
		if (c.Memory == 0 || c.Memory > git.MaxMemory) && !readsSizes {
			t.Errorf("%q may take %d bytes", c.Argv, c.Memory)
		}
		return l.seen.run(ctx, c)
	}
	trusted := must.Get(bounded.Open(l.trusted.Dir))(t)
	l.tree.Run = bounded.Run
	sha := l.commit("x", map[string]string{"a": "2"})
	if got := must.Get(handover.Take(t.Context(), trusted, l.tree, nil, l.terms()))(t); got.To != sha {
		t.Errorf("Take = %+v", got)
	}
	span := git.Span{From: l.base, To: sha}
	_, look := l.tree.Look(t.Context())
	_, _, diff := trusted.Diff(t.Context(), span, 1<<10)
	_, search := trusted.FilesMatching(t.Context(), sha, "2")
	_, read := trusted.ReadFile(t.Context(), git.At{Commit: sha, Path: "a"}, 10)
	_, list := trusted.Files(t.Context(), sha)
	if err := errors.Join(look, diff, search, read, list); err != nil {
		t.Error(err)
	}
	for _, command := range []string{
		"status", "pack-objects", "index-pack", "rev-list", "diff-tree", "grep", "cat-file", "ls-tree", "log",
	} {
		if !slices.Contains(asked, command) {
			t.Errorf("git %s was not asked: %q", command, asked)
		}
	}
}

// git refuses a huge file before it takes memory for it: the kernel's limit can come too late.
func TestHugeFilesTakeNoMemory(t *testing.T) {
	l := newLab(t)
	must.Do(t, os.WriteFile(filepath.Join(l.tree.Dir, ".gitignore"), nil, 0o644))
	must.Do(t, os.Truncate(filepath.Join(l.tree.Dir, ".gitignore"), 3<<30))
	l.tree.Run = func(ctx context.Context, c process.Command) (process.Result, error) {
		c.Memory = 0
		return l.seen.run(ctx, c)
	}
	if _, err := l.tree.Inspect(t.Context()); err == nil || !strings.Contains(err.Error(), "over limit") {
		t.Errorf("the tree was read: %v", err)
	}
}
