// Package merging merges a run's work with what others did meanwhile. If the base conflicts, it begins a merge with
// conflict markers for the agent to resolve, and later commits the resolution. It also makes the commits whose tests
// verify the work: what was proven with what others did, and what was there before a story.
package merging

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/box/handover"
	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/verdict"
	"github.com/ralph-loop/ralph/internal/git/git"
)

// Join merges the work with what others did since last.
func Join(
	ctx context.Context,
	t *git.Trusted,
	run journal.Run,
	with journal.Joined,
	last string,
) (journal.Joined, error) {
	with.From = run.Head
	with.To = run.Head
	with.Tree = run.Tree
	span := git.Span{From: last, To: with.With}
	var err error
	with.By, err = Authors(ctx, t, span)
	if err != nil {
		return with, err
	}
	commits, err := t.Log(ctx, span)
	if err != nil {
		return with, err
	}
	with.Commits = len(commits)
	if with.Of == journal.OfBranch {
		with.Own, err = isOwn(ctx, t, run, span)
		if err != nil {
			return with, err
		}
		with.Protected, err = handover.Guarded(ctx, t, span, run.Policy.Protect)
		if err != nil {
			return with, err
		}
	}
	merged, err := Merge(ctx, t, Commits{Ours: run.Head, Theirs: with.With, Message: message(run, with)})
	if err != nil {
		return with, err
	}
	if merged.SHA == "" {
		with.Conflicts = merged.Conflicts
		if merged.Tree == "" {
			return with, nil
		}
		return begin(ctx, t, run, with, merged.Tree)
	}
	with.Conflicts, err = renamed(ctx, t, run, with.With, merged.SHA)
	if err != nil || len(with.Conflicts) > 0 {
		return with, err
	}
	with.To = merged.SHA
	with.Tree = merged.Tree
	return with, nil
}

// isOwn reports whether all commits are of this run: an earlier job pushed them, and its record was lost.
func isOwn(ctx context.Context, t *git.Trusted, run journal.Run, span git.Span) (bool, error) {
	format := "--format=%cn <%ce>, Ralph-Run: %(trailers:key=Ralph-Run,valueonly,separator=%x20)"
	commits, err := t.Ask(ctx, "log", format, span.From+".."+span.To)
	if err != nil {
		return false, fmt.Errorf("look for commits of others: %w", err)
	}
	own := git.Ralph.String() + ", " + run.Trailers("")[0] // people can copy a message
	for commit := range strings.SplitSeq(commits, "\n") {
		if commit != own {
			return false, nil
		}
	}
	return true, nil
}

// renamed returns the protected files to which a merge brought changes of the work: git makes them where the others
// renamed the file, which the work changed as it was not protected yet.
func renamed(ctx context.Context, t *git.Trusted, run journal.Run, theirs, merge string) ([]string, error) {
	inMerge, err := handover.Guarded(ctx, t, git.Span{From: theirs, To: merge}, run.Policy.Protect)
	if err != nil || len(inMerge) == 0 {
		return nil, err
	}
	inWork, err := handover.Guarded(ctx, t, git.Span{From: theirs, To: run.Head}, run.Policy.Protect)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(inMerge, func(name string) bool { return slices.Contains(inWork, name) }), nil
}

// message names a merge as git does: checks of commit subjects skip git's own.
func message(run journal.Run, with journal.Joined) git.Message {
	of := run.Branch
	if with.Of == journal.OfBase {
		of = run.BaseRef
	}
	return git.Message{
		Subject:  fmt.Sprintf("Merge branch '%s' into %s", of, run.Branch),
		Trailers: run.Trailers(""),
		SignOff:  run.Policy.SignOff,
	}
}

// begin makes a merge of the base with conflict markers, which is not pushed. It leaves to people
// what has no markers, such as a deleted file, protected files, and runs without iterations left.
func begin(
	ctx context.Context,
	t *git.Trusted,
	run journal.Run,
	with journal.Joined,
	tree string,
) (journal.Joined, error) {
	guarded, err := handover.Covered(ctx, t, with.From, run.Policy.Protect, with.Conflicts)
	if err != nil {
		return with, err
	}
	if with.Of != journal.OfBase || len(guarded) > 0 {
		return with, nil
	}
	if len(with.Conflicts) >= mostConflicts || !verdict.MayIterate(run) {
		return with, nil
	}
	merge, err := t.Commit(ctx, tree, message(run, with), with.From, with.With)
	if err != nil {
		return with, err
	}
	more, err := renamed(ctx, t, run, with.With, merge)
	if err != nil || len(more) > 0 {
		with.Conflicts = append(with.Conflicts, more...)
		return with, err
	}
	for _, name := range with.Conflicts {
		marks, err := unresolved(ctx, t, merge, name, with.From, with.With)
		if err != nil || !marks {
			return with, ctx.Err()
		}
	}
	with.FromTree = run.Tree
	with.To = merge
	with.Tree = tree
	return with, nil
}

