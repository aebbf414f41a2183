package git

import (
	"context"
	"fmt"
	"strings"
)

// Merge names two commits to merge.
type Merge struct {
	Ours, Theirs string
	Message      Message
}

// Merged is the result of a merge.
type Merged struct {
	SHA       string   // the merge commit; empty: there are conflicts
	Tree      string   // with conflict markers; empty without a merge base
	Conflicts []string // files with conflicts, at most MostConflicts
}

// Merge merges two commits without a checkout: no hook, filter or merge driver
// runs. It returns the newer commit if it contains the other. The same two give
// the same commit each time.
func (t *Trusted) Merge(ctx context.Context, m Merge) (Merged, error) {
	base, err := t.MergeBase(ctx, Span{From: m.Ours, To: m.Theirs})
	if SaidNo(err) {
		return Merged{Conflicts: []string{"all files: the histories have no commit in common"}}, nil
	}
	if err != nil {
		return Merged{}, fmt.Errorf("merge %.12s with %.12s: %w", m.Ours, m.Theirs, err)
	}
	for one, other := range map[string]string{m.Ours: m.Theirs, m.Theirs: m.Ours} {
		if base == one {
			tree, err := t.TreeOf(ctx, other)
			return Merged{SHA: other, Tree: tree}, err
		}
	}
	merged, err := t.mergeTrees(ctx, m)
	if err != nil || len(merged.Conflicts) > 0 {
		return merged, err
	}
	merged.SHA, err = t.Commit(ctx, merged.Tree, m.Message, m.Ours, m.Theirs)
	return merged, err
}

// MostConflicts limits how many conflicts a merge names.
const MostConflicts = 50

func (t *Trusted) mergeTrees(ctx context.Context, m Merge) (Merged, error) {
	out, err := t.Do(ctx, Call{Args: []string{"merge-tree", "--write-tree", "--no-messages", "--name-only", "-z", m.Ours, m.Theirs}, Memory: MaxMemory})
	if err != nil && !SaidNo(err) {
		return Merged{}, fmt.Errorf("merge %.12s with %.12s: %w", m.Ours, m.Theirs, err)
	}
	tree, rest, _ := strings.Cut(string(out), "\x00")
	merged := Merged{Tree: tree}
	for name := range strings.SplitSeq(rest, "\x00") {
		if name != "" && len(merged.Conflicts) < MostConflicts {
			merged.Conflicts = append(merged.Conflicts, OneLine(name, 300))
		}
	}
	if CheckSHA(tree) != nil || (err == nil) != (len(merged.Conflicts) == 0) {
		return Merged{}, fmt.Errorf("merge %.12s with %.12s: %w", m.Ours, m.Theirs, errOddAnswer)
	}
	return merged, nil
}

// Authors returns the names of at most 20 authors of the commits in From..To.
func (t *Trusted) Authors(ctx context.Context, span Span) ([]string, error) {
	if err := CheckSHA(span.From, span.To); err != nil {
		return nil, err
	}
	out, err := t.Ask(ctx, "shortlog", "-s", "-n", span.From+".."+span.To)
	if err != nil {
		return nil, fmt.Errorf("list the authors: %w", err)
	}
	var names []string
	for line := range strings.Lines(out) {
		if _, name, ok := strings.Cut(line, "\t"); ok && len(names) < 20 {
			names = append(names, OneLine(name, 80))
		}
	}
	return names, nil
}
