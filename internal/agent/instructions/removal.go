package instructions

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/lib/untrusted"
)

// Differing returns the files of a commit that would govern an agent otherwise than the base's do. If other files
// changed, these are also all that import files or are links: what they lead to may be among the changed. Without them
// the agent has the base's instructions in its prompt. A changed file that instructions import can be what the task is
// about, so the agent keeps it.
func Differing(ctx context.Context, trusted *git.Trusted, base, commit string) ([]string, error) {
	if base == "" || base == commit {
		return nil, nil
	}
	all, err := trusted.Compare(ctx, git.Span{From: commit, To: base})
	if err != nil {
		return nil, err
	}
	var differing []string
	compared := map[string]bool{}
	hasOther := false
	for _, d := range all {
		switch {
		case d.Was() && governs(d.Path):
			differing = append(differing, d.Path)
		case !governs(d.Path):
			hasOther = true
		}
		compared[d.Path] = true
	}
	if !hasOther {
		return differing, nil
	}
	c, err := open(ctx, trusted.Do, base)
	if err != nil {
		return nil, err
	}
	for _, name := range c.names {
		if governs(name) && !compared[name] && c.leadsElsewhere(ctx, name) {
			differing = append(differing, name)
		}
	}
	return differing, nil
}

// leadsElsewhere reports whether a file is a link, or instructions that import files.
func (c commit) leadsElsewhere(ctx context.Context, name string) bool {
	if c.isLink(name) {
		return true
	}
	return isInstruction(name) && imported.MatchString(c.text(ctx, name))
}

// Removal takes files out of a tree while an agent works in it: those of the tree's commit that
// would govern the agent otherwise than the base's do, for CLIs that read them by themselves.
type Removal struct {
	Trusted    *git.Trusted
	Tree       *git.Tree
	Base, Head string                                       // the tree stands at Head
	Lend       func(ctx context.Context, name string) error // gives a file to the user that works there
}

// Apply returns what restores the files. What the agent wrote in their places stays.
func (r Removal) Apply(ctx context.Context) (restore func(context.Context) error, err error) {
	names, err := Differing(ctx, r.Trusted, r.Base, r.Head)
	if err != nil || len(names) == 0 {
		return func(context.Context) error { return nil }, err
	}
	head, err := open(ctx, r.Trusted.Do, r.Head)
	if err != nil {
		return nil, err
	}
	restore = func(ctx context.Context) error {
		_ = r.mark(ctx, "--no-skip-worktree", names) // the agent may have broken the index
		return r.each(names, func(root *untrusted.Root, name string) error {
			return r.restoreFile(ctx, root, name, head)
		})
	}
	if err := r.remove(ctx, names); err != nil {
		return nil, errors.Join(err, restore(ctx))
	}
	return restore, nil
}

func (r Removal) remove(ctx context.Context, names []string) error {
	if err := r.mark(ctx, "--skip-worktree", names); err != nil {
		return err
	}
	return r.each(names, (*untrusted.Root).RemoveAll)
}

// mark tells git whether to look at files, if they are in its index.
func (r Removal) mark(ctx context.Context, how string, names []string) error {
	listed, err := r.Tree.Ask(ctx, "ls-files", "-z")
	if err != nil {
		return fmt.Errorf("list the files of the tree: %w", err)
	}
	known := map[string]bool{}
	for name := range strings.SplitSeq(strings.TrimSuffix(listed, "\x00"), "\x00") {
		known[name] = true
	}
	args := []string{"update-index", how, "--"}
	marked := false
	for _, name := range names {
		if known[name] {
			args = append(args, name)
			marked = true
		}
	}
	if !marked {
		return nil
	}
	if _, err := r.Tree.Ask(ctx, args...); err != nil {
		return fmt.Errorf("mark the instructions in the tree: %w", err)
	}
	return nil
}

func (r Removal) each(names []string, do func(root *untrusted.Root, name string) error) error {
	root, err := untrusted.OpenRoot(r.Tree.Dir)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // only a handle
	for _, name := range names {
		if err := do(root, name); err != nil {
			return fmt.Errorf("change %s in the tree: %w", name, err)
		}
	}
	return nil
}

// restoreFile writes a file again, unless there is another in its place.
func (r Removal) restoreFile(ctx context.Context, root *untrusted.Root, name string, from commit) error {
	if _, err := root.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	data, err := from.read(ctx, name)
	if err != nil {
		return err
	}
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	if from.isLink(name) {
		return root.Symlink(string(data), name)
	}
	if err := root.WriteFile(name, data, 0o644); err != nil {
		return err
	}
	return r.Lend(ctx, name)
}