const maxFile = 20 << 20

// read returns nothing for a missing file or a link.
func read(ctx context.Context, t *git.Trusted, commit, name string) ([]byte, error) {
	text, err := t.ReadFile(ctx, git.At{Commit: commit, Path: name}, maxFile)
	if errors.Is(err, git.ErrNotFound) || errors.Is(err, git.ErrNoFile) {
		return nil, nil
	}
	return text, err
}

// unresolved reports marks of the conflict between both sides.
func unresolved(ctx context.Context, t *git.Trusted, commit, name string, sides ...string) (bool, error) {
	text, err := read(ctx, t, commit, name)
	if err != nil {
		return false, err
	}
	var texts [][]byte
	for _, side := range sides {
		text, err := read(ctx, t, side, name)
		if err != nil {
			return false, err
		}
		texts = append(texts, text)
	}
	return marked(text, texts...), nil
}

// isMarker reports whether a line looks like a conflict marker of git.
func isMarker(line string) bool {
	if line == "=======" {
		return true
	}
	for _, marker := range []string{"<<<<<<< ", "||||||| ", ">>>>>>> "} {
		if strings.HasPrefix(line, marker) {
			return true
		}
	}
	return false
}

// marked reports marks that no side had.
func marked(text []byte, sides ...[]byte) bool {
	known := map[string]bool{}
	for _, side := range sides {
		for line := range bytes.Lines(side) {
			known[string(bytes.TrimRight(line, "\r\n"))] = true
		}
	}
	for line := range bytes.Lines(text) {
		line := string(bytes.TrimRight(line, "\r\n"))
		if isMarker(line) && !known[line] {
			return true
		}
	}
	return false
}

// lost returns the files without a conflict that are again as before the merge, although the others changed them. git
// would take their changes for merged.
func lost(ctx context.Context, t *git.Trusted, merge journal.Joined, touched []string) ([]string, error) {
	theirs, err := t.ChangedPaths(ctx, git.Span{From: merge.From, To: merge.To})
	if err != nil {
		return nil, err
	}
	kept := map[string]bool{}
	for _, name := range slices.Concat(merge.Conflicts, touched) {
		kept[name] = true
	}
	theirs = slices.DeleteFunc(theirs, func(name string) bool { return kept[name] })
	return theirs[:min(len(theirs), mostConflicts)], nil
}

// Settle makes a merge commit of the agent's resolution. It refuses remaining marks, also where the agent moved or
// copied them, and lost changes of the others.
func Settle(
	ctx context.Context,
	t *git.Trusted,
	run journal.Run,
	taken journal.CommitsTaken,
) (journal.CommitsTaken, error) {
	if !run.IsMerging() || taken.To == taken.From {
		return taken, nil
	}
	touched, err := t.ChangedPaths(ctx, git.Span{From: run.Merging.Parted.From, To: taken.To})
	if err != nil {
		return taken, err
	}
	lostFiles, err := lost(ctx, t, *run.Merging.Parted, touched)
	if err != nil {
		return taken, err
	}
	for _, name := range lostFiles {
		why := "what " + run.BaseRef + " changed in it is gone"
		taken.Refused = append(taken.Refused, journal.Finding{Path: name, Why: why})
	}
	withMarkers, err := t.FilesMatching(ctx, taken.To, "^[<>|]{7} |^={7}.?$")
	if err != nil {
		return taken, err
	}
	candidates := slices.Clone(run.Merging.Parted.Conflicts)
	slices.Sort(touched)
	for _, name := range withMarkers {
		if _, ok := slices.BinarySearch(touched, name); ok {
			candidates = append(candidates, name)
		}
	}
	slices.Sort(candidates)
	for _, name := range slices.Compact(candidates) {
		sides := []string{run.Merging.Parted.From, run.Merging.Parted.With}
		if !slices.Contains(run.Merging.Parted.Conflicts, name) {
			sides = append(sides, run.Merging.Parted.To) // where git may have moved a side's file to
		}
		marks, err := unresolved(ctx, t, taken.To, name, sides...)
		if err != nil {
			return taken, err
		}
		if marks {
			taken.Refused = append(taken.Refused, journal.Finding{Path: name, Why: "it still has conflict markers"})
		}
	}
	if len(taken.Refused) > 0 {
		taken.To = taken.From
		taken.Tree = run.Tree
		taken.Commits = nil
		taken.Files = nil
		taken.Dropped = nil
		return taken, nil
	}
	m := message(run, *run.Merging.Parted)
	merge, err := t.Commit(ctx, taken.Tree, m, run.Merging.Parted.From, run.Merging.Parted.With)
	taken.To = merge
	taken.Commits = []journal.Commit{{SHA: merge, Subject: m.Subject}}
	return taken, err
}
