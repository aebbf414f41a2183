package handover

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
)

type judgement struct {
	drop     []git.Change // to be undone
	findings refusal
}

// judge compares c with each parent: what it has from one of them was judged there.
func (q *quarantine) judge(ctx context.Context, c commit, parents []string, guarded protected) (judgement, error) {
	var changes []git.Change
	for i, p := range parents {
		against, err := q.compare(ctx, git.Span{From: p, To: c.tree})
		if _, ok := git.Answered(err); ok {
			return judgement{}, errors.Join(errBomb, blame(err, fmt.Sprintf("%.12s changes too much to inspect", c.id)))
		}
		if err != nil {
			return judgement{}, err
		}
		if i == 0 {
			changes = against
			continue
		}
		changes = both(changes, against)
	}
	if why := q.tooMuch(c.id, changes); why != nil {
		return judgement{}, errors.Join(errBomb, why)
	}
	drop, rest := part(ctx, changes, guarded)
	if ctx.Err() != nil {
		return judgement{}, ctx.Err()
	}
	findings, err := q.examine(ctx, c.id, rest)
	return judgement{drop: drop, findings: findings}, err
}

const maxDepth = 100 // folders of a path

// tooMuch refuses commits that would take hours to judge: git packs what repeats itself into a
// few bytes.
func (q *quarantine) tooMuch(id string, changes []git.Change) error {
	if q.changes += len(changes); q.changes > q.terms.MaxChanges {
		return refuse("the commits up to %.12s change more than %d files together", id, q.terms.MaxChanges)
	}
	for _, c := range changes {
		if strings.Count(c.Path, "/") > maxDepth {
			return refusal{{Commit: id, Path: git.OneLine(c.Path, 300), Why: fmt.Sprintf("it lies more than %d folders deep", maxDepth)}}
		}
	}
	return nil
}

func both(changes, others []git.Change) []git.Change {
	also := map[string]bool{}
	for _, c := range others {
		also[c.Path] = true
	}
	return slices.DeleteFunc(changes, func(c git.Change) bool { return !also[c.Path] })
}

// part separates changes to undo. A file in place of a protected one's folder is one of them. Paths
// of many folders take long: where the context ends, not all changes are in either list.
func part(ctx context.Context, changes []git.Change, guarded protected) (drop, rest []git.Change) {
	above := map[string]bool{}
	for _, c := range changes {
		if ctx.Err() == nil && c.OldMode != git.ModeNone && guarded.covers(c.Path) {
			for _, folder := range parents(c.Path) {
				above[folder] = true
			}
		}
	}
	for _, c := range changes {
		if ctx.Err() != nil {
			break
		}
		if guarded.covers(c.Path) || above[c.Path] && c.OldMode == git.ModeNone {
			drop = append(drop, c)
		} else {
			rest = append(rest, c)
		}
	}
	return drop, rest
}

func (q *quarantine) examine(ctx context.Context, id string, changes []git.Change) (refusal, error) {
	var found refusal
	var files []git.Change
	for _, c := range changes {
		why := wrongChange(c)
		switch {
		case q.secret(c.Path):
			found = append(found, journal.Finding{Commit: id, Why: "the name of a file contains a secret of this job"})
		case why != "":
			found = append(found, journal.Finding{Commit: id, Path: git.OneLine(c.Path, 300), Why: why})
		case c.Mode != git.ModeNone:
			files = append(files, c)
		}
	}
	if len(files) == 0 {
		return found, nil
	}
	more, err := q.examineFiles(ctx, id, files)
	return append(found, more...), err
}

func (q *quarantine) examineFiles(ctx context.Context, id string, files []git.Change) (refusal, error) {
	if err := q.readBlobs(ctx, files); err != nil {
		return nil, blame(err, "its files cannot be read")
	}
	var found refusal
	for _, f := range files {
		if why := q.wrongFile(f, q.blobs[f.ID]); why != "" {
			found = append(found, journal.Finding{Commit: id, Path: git.OneLine(f.Path, 300), Why: why})
		}
	}
	return found, nil
}

type blob struct {
	size   int64
	read   bool   // secret is known
	secret bool   // it contains a secret
	isLink bool   // target is known
	target string // of a link
}

// readBlobs reads each content once, even if it has many names. It leaves out files that are too
// large, which are refused anyway.
func (q *quarantine) readBlobs(ctx context.Context, files []git.Change) error {
	var ids, wanted []string
	for _, f := range files {
		if _, known := q.blobs[f.ID]; !known {
			ids = append(ids, f.ID)
		}
	}
	slices.Sort(ids)
	sizes, err := git.Sizes(ctx, q.Do, slices.Compact(ids))
	if err != nil {
		return err
	}
	for id, size := range sizes {
		q.blobs[id] = blob{size: size}
	}
	for _, f := range files {
		b := q.blobs[f.ID]
		asLink := f.Mode == git.ModeSymlink && !b.isLink && b.size <= maxTarget
		if asLink || q.terms.Secret != nil && !b.read && b.size <= q.terms.MaxFile {
			b.read, b.isLink = true, b.isLink || asLink
			q.blobs[f.ID] = b
			wanted = append(wanted, f.ID)
			q.bytes += b.size
		}
	}
	if q.bytes > q.terms.MaxRead {
		return refuse("the files of these commits hold more than %d MiB together", q.terms.MaxRead>>20)
	}
	return git.CatFile(ctx, q.Do, git.Call{Limit: maxAnswers}, wanted, func(o git.Object) error {
		text, err := io.ReadAll(o.Content)
		b := q.blobs[o.ID]
		if b.secret = q.secret(string(text)); b.isLink {
			b.target = string(text)
		}
		q.blobs[o.ID] = b
		return err
	})
}

const maxAnswers = 256 << 20

func (q *quarantine) secret(text string) bool {
	return q.terms.Secret != nil && q.terms.Secret([]byte(text))
}

func (q *quarantine) wrongFile(f git.Change, b blob) string {
	switch {
	case b.secret:
		return "it contains a secret of this job"
	case f.Mode == git.ModeSymlink:
		return wrongTarget(f.Path, b.target)
	case b.size > q.terms.MaxFile:
		return fmt.Sprintf("it is larger than %d MiB", q.terms.MaxFile>>20)
	default:
		return ""
	}
}

// checkProtected gives all that is changed since Last, and holds the outcome against the promise: what is protected
// stands as it did at Last, or at Base where a merge brought that in. Only a
// merge with something older than Last can break it unseen.
func (q *quarantine) checkProtected(ctx context.Context, made remade, guarded protected) ([]git.Change, error) {
	to := cmp.Or(made.tree, made.tip)
	sinceLast, err := q.compare(ctx, git.Span{From: q.terms.Last, To: to})
	if err != nil {
		return nil, blame(err, "it changes too much to inspect")
	}
	moved, _ := part(ctx, sinceLast, guarded)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if len(moved) == 0 {
		return sinceLast, nil
	}
	sinceBase, err := q.compare(ctx, git.Span{From: q.terms.Base, To: to})
	if err != nil {
		return nil, blame(err, "it changes too much to inspect")
	}
	var found refusal
	for _, c := range both(moved, sinceBase) {
		found = append(found, journal.Finding{Path: git.OneLine(c.Path, 300), Why: "a merge brings back an older version of a protected file"})
	}
	if len(found) > 0 {
		return nil, found[:min(maxFindings, len(found))]
	}
	return sinceLast, nil
}
