package git_test

import (
	"context"
	"slices"
	"testing"

	"github.com/ralph-loop/ralph/internal/process"
)

// An agent can make git need endless memory: each git that reads its tree has a
// limit, and a git that reads ralph's own repository needs none.
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
