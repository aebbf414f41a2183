package git_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/lib/process"
)

// An agent can make git need endless memory: each git that reads its tree has a
// limit.
func TestGitInTheTreeIsBounded(t *testing.T) {
	l := newLab(t)
	var asked []string
	l.tree.Run = func(ctx context.Context, c process.Command) (process.Result, error) {
		asked = append(asked, c.Argv[1])
		if c.Memory == 0 || c.Memory > 2<<30 {
			t.Errorf("git %s may take %d bytes", c.Argv[1], c.Memory)
		}
		return l.seen.run(ctx, c)
	}
	l.commit("x", map[string]string{"new": "1"})
	if got := l.take(l.terms()); len(got.Refused) > 0 {
		t.Error(got)
	}
	if _, err := l.tree.Look(t.Context()); err != nil {
		t.Error(err)
	}
	for _, command := range []string{"status", "pack-objects"} {
		if !slices.Contains(asked, command) {
			t.Errorf("git %s was not asked: %q", command, asked)
		}
	}
}

// git refuses a huge file before it takes memory for it: the kernel's limit can come too late.
func TestHugeFilesTakeNoMemory(t *testing.T) {
	l := newLab(t)
	if err := os.WriteFile(filepath.Join(l.tree.Dir, ".gitignore"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(l.tree.Dir, ".gitignore"), 3<<30); err != nil {
		t.Fatal(err)
	}
	l.tree.Run = func(ctx context.Context, c process.Command) (process.Result, error) {
		c.Memory = 0
		return l.seen.run(ctx, c)
	}
	if _, err := l.tree.Inspect(t.Context()); err == nil || !strings.Contains(err.Error(), "over limit") {
		t.Errorf("the tree was read: %v", err)
	}
}

// A small pack can hold huge files, which git reads as a whole for a patch or a search.
func TestGitThatReadsCommitsIsBounded(t *testing.T) {
	g, _ := newGit(t)
	top := project(t)
	write(t, filepath.Join(top, "a"), "2")
	sh(t, top, "", "git", "commit", "-qam", "more")
	run := g.Run
	var asked []string
	g.Run = func(ctx context.Context, c process.Command) (process.Result, error) {
		asked = append(asked, c.Argv[1])
		if name := c.Argv[1]; (c.Memory == 0 || c.Memory > 2<<30) && !slices.Contains([]string{"init", "config", "status"}, name) {
			t.Errorf("git %s may take %d bytes", name, c.Memory)
		}
		return run(ctx, c)
	}
	trusted, span := borrowed(t, g, top)
	read := func(t *testing.T, trusted *git.Trusted) {
		t.Helper()
		_, _, err := trusted.Diff(t.Context(), span, 1<<10)
		_, searched := trusted.FilesMatching(t.Context(), span.To, "2")
		_, read := trusted.ReadFile(t.Context(), git.At{Commit: span.To, Path: "a"}, 10)
		_, listed := trusted.Files(t.Context(), span.To)
		_, logged := trusted.Log(t.Context(), span)
		if err := errors.Join(err, searched, read, listed, logged); err != nil {
			t.Error(err)
		}
	}
	read(t, trusted)
	for _, command := range []string{"diff-tree", "grep", "cat-file", "ls-tree", "log"} {
		if !slices.Contains(asked, command) {
			t.Errorf("git %s was not asked: %q", command, asked)
		}
	}
}
