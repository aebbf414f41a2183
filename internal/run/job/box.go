package job

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/box/box"
	"github.com/ralph-loop/ralph/internal/box/confine"
	"github.com/ralph-loop/ralph/internal/box/handover"
	"github.com/ralph-loop/ralph/internal/box/sandbox"
	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/lib/fault"
)

// UserFolder is the folder of a user to which work comes from a box.
type UserFolder struct {
	Top   string
	Place *git.Place // nil: there is no repository
}

// cloneSpec returns the part of a clone's that the user's repository says.
func (f UserFolder) cloneSpec(ctx context.Context) (git.CloneSpec, error) {
	exclude, err := f.Place.Excluded(ctx)
	return git.CloneSpec{By: f.Place.Identity(), Exclude: exclude}, err
}

// fill makes a box equal to the user's folder, and has it used inside. More files are copied also if git ignores them.
func (f UserFolder) fill(ctx context.Context, b box.Box, sb *confine.Sandbox, more ...string) error {
	list, err := f.list(ctx)
	if err != nil {
		return err
	}
	list.Files = append(list.Files, more...)
	if sb.Inside(accessTo(b, nil), b.Dir) != f.Top {
		list.Ignored = f.movable(list.Ignored, sb)
	}
	work := func(layers []sandbox.Layer) bool {
		return sb.HasLayers(ctx, confine.Access{
			Write:  []string{b.Dir},
			At:     map[string]string{b.Dir: f.Top},
			Layers: layers,
		})
	}
	if err := b.Fill(ctx, list, work); err != nil {
		return err
	}
	return sb.Lend(ctx, b.Dir, ".")
}

// movable returns the ignored folders that work at another path. A virtual environment of Python contains its own.
func (f UserFolder) movable(ignored []string, sb *confine.Sandbox) (all []string) {
	for _, name := range ignored {
		if _, err := os.Stat(filepath.Join(f.Top, name, "pyvenv.cfg")); err != nil {
			all = append(all, name)
			continue
		}
		sb.NoteOnce(journal.Noted{
			What: name + " is not in the box: it contains its own path, and the box lies at another one",
			Hint: "have `setup` make it, such as python3 -m venv " + name,
		})
	}
	return all
}

// checkFolder refuses a folder of the project that has no file which git would copy into a box.
func checkFolder(folder string) error {
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
		return fault.Usage("the box has no such folder: git has no file in it",
			"add a file to the folder, or work in the folder above", nil)
	}
	return nil
}

func (f UserFolder) list(ctx context.Context) (git.Listing, error) {
	if f.Place != nil {
		return f.Place.List(ctx)
	}
	files, err := box.List(ctx, f.Top)
	return git.Listing{Files: files}, err
}

// CommandBox is a box for a command beside a run.
type CommandBox struct {
	Access confine.Access
	Folder string // that of the command

	box     box.Box
	tree    *git.Tree    // nil: no repository
	trusted *git.Trusted // nil: no repository
	head    string
}

// OpenBox makes a box of a folder and its repository, below room.
func OpenBox(ctx context.Context, tool git.Git, sb *confine.Sandbox, dir, room string) (CommandBox, error) {
	var b CommandBox
	room, err := filepath.EvalSymlinks(room)
	if err != nil {
		return b, err
	}
	user := UserFolder{Top: dir}
	place, err := tool.Inspect(ctx, dir)
	if err == nil {
		user = UserFolder{Top: place.Top, Place: &place}
	} else if place.Top != "" && place.Head != "" {
		return b, err
	}
	b.box = box.Box{
		User:   user.Top,
		Dir:    filepath.Join(room, "tree"),
		Record: filepath.Join(room, "start.json"),
		Upper:  filepath.Join(room, "layers"),
	}
	if err := os.MkdirAll(b.box.Dir, 0o755); err != nil {
		return b, err
	}
	if user.Place != nil {
		if err := b.clone(ctx, tool, user, sb, room); err != nil {
			return b, err
		}
	}
	if err := user.fill(ctx, b.box, sb); err != nil {
		return b, err
	}
	if b.tree != nil {
		if err := b.tree.ForgetSizes(ctx); err != nil {
			return b, err
		}
	}
	b.Access = accessTo(b.box, b.trusted)
	within, err := filepath.Rel(user.Top, dir)
	if err != nil {
		return b, err
	}
	b.Folder = filepath.Join(b.box.Dir, within)
	return b, checkFolder(b.Folder)
}

func (b *CommandBox) clone(
	ctx context.Context,
	tool git.Git,
	user UserFolder,
	sb *confine.Sandbox,
	room string,
) error {
	b.head = user.Place.Head
	trusted, err := tool.Borrow(ctx, *user.Place, filepath.Join(room, "trusted.git"))
	if err != nil {
		return err
	}
	b.trusted = trusted
	spec, err := user.cloneSpec(ctx)
	if err != nil {
		return err
	}
	spec.Dir = b.box.Dir
	spec.Branch = user.Place.Branch
	spec.SHA = b.head
	spec.Run = gitInside(sb, tool.Home, b.box.Dir, trusted)
	b.tree, err = trusted.Clone(ctx, spec)
	return err
}

// Changed returns the files that are no longer the user's.
func (b CommandBox) Changed(ctx context.Context) ([]string, error) {
	names, err := b.files(ctx)
	if err != nil {
		return nil, err
	}
	return b.box.Changed(ctx, names)
}

func (b CommandBox) files(ctx context.Context) ([]string, error) {
	if b.tree != nil {
		return b.tree.Files(ctx)
	}
	return box.List(ctx, b.box.Dir)
}

// Bring brings changes of some paths into the user's folder, but not of protected files.
func (b CommandBox) Bring(ctx context.Context, paths []string) (box.Brought, error) {
	isProtected, err := handover.Protected(ctx, b.trusted, b.head, policy.ProtectedFiles())
	if err != nil {
		return box.Brought{}, err
	}
	return b.box.Bring(ctx, paths, func(name string) string {
		if isProtected(name) {
			return "it is protected"
		}
		return ""
	})
}
