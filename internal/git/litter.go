package git

import (
	"context"
	"fmt"
)

// Litter is what a program that was run left in a tree: files that nobody
// meant to make.
type Litter map[string]string // path to object

// Litter is what is new in the later of two snapshots.
func (t *Tree) Litter(ctx context.Context, span Span) (Litter, error) {
	if err := CheckSHA(span.From, span.To); err != nil {
		return nil, err
	}
	if span.From == span.To {
		return Litter{}, nil
	}
	changes, err := Compare(ctx, t.Do, span)
	if err != nil {
		return nil, fmt.Errorf("look for litter: %w", err)
	}
	litter := Litter{}
	for _, c := range changes {
		if c.OldMode == ModeNone {
			litter[c.Path] = c.ID
		}
	}
	return litter, nil
}

// Tidy is a snapshot without litter. What was changed or committed since is no
// litter any more: somebody wants it.
func (t *Tree) Tidy(ctx context.Context, tree string, litter Litter) (string, error) {
	if len(litter) == 0 {
		return tree, nil
	}
	if err := CheckSHA(tree); err != nil {
		return "", err
	}
	quiet, err := t.tame(ctx)
	if err != nil {
		return "", err
	}
	s, done := quiet.scratch()
	defer done()
	if _, err := s.Do(ctx, s.on("read-tree", tree)); err != nil {
		return "", fmt.Errorf("read the snapshot: %w", err)
	}
	added, err := s.added(ctx)
	if err != nil {
		return "", fmt.Errorf("look for litter: %w", err)
	}
	var paths []string
	for _, c := range added {
		if litter[c.Path] == c.ID {
			paths = append(paths, c.Path)
		}
	}
	if err := s.remove(ctx, paths); err != nil {
		return "", err
	}
	return s.write(ctx)
}
