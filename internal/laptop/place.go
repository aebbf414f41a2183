package laptop

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/ralph-loop/ralph/internal/confine"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/git/guarded"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/process"
	"github.com/ralph-loop/ralph/internal/shell"
	"github.com/ralph-loop/ralph/internal/untrusted"
)

// MarkAndAccess gives accessTo a folder that Folder found, and marks it. The mark has the current
// settings if they can be read, and if the folder and those above had no mark.
func (w World) MarkAndAccess(ctx context.Context, sb *confine.Sandbox, dir string) (confine.Access, error) {
	tool, err := w.Git(dir)
	if err != nil {
		return confine.Access{}, err
	}
	at, err := w.accessTo(ctx, sb, dir)
	if err != nil {
		return at, err
	}
	d := &Project{Flags: Flags{ProjectDir: dir, DryRun: true}, World: w, Tool: tool}
	_ = d.read(ctx)
	if _, marked := d.marks(ctx); marked { // perhaps by a folder above, or a repository that was here before
		d.config = nil
	}
	return at, d.mark(ctx)
}

// accessTo gives access to a folder and its repository, but not to the settings of a run. Without
// a repository it guards the files that would make one. It is a fault if another folder has
// replaced dir, or if git cannot read the repository to which a file .git leads: it is not known what that includes.
func (w World) accessTo(ctx context.Context, sb *confine.Sandbox, dir string) (confine.Access, error) {
	top, list := dir, func() guarded.Needs { return guarded.Folder(dir) }
	if tool, err := w.Git(dir); err == nil {
		var tree *git.Tree
		place, err := tool.Inspect(ctx, dir)
		if place.Top != "" { // without a commit, too
			tree, err = w.ownTree(ctx, tool, place, true)
		}
		switch {
		case err == nil:
			top, list = tree.Dir, func() guarded.Needs { return tree.Needs(ctx) }
		case errors.Is(err, errStrays), errors.Is(err, errUnsettled), leadsToNone(dir):
			return confine.Access{}, err
		default:
			list = func() guarded.Needs {
				needs := guarded.Folder(dir)
				if folder := guarded.FolderOf(guarded.Around(dir)); process.Under(dir, folder) && folder != dir {
					needs = needs.Within(folder).With(folder)
				}
				return tool.WithIncluded(ctx, needs, dir)
			}
		}
	}
	if !process.Under(top, dir) {
		return confine.Access{}, errMoved(dir, errReplaced)
	}
	return sb.Listed(func() confine.Access {
		needs := list()
		at := confine.Access{
			Write: append([]string{top}, needs.Write...), Read: needs.Read, Guarded: needs.Guarded,
			ReadOnly: append(needs.ReadOnly, guarded.LocalIn(dir)...),
		}
		at.Keep(dir)
		if top != dir {
			at.Keep(top)
		}
		return at
	})
}

// leadsToNone reports that the nearest .git is a file or a link, and leads to no repository; a bare one is one.
func leadsToNone(dir string) bool {
	at := guarded.Around(dir)
	info, err := os.Lstat(filepath.Join(at, ".git"))
	return err == nil && !info.IsDir() && !guarded.IsBare(guarded.FolderOf(at))
}

var (
	errStrays    = errors.New("an archive, or a command in the sandbox in a folder above, may have made it do so")
	errUnsettled = errors.New("another command in the sandbox works there, or did until now, and could have named them")
)

// ownTree refuses a repository whose .git leads to a git folder that does not name it. In a folder where
// a command ran in the sandbox, it refuses all that a command could have redirected.
func (w World) ownTree(ctx context.Context, tool git.Git, at git.Place, sandboxed bool) (*git.Tree, error) {
	tree, err := tool.Own(ctx, at)
	area := w.markedAbove(filepath.Dir(at.Top))
	if err != nil || area == "" && !sandboxed {
		return tree, err
	}
	if err = w.checkAlternates(at, sandboxed); err != nil {
		return nil, err
	}
	if to := tree.DirOutside(ctx, area); to != "" {
		fix := "move the repository out of " + area
		if area == "" {
			fix = "tell git: git config core.worktree " + shell.Quote(at.Top) + ", or for a worktree: git worktree repair"
		}
		return nil, fault.Usage("the repository in "+at.Top+" uses "+to, "look at .git there; if it is as you made it, "+fix, errStrays)
	}
	return tree, nil
}

// checkAlternates refuses object folders that another command's program may have named: it could read them by this one.
func (w World) checkAlternates(at git.Place, sandboxed bool) error {
	if !sandboxed || len(at.Alternates()) == 0 {
		return nil
	}
	home, err := w.homeBeside(at.Top)
	if err != nil {
		return err
	}
	return confine.Settled(home, at.Common(), func(settled bool) error {
		if settled && slices.Equal(at.Alternates(), guarded.Alternates(filepath.Join(at.Common(), "objects"))) {
			return nil
		}
		return fault.Usage("the repository in "+at.Top+" uses the objects of "+journal.ShortList(at.Alternates()), "start it again when the other command has ended", errUnsettled)
	})
}

// Folder returns the folder that a user names, without links. Another sandboxed command may replace it
// by a link at any time, so nothing resolves that path again. A link that such a command may have
// made is a fault. The folder need not exist.
func (w World) Folder(name string) (string, error) {
	dir := name
	if !filepath.IsAbs(name) {
		here, err := standing()
		if err != nil || filepath.Clean(name) == "." {
			return here, err
		}
		dir = filepath.Join(here, name)
	}
	place, err := untrusted.Resolve(filepath.Clean(dir), func(link string) bool { return w.markedAbove(filepath.Dir(link)) != "" })
	switch {
	case errors.Is(err, untrusted.ErrTheirLink):
		return "", fault.Usage("the path leads through a link in a folder where commands ran in the sandbox, and one of them may have made it: "+name,
			"name the folder that you mean by its own path", nil)
	case err != nil:
		return filepath.Clean(dir), nil //nolint:nilerr // who uses the folder tells of it
	}
	return place, nil
}

// markedAbove returns the nearest folder at dir or above in which something was confined; empty: none.
func (w World) markedAbove(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if file := w.markFile(at); file != "" {
			if _, err := os.Lstat(file); err == nil {
				return at
			}
		}
		if at == filepath.Dir(at) {
			return ""
		}
	}
}

// standing returns the working directory without links.
func standing() (string, error) {
	here, err := os.Stat(".")
	if err != nil {
		return "", fmt.Errorf("find the working directory: %w", err)
	}
	dir, err := os.Getwd()
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	there, failed := os.Lstat(dir)
	if err = errors.Join(err, failed); err != nil || !os.SameFile(here, there) {
		return "", errMoved(dir, err)
	}
	return dir, nil
}

var errReplaced = errors.New("another folder is in its place")

func errMoved(dir string, err error) error {
	return fault.Usage("the folder was moved or replaced: "+dir, "change into the folder again", err)
}

// PlaceOf returns the repository that a folder lies in, which Folder found.
func PlaceOf(ctx context.Context, tool git.Git, dir string) (git.Place, error) {
	place, err := tool.Inspect(ctx, dir)
	if err == nil && !process.Under(place.Top, dir) {
		err = errMoved(dir, errReplaced)
	}
	return place, err
}
