package handover

import (
	"context"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/guarded"
)

// Link is a symbolic link from one path of a commit to another.
type Link struct{ At, To string }

// Links returns the symbolic links among a commit's entries whose target is in the commit.
func Links(ctx context.Context, t *git.Trusted, listed []git.TreeEntry) ([]Link, error) {
	var names, ids []string
	for _, entry := range listed {
		if entry.Mode == git.ModeSymlink {
			names = append(names, entry.Path)
			ids = append(ids, entry.ID)
		}
	}
	var all []Link
	err := git.CatFile(ctx, t.Do, git.Call{}, ids, func(o git.Object) error {
		name := names[0]
		names = names[1:]
		target, err := io.ReadAll(io.LimitReader(o.Content, maxTarget))
		to := path.Join(path.Dir(name), string(target))
		isOutside := path.IsAbs(string(target)) || to == "." || strings.HasPrefix(to, "../")
		if !isOutside {
			all = append(all, Link{name, to})
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the links of a commit: %w", err)
	}
	return all, nil
}

// protectIn also protects the targets of protected links: a tool that runs the link runs its target.
func protectIn(ctx context.Context, t *git.Trusted, commit string, globs []string) (protected, error) {
	p, err := protect(globs)
	if err != nil || len(globs) == 0 || t == nil {
		return p, err
	}
	listed, err := t.ListAll(ctx, commit)
	if err != nil {
		return p, err
	}
	links, err := Links(ctx, t, listed)
	if err != nil {
		return p, err
	}
	for more := true; more; { // the target may be another link
		more = false
		for _, l := range links {
			if ctx.Err() != nil {
				return p, ctx.Err()
			}
			to := guarded.Fold(l.To)
			if p.covers(l.At) && !p.covered(to) && path.Ext(to) != ".md" {
				p.paths = append(p.paths, to)
				more = true
			}
		}
	}
	return p, nil
}
