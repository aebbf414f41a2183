package merging

import (
	"context"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/git/git"
)

// Commits are two commits to merge.
type Commits struct {
	Ours, Theirs string
	Message      git.Message
}

// Merged is the result of a merge.
type Merged struct {
	SHA       string   // the merge commit; empty: there are conflicts
	Tree      string   // with conflict markers; empty without a merge base
	Conflicts []string // files with conflicts, at most mostConflicts
}

// Merge merges two commits without a checkout: no hook, filter or merge driver runs. It returns the newer commit if it
// contains the other. The same two give the same commit each time.
func Merge(ctx context.Context, t *git.Trusted, m Commits) (Merged, error) {
	base, err := t.MergeBase(ctx, git.Span{From: m.Ours, To: m.Theirs})
	if git.SaidNo(err) {
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
	merged, err := mergeTrees(ctx, t, m)
	if err != nil || len(merged.Conflicts) > 0 {
		return merged, err
	}
	merged.SHA, err = t.Commit(ctx, merged.Tree, m.Message, m.Ours, m.Theirs)
	return merged, err
}

// mostConflicts limits how many conflicts a merge names.
const mostConflicts = 50

// mergeTrees merges two commits into a tree.
func mergeTrees(ctx context.Context, t *git.Trusted, m Commits) (Merged, error) {
	args := []string{"-c", "merge.directoryRenames=false"}
	args = append(args, "merge-tree", "--write-tree", "--no-messages", "--name-only", "-z", m.Ours, m.Theirs)
	out, err := t.Do(ctx, git.Call{Args: args, Dir: t.Dir, Memory: git.MaxMemory})
	if err != nil && !git.SaidNo(err) {
		return Merged{}, fmt.Errorf("merge %.12s with %.12s: %w", m.Ours, m.Theirs, err)
	}
	conflicted := err != nil
	tree, rest, _ := strings.Cut(string(out), "\x00")
	merged := Merged{Tree: tree}
	for name := range strings.SplitSeq(rest, "\x00") {
		if name != "" && len(merged.Conflicts) < mostConflicts {
			merged.Conflicts = append(merged.Conflicts, git.OneLine(name, 300))
		}
	}
	if git.CheckSHA(tree) != nil || conflicted != (len(merged.Conflicts) > 0) {
		return Merged{}, fmt.Errorf("merge %.12s with %.12s: unexpected output of git", m.Ours, m.Theirs)
	}
	return merged, nil
}

// Authors returns the names of at most 20 authors of the commits in From..To.
func Authors(ctx context.Context, t *git.Trusted, span git.Span) ([]string, error) {
	if err := git.CheckSHA(span.From, span.To); err != nil {
		return nil, err
	}
	out, err := t.Ask(ctx, "shortlog", "-s", "-n", span.From+".."+span.To)
	if err != nil {
		return nil, fmt.Errorf("list the authors: %w", err)
	}
	var names []string
	for line := range strings.Lines(out) {
		if _, name, ok := strings.Cut(line, "\t"); ok && len(names) < 20 {
			names = append(names, git.OneLine(name, 80))
		}
	}
	return names, nil
}
