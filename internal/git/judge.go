package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ralph-loop/ralph/internal/journal"
)

// judgement is what was found in one commit.
type judgement struct {
	drop     []change // to be undone
	findings refusal
}

// judge looks at all that c changes against every one of its parents: what it
// has from one of them was looked at there.
func (q *quarantine) judge(ctx context.Context, c commit, parents []string, guarded protected) (judgement, error) {
	var changes []change
	for i, p := range parents {
		against, err := q.compare(ctx, Span{From: p, To: c.tree})
		if _, ok := answered(err); ok {
			return judgement{}, errors.Join(errBomb, blame(err, fmt.Sprintf("%.12s changes more than can be looked at", c.id)))
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
	drop, rest := part(changes, guarded)
	findings, err := q.examine(ctx, c.id, rest)
	return judgement{drop: drop, findings: findings}, err
}

// both are the changes whose path is in others too.
func both(changes, others []change) []change {
	also := map[string]bool{}
	for _, c := range others {
		also[c.path] = true
	}
	return slices.DeleteFunc(changes, func(c change) bool { return !also[c.path] })
}

// part tells the changes that are to be undone from the others. A file that
// stands where the folder of a protected one was goes with it.
func part(changes []change, guarded protected) (drop, rest []change) {
	above := map[string]bool{}
	for _, c := range changes {
		if c.was != modeNone && guarded.covers(c.path) {
			for _, folder := range parents(c.path) {
				above[folder] = true
			}
		}
	}
	for _, c := range changes {
		if guarded.covers(c.path) || above[c.path] && c.was == modeNone {
			drop = append(drop, c)
		} else {
			rest = append(rest, c)
		}
	}
	return drop, rest
}

// examine says what in a commit may not pass.
func (q *quarantine) examine(ctx context.Context, id string, changes []change) (refusal, error) {
	var found refusal
	var files []change
	for _, c := range changes {
		why := wrongChange(c)
		switch {
		case q.secret(c.path):
			found = append(found, journal.Finding{Commit: id, Why: "the name of a file gives a secret of this job away"})
		case why != "":
			found = append(found, journal.Finding{Commit: id, Path: tidy(c.path, 300), Why: why})
		case c.mode != modeNone:
			files = append(files, c)
		}
	}
	if len(files) == 0 {
		return found, nil
	}
	more, err := q.examineFiles(ctx, id, files)
	return append(found, more...), err
}

func (q *quarantine) examineFiles(ctx context.Context, id string, files []change) (refusal, error) {
	ids := make([]string, 0, len(files))
	var links []string
	for _, f := range files {
		ids = append(ids, f.blob)
	}
	sizes, err := q.sizes(ctx, ids)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if f.mode == modeSymlink && sizes[f.blob] <= maxTarget {
			links = append(links, f.blob)
		}
	}
	targets := map[string]string{}
	if len(links) > 0 {
		if targets, err = q.contents(ctx, links, maxAnswers); err != nil {
			return nil, err
		}
	}
	telling, err := q.telling(ctx, sizes)
	if err != nil {
		return nil, err
	}
	var found refusal
	for _, f := range files {
		why := q.wrongFile(f, sizes[f.blob], targets[f.blob])
		if telling[f.blob] {
			why = "it gives a secret of this job away"
		}
		if why != "" {
			found = append(found, journal.Finding{Commit: id, Path: tidy(f.path, 300), Why: why})
		}
	}
	return found, nil
}

func (q *quarantine) wrongFile(f change, size int64, target string) string {
	switch {
	case f.mode == modeSymlink:
		return wrongTarget(f.path, target)
	case size > q.terms.MaxFile:
		return fmt.Sprintf("it is larger than %d MiB", q.terms.MaxFile>>20)
	default:
		return ""
	}
}

// checkProtected gives all that is changed since Last, and holds the outcome against the promise: what is protected
// stands as it did at Last, or at Base where a merge brought that in. Only a
// merge with something older than Last can break it unseen.
func (q *quarantine) checkProtected(ctx context.Context, made remade, guarded protected) ([]change, error) {
	to := cmp.Or(made.tree, made.tip)
	sinceLast, err := q.compare(ctx, Span{From: q.terms.Last, To: to})
	if err != nil {
		return nil, blame(err, "it changes more than can be looked at")
	}
	moved, _ := part(sinceLast, guarded)
	if len(moved) == 0 {
		return sinceLast, nil
	}
	sinceBase, err := q.compare(ctx, Span{From: q.terms.Base, To: to})
	if err != nil {
		return nil, blame(err, "it changes more than can be looked at")
	}
	var found refusal
	for _, c := range both(moved, sinceBase) {
		found = append(found, journal.Finding{Path: tidy(c.path, 300), Why: "a merge brings back an older version of what is protected"})
	}
	if len(found) > 0 {
		return nil, found[:min(maxFindings, len(found))]
	}
	return sinceLast, nil
}
