package untrusted

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"
)

// deepest limits the depth: each level takes a descriptor.
const deepest = 256

// ErrTooDeep says that folders are nested deeper than is looked at.
var ErrTooDeep = errors.New("folders are nested too deep")

// Entry is what a walk has come to.
type Entry struct {
	Path string      // from where the walk began, by slashes
	Info fs.FileInfo // of a link: its own; nil where the walk could not begin
	In   *Root       // a folder that holds it, for as long as the visit lasts
	Name string      // its path in that folder
}

// Holds reports whether there is something of that name in it.
func (e Entry) Holds(name string) bool {
	_, err := e.In.Lstat(path.Join(e.Name, name))
	return err == nil
}

// Visit is what is done with an entry. It gets an error, in a second call, for a folder that cannot be listed whole. It
// may return fs.SkipDir, so that the folder is not looked into, or fs.SkipAll; any other error ends the walk.
type Visit func(e Entry, err error) error

// Walk visits name and all below it, each folder before what lies in it, sorted by name. It follows no link and stops
// when the context ends. Each folder is opened from the one that holds it, so depth costs no more than width.
func (r *Root) Walk(ctx context.Context, name string, visit Visit) error {
	return r.walk(ctx.Err, name, visit)
}

func (r *Root) walk(ended func() error, name string, visit Visit) error {
	info, err := r.Lstat(name)
	top := Entry{Path: name, Info: info, In: r, Name: name}
	if err != nil {
		err = visit(top, err)
	} else {
		left := MostListed
		depth := strings.Count(path.Join("/", name, "x"), "/") - 1
		err = walk{ended, visit, &left}.at(top, depth)
	}
	if errors.Is(err, fs.SkipDir) || errors.Is(err, fs.SkipAll) {
		return nil
	}
	return err
}

// Walk is that of Root.
func (f Folder) Walk(ctx context.Context, name string, visit Visit) error {
	return f.Do(func(root *Root) error { return root.Walk(ctx, name, visit) })
}

type walk struct {
	ended func() error // why the walk stops
	visit Visit
	left  *int // bytes of names that may still be kept, in all folders that are open
}

func (w walk) at(e Entry, depth int) error {
	if err := w.ended(); err != nil {
		return err
	}
	if err := w.visit(e, nil); err != nil || !e.Info.IsDir() {
		return err
	}
	if depth == deepest {
		return w.visit(e, ErrTooDeep)
	}
	folder, err := e.In.OpenRoot(e.Name)
	if err != nil {
		return w.visit(e, err)
	}
	defer folder.Close() //nolint:errcheck // only a handle
	defer func(left int) { *w.left = left }(*w.left)
	list, err := folder.list(".", w.left)
	if err != nil {
		if err := w.visit(e, err); err != nil {
			return err
		}
	}
	for i, entry := range list {
		*w.left += sizeOf(entry)
		list[i] = nil
		info, err := entry.Info()
		if err != nil {
			continue // it went while we looked
		}
		below := Entry{path.Join(e.Path, entry.Name()), info, folder, entry.Name()}
		if err := w.at(below, depth+1); err != nil && !errors.Is(err, fs.SkipDir) {
			return err
		}
	}
	return nil
}
