package laptop

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/box"
	"github.com/ralph-loop/ralph/internal/confine"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/git/handover"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/sandbox"
)

// Box is a box for commands beside a run.
type Box struct {
	confine.Access
	Dir string // where the command's folder is in it

	box.Box
	tree    *git.Tree    // nil: no repository
	trusted *git.Trusted // nil: no repository
	head    string
}

// OpenBox makes a box of a folder and its repository, below room.
func (w World) OpenBox(ctx context.Context, tool git.Git, sb *confine.Sandbox, dir, room string) (b Box, err error) {
	room, err = filepath.EvalSymlinks(room)
	if err != nil {
		return b, err
	}
	work := filepath.Join(room, "tree")
	b = Box{
		Box:    box.Box{User: dir, Dir: work, Record: filepath.Join(room, "start.json"), Upper: filepath.Join(room, "layers")},
		Access: confine.Access{Write: []string{work}, At: map[string]string{}},
	}
	var list git.Listing
	place, err := tool.Inspect(ctx, dir)
	if err == nil {
		b.User = place.Top
		list, err = place.List(ctx)
		if err == nil {
			err = b.clone(ctx, tool, place, sb, room)
		}
	} else if place.Top == "" || place.Head == "" {
		list.Files, err = box.List(ctx, dir)
		err = errors.Join(err, os.MkdirAll(work, 0o755))
	}
	b.At[work] = b.User
	try := func(layers []sandbox.Layer) bool {
		at := b.Access
		at.Layers = layers
		return sb.HasLayers(ctx, at)
	}
	if err == nil {
		err = errors.Join(b.Fill(ctx, list, try), sb.Lend(ctx, work, "."))
	}
	if err == nil && b.tree != nil {
		err = b.tree.ForgetSizes(ctx)
	}
	if err != nil {
		return b, err
	}
	b.Access.Layers = b.Box.Layers()
	within, err := Inside(b.User, dir)
	b.Dir = filepath.Join(work, within)
	return b, err
}

func (b *Box) clone(ctx context.Context, tool git.Git, place git.Place, sb *confine.Sandbox, room string) error {
	trusted, err := tool.Borrow(ctx, place, filepath.Join(room, "trusted.git"))
	if err != nil {
		return err
	}
	b.Read = trusted.Lent()
	for _, lent := range b.Read {
		b.At[lent] = lent
	}
	b.trusted, b.head = trusted, place.Head
	exclude, err := place.Excluded(ctx)
	if err != nil {
		return err
	}
	run := git.Run(sb.Around(confine.Access{Write: b.Write, Read: append([]string{tool.Home}, b.Read...), Alone: true}))
	if err := os.MkdirAll(b.Box.Dir, 0o755); err != nil {
		return err
	}
	b.tree, err = trusted.Clone(ctx, git.CloneSpec{Dir: b.Box.Dir, Branch: place.Branch, SHA: place.Head, By: place.Identity(), Exclude: exclude, Run: run})
	return err
}

// Bring brings changes of some paths into the user's folder, but not of protected files.
func (b Box) Bring(ctx context.Context, paths []string) (box.Brought, error) {
	isProtected, err := handover.Protected(ctx, b.trusted, b.head, policy.ProtectedFiles())
	if err != nil {
		return box.Brought{}, err
	}
	return b.Box.Bring(ctx, paths, func(name string) string {
		if isProtected(name) {
			return "it is protected"
		}
		return ""
	})
}

// Changed returns the files that are no longer the user's.
func (b Box) Changed(ctx context.Context) (names []string, err error) {
	if b.tree != nil {
		names, err = b.tree.Files(ctx)
	} else {
		names, err = box.List(ctx, b.Box.Dir)
	}
	if err != nil {
		return nil, err
	}
	return b.Box.Changed(ctx, names)
}
