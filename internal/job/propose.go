package job

import (
	"context"
	"errors"
	"strings"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/untrusted"
)

// How much of what an agent proposes is kept.
const (
	mostProposed = 5  // files
	mostLines    = 20 // of each
	longestLine  = 500
	mostBefore   = 1 << 20 // bytes of what it is held against
)

// proposed is what an agent in dir would have future agents told. The files
// themselves are put back: whether it is true and worth telling is for people to
// say.
func proposed(ctx context.Context, dir string, trusted *git.Trusted, taken journal.CommitsTaken) []journal.Proposal {
	var all []journal.Proposal
	tree, err := untrusted.OpenRoot(dir)
	if err != nil {
		return nil
	}
	defer tree.Close() //nolint:errcheck // only a handle
	for _, name := range taken.Dropped {
		if len(all) == mostProposed || !policy.Instructs(name) {
			continue
		}
		text, err := tree.ReadFile(name, mostBefore)
		if err != nil { // it was taken away, or is no file
			continue
		}
		before, err := trusted.ReadFile(ctx, git.At{Commit: taken.To, Path: name}, mostBefore)
		if err != nil && !errors.Is(err, git.ErrNotFound) {
			continue
		}
		if lines := fresh(string(before), string(text)); len(lines) > 0 {
			all = append(all, journal.Proposal{Path: name, Lines: lines})
		}
	}
	return all
}

// fresh are the first lines of now that do not stand in before.
func fresh(before, now string) []string {
	known, lines := map[string]bool{"": true}, []string{}
	for line := range strings.Lines(before) {
		known[capped(line)] = true
	}
	for line := range strings.Lines(now) {
		if line = capped(line); known[line] {
			continue
		}
		if len(lines) == mostLines {
			return append(lines, "…")
		}
		lines = append(lines, line)
	}
	return lines
}

// capped is as much of a line as is kept.
func capped(line string) string {
	runes := []rune(strings.TrimSpace(line))
	return string(runes[:min(len(runes), longestLine)])
}
