package git

import (
	"context"
	"fmt"
	"strings"
)

// TreeEntry is what is to stand at a path of a tree: an object, or nothing where
// the mode says so.
type TreeEntry struct{ Path, Mode, ID string }

// Index is a file to make a tree in, and the tree to begin with.
type Index struct{ File, Tree string }

// WriteTree is a tree with some paths as they are wanted.
func WriteTree(ctx context.Context, do Runner, in Index, wanted []TreeEntry) (string, error) {
	on := func(args ...string) Call { return Call{Args: args, Env: []string{"GIT_INDEX_FILE=" + in.File}} }
	if _, err := do(ctx, on("read-tree", in.Tree)); err != nil {
		return "", err
	}
	// What is to go goes first: it may stand where a folder is to come.
	var gone, come strings.Builder
	for _, o := range wanted {
		to := &come
		if o.Mode == ModeNone {
			to = &gone
		}
		fmt.Fprintf(to, "%s %s\t%s\x00", o.Mode, o.ID, o.Path)
	}
	update := on("update-index", "--replace", "-z", "--index-info")
	update.Stdin = strings.NewReader(gone.String() + come.String())
	if _, err := do(ctx, update); err != nil {
		return "", err
	}
	return ObjectID(do(ctx, on("write-tree")))
}
