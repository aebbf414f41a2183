package handover

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/git/git"
)

type rewritten struct {
	tip     string
	dropped []string     // paths, each once
	tree    string       // of the tip; empty: not known
	changes []git.Change // since Last
}

// rewriteAll examines commits, parents first. It rewrites those that change protected files or have forbidden metadata,
// and all later ones. Each commit is compared with its rewritten parents: so a change that was dropped from an earlier
// commit is also dropped from the later ones.
func (q *quarantine) rewriteAll(ctx context.Context, commits []commit, guarded protected) (rewritten, error) {
	made := rewritten{}
	newIDs := map[string]string{}
	var found refusal
	for _, c := range commits {
		parents := mapParents(c.parents, newIDs)
		judged, err := q.judge(ctx, c, parents, guarded)
		if err != nil {
			return rewritten{}, err
		}
		found = append(found, judged.findings...)
		made.tip, err = q.rewrite(ctx, c, parents, judged.drop)
		if err != nil {
			return rewritten{}, err
		}
		newIDs[c.id] = made.tip
		for _, d := range judged.drop {
			made.dropped = append(made.dropped, git.OneLine(d.Path, 300))
		}
	}
	slices.Sort(made.dropped)
	made.dropped = slices.Compact(made.dropped)
	if len(found) > 0 {
		return rewritten{}, found[:min(maxFindings, len(found))]
	}
	if last := commits[len(commits)-1]; made.tip == last.id {
		made.tree = last.tree
	}
	return made, nil
}

func mapParents(parents []string, newIDs map[string]string) []string {
	var mapped []string
	for _, p := range parents {
		if id, ok := newIDs[p]; ok {
			p = id
		}
		if !slices.Contains(mapped, p) {
			mapped = append(mapped, p)
		}
	}
	return mapped
}

// rewrite returns the rewritten commit. It returns c if nothing changes, and its parent if no change is left.
func (q *quarantine) rewrite(ctx context.Context, c commit, parents []string, drop []git.Change) (string, error) {
	tree := c.tree
	if len(drop) > 0 {
		var err error
		tree, err = q.undo(ctx, c.tree, drop)
		if err != nil {
			return "", err
		}
	}
	text := q.terms.commit(c, tree, parents)
	if text == c.raw {
		return c.id, nil
	}
	before, err := q.Ask(ctx, "rev-parse", "--verify", "-q", parents[0]+"^{tree}")
	if err != nil {
		return "", err
	}
	if before == tree && len(parents) == 1 {
		return parents[0], nil
	}
	out, err := q.Do(ctx, git.Call{
		Args:  []string{"hash-object", "-t", "commit", "-w", "--stdin"},
		Stdin: strings.NewReader(text),
	})
	if err != nil {
		return "", blame(err, fmt.Sprintf("%.12s cannot be rewritten", c.id))
	}
	return git.ObjectID(out, nil)
}

func (q *quarantine) undo(ctx context.Context, tree string, drop []git.Change) (string, error) {
	var entries []git.TreeEntry
	for _, c := range drop {
		entries = append(entries, git.TreeEntry{Path: c.Path, Mode: c.OldMode, ID: c.OldID})
	}
	undone, err := git.WriteTree(ctx, q.Do, git.Index{File: filepath.Join(q.dir, "index"), Tree: tree}, entries)
	if _, ok := git.Answered(err); ok {
		return "", blame(err, "protected files cannot be restored")
	}
	return undone, err
}
