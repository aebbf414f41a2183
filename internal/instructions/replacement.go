package instructions

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/untrusted"
)

// Difference are files that would govern an agent otherwise than the base's, each in one list.
type Difference struct {
	Replaced []string // the agent gets the base's version of them
	Omitted  []string // they import or link to changed files: the agent gets them in the prompt only
}

// Differing compares a commit with the base. A changed file that instructions import
// can be what the task is about, so the agent keeps it, and the instructions are omitted.
func Differing(ctx context.Context, trusted *git.Trusted, base, commit string) (Difference, error) {
	var diff Difference
	if base == "" || base == commit {
		return diff, nil
	}
	all, err := trusted.Compare(ctx, git.Span{From: commit, To: base})
	if err != nil {
		return diff, err
	}
	source, err := OfCommit(ctx, trusted.Do, base)
	if err != nil {
		return diff, err
	}
	var changed, deleted []string
	for _, d := range all {
		switch {
		case !d.Was():
			deleted = append(deleted, d.Path)
		case governs(d.Path):
			diff.Replaced = append(diff.Replaced, d.Path)
		default:
			changed = append(changed, d.Path)
		}
	}
	in := func(paths []string) func(string) bool {
		return func(name string) bool { return slices.Contains(paths, name) }
	}
	diff.Omitted = slices.DeleteFunc(source.LeadingTo(changed), in(deleted))
	diff.Replaced = slices.DeleteFunc(diff.Replaced, in(diff.Omitted))
	return diff, nil
}

const maxReached = 500

// LeadingTo returns the files of instructions that lead to one of some paths by imports or links.
func (s Source) LeadingTo(paths []string) (leading []string) {
	for _, name := range s.Files {
		if (whole(name) || governs(name) && s.Link(name) != "") && s.leads(name, paths, map[string]bool{}) {
			leading = append(leading, name)
		}
	}
	return leading
}

func (s Source) leads(name string, paths []string, seen map[string]bool) bool {
	switch {
	case seen[name]:
		return false
	case len(seen) == maxReached, slices.ContainsFunc(paths, func(p string) bool {
		return p == name || strings.HasPrefix(p, name+"/") || strings.HasPrefix(name, p+"/") // a folder can become a link
	}):
		return true
	}
	seen[name] = true
	return slices.ContainsFunc(s.next(name), func(next string) bool { return s.leads(next, paths, seen) })
}

// next returns the paths that a file imports, or where it leads.
func (s Source) next(name string) []string {
	paths := importsOf(name, s.Read(name))
	for link, rest := name, ""; link != "."; link, rest = path.Dir(link), path.Join(path.Base(link), rest) {
		if target := s.Link(link); target != "" {
			return append(paths, path.Join(path.Dir(link), target, rest))
		}
	}
	return paths
}

// Replacement changes a tree, while an agent works in it, where the tree's commit would
// govern the agent otherwise than the base does. CLIs that read instructions by
// themselves then read the base's, or none.
type Replacement struct {
	Trusted    *git.Trusted
	Tree       *git.Tree
	Base, Head string                                       // the tree stands at Head
	Lend       func(ctx context.Context, name string) error // gives a file to the user that works there
}

// Apply returns what restores the files. What the agent changed there stays.
func (r Replacement) Apply(ctx context.Context) (restore func(context.Context) error, err error) {
	diff, err := Differing(ctx, r.Trusted, r.Base, r.Head)
	paths := slices.Concat(diff.Replaced, diff.Omitted)
	if err != nil || len(paths) == 0 {
		return func(context.Context) error { return nil }, err
	}
	base, err := open(ctx, r.Trusted.Do, r.Base)
	if err != nil {
		return nil, err
	}
	for _, name := range diff.Omitted {
		delete(base.blobs, name)
	}
	head, err := open(ctx, r.Trusted.Do, r.Head)
	if err != nil {
		return nil, err
	}
	restore = func(ctx context.Context) error {
		_ = r.mark(ctx, "--no-skip-worktree", paths) // the agent may have broken the index
		return r.swap(ctx, paths, head, &base)
	}
	if err := errors.Join(r.mark(ctx, "--skip-worktree", paths), r.swap(ctx, paths, base, nil)); err != nil {
		return nil, errors.Join(err, restore(ctx))
	}
	return restore, nil
}

// mark tells git whether to look at files, if they are in its index.
func (r Replacement) mark(ctx context.Context, how string, paths []string) error {
	listed, err := r.Tree.Ask(ctx, "ls-files", "-z")
	if err != nil {
		return fmt.Errorf("list the files of the tree: %w", err)
	}
	known := strings.Split(listed, "\x00")
	paths = slices.DeleteFunc(slices.Clone(paths), func(name string) bool { return !slices.Contains(known, name) })
	if len(paths) == 0 {
		return nil
	}
	if _, err := r.Tree.Ask(ctx, append([]string{"update-index", how, "--"}, paths...)...); err != nil {
		return fmt.Errorf("mark the instructions in the tree: %w", err)
	}
	return nil
}

// swap takes files from a commit: all, or those that are as in another commit.
func (r Replacement) swap(ctx context.Context, paths []string, to commit, from *commit) error {
	root, err := untrusted.OpenRoot(r.Tree.Dir)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // only a handle
	for _, name := range paths {
		if from != nil && !stands(ctx, root, name, *from) {
			continue
		}
		if err := r.replace(ctx, root, name, to); err != nil {
			return fmt.Errorf("replace %s in the tree: %w", name, err)
		}
	}
	return nil
}

func (r Replacement) replace(ctx context.Context, root *untrusted.Root, name string, to commit) error {
	if err := root.RemoveAll(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	b, has := to.blobs[name]
	if !has {
		return nil
	}
	data, err := to.read(ctx, name)
	if err == nil {
		err = root.MkdirAll(path.Dir(name), 0o755)
	}
	if err != nil {
		return err
	}
	if b.link {
		return root.Symlink(string(data), name)
	}
	if err := root.WriteFile(name, data, 0o644); err != nil {
		return err
	}
	return r.Lend(ctx, name)
}

func stands(ctx context.Context, root *untrusted.Root, name string, c commit) bool {
	b, has := c.blobs[name]
	_, err := root.Lstat(name)
	if !has || err != nil {
		return !has && errors.Is(err, fs.ErrNotExist)
	}
	want, err := c.read(ctx, name)
	if err != nil {
		return false
	}
	if b.link {
		target, err := root.Readlink(name)
		return err == nil && target == string(want)
	}
	got, err := root.ReadFile(name, maxRead)
	return err == nil && bytes.Equal(got, want)
}
