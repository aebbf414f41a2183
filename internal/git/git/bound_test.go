package git_test

import (
	"context"
	"slices"
	"testing"

	"github.com/ralph-loop/ralph/internal/box/handover"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/lib/process"
)

// Each git that reads an agent's objects outside of the sandbox has a memory limit: a pack of some
// kilobytes can expand without end.
func TestGitsThatReadAnAgentsObjectsHaveALimit(t *testing.T) {
	l := newLab(t)
	l.commit("one", map[string]string{"a.txt": "a"})
	seen := map[string]bool{"index-pack": false, "rev-list": false}
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
	must(handover.Take(t.Context(), trusted, l.tree, nil, l.terms()))(t)
	for command, ran := range seen {
		if !ran {
			t.Errorf("no git %s ran", command)
		}
	}
}
