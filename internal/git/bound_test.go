package git_test

import (
	"context"
	"slices"
	"testing"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/git/handover"
	"github.com/ralph-loop/ralph/internal/git/verify"
	"github.com/ralph-loop/ralph/internal/process"
)

// Each git that reads an agent's objects outside of the sandbox has a memory limit: a pack of some
// kilobytes can expand without end.
func TestGitsThatReadAnAgentsObjectsHaveALimit(t *testing.T) {
	l := newLab(t)
	l.commit("one", map[string]string{"a.txt": "a"})
	seen := map[string]bool{"index-pack": false, "rev-list": false, "cat-file": false}
	limited := l.git
	limited.Run = func(ctx context.Context, c process.Command) (process.Result, error) {
		for command := range seen {
			if slices.Contains(c.Argv, command) {
				if seen[command] = true; c.Memory != git.MaxMemory {
					t.Errorf("%q has a limit of %d bytes", c.Argv, c.Memory)
				}
			}
		}
		return l.git.Run(ctx, c)
	}
	trusted := must(limited.Open(l.trusted.Dir))(t)
	taken, err := handover.Take(t.Context(), trusted, l.tree, nil, l.terms())
	if err != nil {
		t.Fatal(err)
	}
	if err := verify.Checkout(t.Context(), trusted, t.TempDir(), taken.To); err != nil {
		t.Fatal(err)
	}
	for command, ran := range seen {
		if !ran {
			t.Errorf("no git %s ran", command)
		}
	}
}
