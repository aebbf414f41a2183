package guarded

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/untrusted"
)

// Found is what a search found: repositories within the tree, and the indexes of all
// repositories, the tree's own included, each with a digest of its content; and all pipes,
// with links to them.
type Found struct {
	Nested
	Indexes, Pipes Nested
}

const index = "index"

// isIndex includes the second file of a split index.
func isIndex(e untrusted.Entry) bool {
	if e.Name != index && !strings.HasPrefix(e.Name, "sharedindex.") {
		return false
	}
	_, err := e.In.Lstat("HEAD")
	return err == nil
}

// version of a file that is no link. What is not known counts as changed.
func (b *budget) version(e untrusted.Entry) string { return cmp.Or(e.Version(&b.bytes), unread) }

const unread = "?"

// Lists reports whether an index holds only names that git adds itself. git reads the index.
type Lists func(ctx context.Context, folder, index string) bool

// DisarmIndexes moves aside the indexes that name files outside of their tree or in a
// git folder: git does not look at the names that it reads there, and git checkout
// would write those files. It returns the new paths.
func (s Search) DisarmIndexes(ctx context.Context, lists Lists, names []string) (moved []string, err error) {
	root, err := untrusted.OpenRoot(s.Top)
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // only a handle
	for _, name := range names {
		at := filepath.Join(s.Top, filepath.FromSlash(name))
		info, failed := root.Lstat(name)
		if errors.Is(failed, fs.ErrNotExist) || failed == nil && info.Mode().IsRegular() && lists(ctx, filepath.Dir(at), at) {
			continue
		}
		if failed := moveAside(root, name); failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		moved = append(moved, name+Aside)
	}
	return moved, err
}

// Owns reports whether an index is of this repository, its submodules or its worktrees.
func (s Search) Owns(index string) bool { return strings.HasPrefix(index, s.Git+"/") }
