package git

import (
	"context"
	"fmt"
	"strings"
)

// overlay is what is to stand at a path of a tree: an object, or nothing where
// the mode says so.
type overlay struct{ path, mode, id string }

// index is a file to make a tree in, and the tree to begin with.
type index struct{ file, tree string }

// overlaid is a tree with some paths as they are wanted.
func overlaid(ctx context.Context, do doing, in index, wanted []overlay) (string, error) {
	on := func(args ...string) call { return call{args: args, env: []string{"GIT_INDEX_FILE=" + in.file}} }
	if _, err := do(ctx, on("read-tree", in.tree)); err != nil {
		return "", err
	}
	// What is to go goes first: it may stand where a folder is to come.
	var gone, come strings.Builder
	for _, o := range wanted {
		to := &come
		if o.mode == modeNone {
			to = &gone
		}
		fmt.Fprintf(to, "%s %s\t%s\x00", o.mode, o.id, o.path)
	}
	update := on("update-index", "--replace", "-z", "--index-info")
	update.stdin = strings.NewReader(gone.String() + come.String())
	if _, err := do(ctx, update); err != nil {
		return "", err
	}
	return object(do(ctx, on("write-tree")))
}
