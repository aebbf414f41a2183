package laptop

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/confine"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/git/guarded"
	"github.com/ralph-loop/ralph/internal/untrusted"
)

// Place is a folder, with the repository that it is in. Where git finds none,
// what would make one is guarded all the same.
func (w World) Place(ctx context.Context, dir string) confine.Access {
	top, needs := dir, guarded.Folder(dir)
	if tool, done, err := w.Git(dir); err == nil {
		defer done()
		if tree, err := ownTree(ctx, tool, dir); err == nil {
			top, needs = tree.Dir, tree.Needs()
		} else {
			needs = tool.WithIncluded(ctx, needs)
		}
	}
	return confine.Access{
		Write: append([]string{top}, needs.Write...), Read: needs.Read, Guarded: needs.Guarded,
		ReadOnly: append(needs.ReadOnly, confine.Local(dir)...),
	}
}

// KeptHere marks a folder that Folder found, and is Kept of it.
func (w World) KeptHere(ctx context.Context, dir string) (confine.Access, error) {
	if err := w.Confined(ctx, dir); err != nil {
		return confine.Access{}, err
	}
	return w.Kept(ctx, dir)
}

// Kept is Place for those who may not write to the settings of a run there. It is a fault
// where another folder has taken the place of dir.
func (w World) Kept(ctx context.Context, dir string) (confine.Access, error) {
	at := w.Place(ctx, dir)
	if !confine.Under(at.Write[0], dir) {
		return at, errMoved(dir, errReplaced)
	}
	at.Keep(dir)
	if top := at.Write[0]; top != dir {
		at.Keep(top)
	}
	return at, nil
}

// Confined marks a folder in which something is to be confined, with the
// settings as they are before.
func (w World) Confined(ctx context.Context, dir string) error {
	d, done, err := Flags{ProjectDir: dir, DryRun: true}.Open(ctx, w)
	if err != nil {
		return nil // settings that cannot be read are believed by no run
	}
	defer done()
	if _, marked := d.marks(ctx); marked {
		return nil
	}
	return d.mark(ctx)
}

// ownTree is the tree of the repository that a folder is in.
func ownTree(ctx context.Context, tool git.Git, dir string) (*git.Tree, error) {
	top, err := tool.Inspect(ctx, dir)
	if err != nil {
		return nil, err
	}
	return tool.Own(ctx, top)
}

// Folder is the folder that a user names, without links. Another sandboxed command may put
// a link in its place at any time, so nothing resolves that path again. A link that such a
// command may have made is a fault. Whether a folder is there is not looked at.
func (w World) Folder(name string) (string, error) {
	dir := name
	if !filepath.IsAbs(name) {
		here, err := standing()
		if err != nil || filepath.Clean(name) == "." {
			return here, err
		}
		dir = filepath.Join(here, name)
	}
	place, err := untrusted.Resolve(filepath.Clean(dir), func(link string) bool { return w.isMarked(filepath.Dir(link)) })
	switch {
	case errors.Is(err, untrusted.ErrTheirLink):
		return "", fault.Usage("the path leads through a link in a folder where commands ran in the sandbox, and one of them may have made it: "+name,
			"name the folder that you mean by its own path", nil)
	case err != nil:
		return filepath.Clean(dir), nil //nolint:nilerr // who uses the folder tells of it
	}
	return place, nil
}

// isMarked tells whether something was confined in a folder, or in one above it.
func (w World) isMarked(dir string) bool {
	for at := dir; ; at = filepath.Dir(at) {
		if file := w.markFile(at); file != "" {
			if _, err := os.Lstat(file); err == nil {
				return true
			}
		}
		if at == filepath.Dir(at) {
			return false
		}
	}
}

// standing is the working directory without links.
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

// placeOf is the repository that a folder lies in, which Folder found.
func placeOf(ctx context.Context, tool git.Git, dir string) (git.Place, error) {
	place, err := tool.Inspect(ctx, dir)
	if err == nil && !confine.Under(place.Top, dir) {
		err = errMoved(dir, errReplaced)
	}
	return place, err
}
