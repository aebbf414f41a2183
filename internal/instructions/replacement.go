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

// Differing are the files of a commit by which it would govern an agent otherwise
// than the base does.
func Differing(ctx context.Context, trusted *git.Trusted, base, commit string) ([]string, error) {
	if base == "" || base == commit {
		return nil, nil
	}
	all, err := trusted.Compare(ctx, git.Span{From: commit, To: base})
	var paths []string
	for _, d := range all {
		if d.Was() && Governs(d.Path) {
			paths = append(paths, d.Path)
		}
	}
	return paths, err
}

// Replacement gives a tree, while an agent works in it, the base's version of the files
// by which its commit would govern the agent. CLIs that read such files by themselves
// then read the base's.
type Replacement struct {
	Trusted    *git.Trusted
	Tree       *git.Tree
	Base, Head string                                       // the tree stands at Head
	Lend       func(ctx context.Context, name string) error // gives a file to the user that works there
}

// Apply changes the files and returns what changes them back. Git in the tree sees no
// difference meanwhile. What the agent changed there stays as it left it.
func (r Replacement) Apply(ctx context.Context) (restore func(context.Context) error, err error) {
	paths, err := Differing(ctx, r.Trusted, r.Base, r.Head)
	if err != nil || len(paths) == 0 {
		return func(context.Context) error { return nil }, err
	}
	base, err := open(ctx, r.Trusted.Do, r.Base)
	if err != nil {
		return nil, err
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

// mark tells git in the tree whether to look at files, as far as they are in its index.
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

// swap replaces files by those of a commit: all of them, or those that are as in
// another commit.
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

// stands tells whether a file is as a commit has it.
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
