package handover

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/lib/pattern"
)

type judgement struct {
	drop     []git.Change // changes to undo
	findings refusal
}

// judge examines the changes of a commit. A path that is equal in a parent was judged with that parent.
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
		changes = inBoth(changes, against)
	}
	if why := q.tooMuch(c.id, changes); why != nil {
		return judgement{}, errors.Join(errBomb, why)
	}
	drop, rest := splitProtected(ctx, changes, guarded)
	if ctx.Err() != nil {
		return judgement{}, ctx.Err()
	}
	findings, err := q.examine(ctx, c.id, rest)
	return judgement{drop: drop, findings: findings}, err
}

const maxDepth = 100 // of folders in a path

// tooMuch refuses commits that would take hours to judge: git packs repetitions into a few bytes.
func (q *quarantine) tooMuch(id string, changes []git.Change) error {
	q.changes += len(changes)
	if q.changes > q.terms.MaxChanges {
		return refuse("the commits up to %.12s change more than %d files together", id, q.terms.MaxChanges)
	}
	for _, c := range changes {
		if strings.Count(c.Path, "/") > maxDepth {
			return refusal{{
				Commit: id,
				Path:   git.OneLine(c.Path, 300),
				Why:    fmt.Sprintf("it lies more than %d folders deep", maxDepth),
			}}
		}
	}
	return nil
}

func inBoth(changes, others []git.Change) []git.Change {
	also := map[string]bool{}
	for _, c := range others {
		also[c.Path] = true
	}
	return slices.DeleteFunc(changes, func(c git.Change) bool { return !also[c.Path] })
}

// splitProtected separates the changes to undo: of protected paths, and files that replace a folder
// above one. Deep paths take long: if the context ends, some changes are in neither list.
func splitProtected(ctx context.Context, changes []git.Change, guarded protected) (drop, rest []git.Change) {
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
		replacesFolder := above[c.Path] && c.OldMode == git.ModeNone
		if replacesFolder || guarded.covers(c.Path) {
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
	read   bool   // the content was read
	secret bool   // the content contains a secret
	lfs    bool   // it points to new content in Git LFS
	isLink bool   // target is known
	target string // of a symbolic link
}

// readBlobs reads each blob once, even if it has many names. It skips files that are too large,
// which are refused anyway.
func (q *quarantine) readBlobs(ctx context.Context, files []git.Change) error {
	wanted, err := q.unread(ctx, files)
	if err != nil {
		return err
	}
	if q.bytes > q.terms.MaxRead {
		return refuse("the files of these commits hold more than %d MiB together", q.terms.MaxRead>>20)
	}
	var pointers []string
	err = git.CatFile(ctx, q.Do, git.Call{Limit: maxAnswers}, wanted, func(o git.Object) error {
		text, err := io.ReadAll(o.Content)
		if pointer.MatchString(string(text[:min(len(text), maxPointer)])) {
			pointers = append(pointers, o.ID)
		}
		b := q.blobs[o.ID]
		b.secret = q.secret(string(text))
		if b.isLink {
			b.target = string(text)
		}
		q.blobs[o.ID] = b
		return err
	})
	if err != nil {
		return err
	}
	return q.findNew(ctx, pointers)
}

// unread returns the blobs to read, and counts their bytes.
func (q *quarantine) unread(ctx context.Context, files []git.Change) ([]string, error) {
	var ids []string
	for _, f := range files {
		if _, ok := q.blobs[f.ID]; !ok {
			ids = append(ids, f.ID)
		}
	}
	slices.Sort(ids)
	sizes, err := git.Sizes(ctx, q.Do, slices.Compact(ids))
	if err != nil {
		return nil, err
	}
	for id, size := range sizes {
		q.blobs[id] = blob{size: size}
	}
	var wanted []string
	for _, f := range files {
		b := q.blobs[f.ID]
		asLink := f.Mode == git.ModeSymlink && !b.isLink && b.size <= maxTarget
		if !asLink && !q.mustRead(b) {
			continue
		}
		b.read = true
		b.isLink = b.isLink || asLink
		q.blobs[f.ID] = b
		wanted = append(wanted, f.ID)
		q.bytes += b.size
	}
	return wanted, nil
}

// mustRead reports an unread blob that may be a pointer of Git LFS, or hold a secret.
func (q *quarantine) mustRead(b blob) bool {
	if b.read {
		return false
	}
	if b.size <= 64*maxPointer {
		return true
	}
	return q.terms.Secret != nil && b.size <= q.terms.MaxFile
}

// findNew marks the pointers that the trusted repository lacks: their content is with the agent only.
func (q *quarantine) findNew(ctx context.Context, pointers []string) error {
	out, err := q.Trusted.Do(ctx, git.Call{
		Args:  []string{"cat-file", "--batch-check"},
		Stdin: strings.NewReader(strings.Join(pointers, "\n")),
		Limit: maxAnswers,
	})
	for line := range strings.Lines(string(out)) {
		if id, ok := strings.CutSuffix(line, " missing\n"); ok {
			b := q.blobs[id]
			b.lfs = true
			q.blobs[id] = b
		}
	}
	return err
}

// pointer is what Git LFS takes for a pointer: it removes white space of Unicode, and extensions may come first.
// Texts that only speak of it do not begin so.
var pointer = pattern.Of(`(?s)^[\s\v\x{85}\pZ]*(?:ext-\d[^\n]*\n)*version [^\n]*(?:git-media|hawser|git-lfs).*\noid `)

const (
	maxAnswers = 256 << 20
	maxPointer = 1 << 10 // what Git LFS reads of a file
)

func (q *quarantine) secret(text string) bool {
	return q.terms.Secret != nil && q.terms.Secret([]byte(text))
}

func (q *quarantine) wrongFile(f git.Change, b blob) string {
	switch {
	case b.secret:
		return "it contains a secret of this job"
	case f.Mode == git.ModeSymlink:
		return wrongTarget(f.Path, b.target)
	case b.lfs:
		return "its content would be in Git LFS, which ralph does not push"
	case b.size > q.terms.MaxFile:
		return fmt.Sprintf("it is larger than %d MiB", q.terms.MaxFile>>20)
	default:
		return ""
	}
}

// checkProtected returns the changes since Last. It refuses them unless each protected file is as in Last, or as in
// Base, from where a merge may bring it. A merge with a commit older than Last can bring back another version.
func (q *quarantine) checkProtected(ctx context.Context, made rewritten, guarded protected) ([]git.Change, error) {
	to := cmp.Or(made.tree, made.tip)
	sinceLast, err := q.compare(ctx, git.Span{From: q.terms.Last, To: to})
	if err != nil {
		return nil, blame(err, "it changes too much to inspect")
	}
	changed, _ := splitProtected(ctx, sinceLast, guarded)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if len(changed) == 0 {
		return sinceLast, nil
	}
	sinceBase, err := q.compare(ctx, git.Span{From: q.terms.Base, To: to})
	if err != nil {
		return nil, blame(err, "it changes too much to inspect")
	}
	var found refusal
	for _, c := range inBoth(changed, sinceBase) {
		found = append(found, journal.Finding{
			Path: git.OneLine(c.Path, 300),
			Why:  "a merge brings back an older version of a protected file",
		})
	}
	if len(found) > 0 {
		return nil, found[:min(maxFindings, len(found))]
	}
	return sinceLast, nil
}
