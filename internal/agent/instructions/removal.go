package instructions

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/lib/untrusted"
)

// Differing returns the files of a commit that would govern an agent otherwise than the base's
// do, and those that import or link to changed files. Without them the agent has the base's
// instructions in its prompt. A changed file that instructions import can be what the task is
// about, so the agent keeps it.
func Differing(ctx context.Context, trusted *git.Trusted, base, commit string) ([]string, error) {
	if base == "" || base == commit {
		return nil, nil
	}
	all, err := trusted.Compare(ctx, git.Span{From: commit, To: base})
	if err != nil {
		return nil, err
	}
	source, err := OfCommit(ctx, trusted.Do, base)
	if err != nil {
		return nil, err
	}
	var differing, changed, deleted []string
	for _, d := range all {
		switch {
		case !d.Was():
			deleted = append(deleted, d.Path)
		case governs(d.Path):
			differing = append(differing, d.Path)
		default:
			changed = append(changed, d.Path)
		}
	}
	for _, name := range source.LeadingTo(changed) {
		if !slices.Contains(deleted, name) && !slices.Contains(differing, name) {
			differing = append(differing, name)
		}
	}
	return differing, nil
}

const maxReached = 500

// LeadingTo returns the files of instructions that lead to one of some paths by imports or links.
func (s Source) LeadingTo(paths []string) []string {
	var leading []string
	for _, name := range s.Files {
		isLink := governs(name) && s.Link(name) != ""
		if !isLink && !isInstruction(name) {
			continue
		}
		if s.leads(name, paths, map[string]bool{}) {
			leading = append(leading, name)
		}
	}
	return leading
}

func (s Source) leads(name string, paths []string, seen map[string]bool) bool {
	if seen[name] {
		return false
	}
	if len(seen) == maxReached {
		return true
	}
	for _, p := range paths {
		if p == name || isBelow(p, name) || isBelow(name, p) { // a folder can become a link
			return true
		}
	}
	seen[name] = true
	return slices.ContainsFunc(s.next(name), func(next string) bool { return s.leads(next, paths, seen) })
}

func isBelow(name, folder string) bool { return strings.HasPrefix(name, folder+"/") }

// next returns the paths that a file imports, or where it leads.
func (s Source) next(name string) []string {
	paths := importsOf(name, s.Read(name))
	link := name
	rest := "" // from the link to the file
	for link != "." {
		if target := s.Link(link); target != "" {
			return append(paths, path.Join(path.Dir(link), target, rest))
		}
		rest = path.Join(path.Base(link), rest)
		link = path.Dir(link)
	}
	return paths
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
	if from.blobs[name].link {
		return root.Symlink(string(data), name)
	}
	if err := root.WriteFile(name, data, 0o644); err != nil {
		return err
	}
	return r.Lend(ctx, name)
}
