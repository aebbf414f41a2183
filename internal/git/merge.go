package git

import (
	"context"
	"fmt"
	"strings"
)

// Merge is two lines of work that are to become one.
type Merge struct {
	Ours, Theirs string
	Message      Message
	SignOff      bool
}

// Merged is what became of them.
type Merged struct {
	SHA       string // the commit that holds both; empty: they contradict each other
	Tree      string
	Conflicts []string // the files in which they do, at most 50
}

// Merge makes one commit of two, without a checkout: no hook, no filter and no
// driver has a hand in it. Where one of them holds the other it is that one.
// The same two give the same commit each time.
func (t *Trusted) Merge(ctx context.Context, m Merge) (Merged, error) {
	for _, way := range []Span{{m.Theirs, m.Ours}, {m.Ours, m.Theirs}} {
		holds, err := t.Follows(ctx, way.From, way.To)
		if err != nil {
			return Merged{}, err
		}
		if holds {
			tree, err := t.TreeOf(ctx, way.To)
			return Merged{SHA: way.To, Tree: tree}, err
		}
	}
	merged, err := t.mergeTrees(ctx, m)
	if err != nil || len(merged.Conflicts) > 0 {
		return merged, err
	}
	merged.SHA, err = t.mergeCommit(ctx, m, merged.Tree)
	return merged, err
}

// mostConflicts is how many files are told of.
const mostConflicts = 50

// mergeTrees is the tree of both, or the files that stand in the way.
func (t *Trusted) mergeTrees(ctx context.Context, m Merge) (Merged, error) {
	out, err := t.Do(ctx, Call{Args: []string{"merge-tree", "--write-tree", "--no-messages", "--name-only", "-z", m.Ours, m.Theirs}})
	if err != nil && !SaidNo(err) {
		return Merged{}, fmt.Errorf("merge %.12s with %.12s: %w", m.Ours, m.Theirs, err)
	}
	tree, rest, _ := strings.Cut(string(out), "\x00")
	if CheckSHA(tree) != nil {
		return Merged{}, fmt.Errorf("merge %.12s with %.12s: %w", m.Ours, m.Theirs, errOddAnswer)
	}
	if err == nil {
		return Merged{Tree: tree}, nil
	}
	merged := Merged{}
	for name := range strings.SplitSeq(rest, "\x00") {
		if name != "" && len(merged.Conflicts) < mostConflicts {
			merged.Conflicts = append(merged.Conflicts, OneLine(name, 300))
		}
	}
	if len(merged.Conflicts) == 0 {
		return Merged{}, fmt.Errorf("merge %.12s with %.12s: %w", m.Ours, m.Theirs, errOddAnswer)
	}
	return merged, nil
}

// mergeCommit is dated as the newer of the two is.
func (t *Trusted) mergeCommit(ctx context.Context, m Merge, tree string) (string, error) {
	dates, err := t.Ask(ctx, "show", "-s", "--format=%ct", m.Ours, m.Theirs)
	if err != nil {
		return "", fmt.Errorf("date a merge: %w", err)
	}
	newest := "0"
	for date := range strings.FieldsSeq(dates) {
		if len(date) > len(newest) || len(date) == len(newest) && date > newest {
			newest = date
		}
	}
	at, message := "@"+newest+" +0000", m.Message.text()
	if m.SignOff {
		message = SignedOff(message)
	}
	return ObjectID(t.Do(ctx, Call{
		Args:  []string{"commit-tree", "-p", m.Ours, "-p", m.Theirs, "-F", "-", tree},
		Env:   append(Ralph.env(), "GIT_AUTHOR_DATE="+at, "GIT_COMMITTER_DATE="+at),
		Stdin: strings.NewReader(message),
	}))
}

// Authors are those who made the commits that To has and From has not, each
// once, at most 20.
func (t *Trusted) Authors(ctx context.Context, span Span) ([]string, error) {
	if err := CheckSHA(span.From, span.To); err != nil {
		return nil, err
	}
	out, err := t.Ask(ctx, "shortlog", "-s", "-n", span.From+".."+span.To)
	if err != nil {
		return nil, fmt.Errorf("read who made commits: %w", err)
	}
	var names []string
	for line := range strings.Lines(out) {
		if _, name, ok := strings.Cut(line, "\t"); ok && len(names) < 20 {
			names = append(names, OneLine(name, 80))
		}
	}
	return names, nil
}
