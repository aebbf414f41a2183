package untrusted

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// RemoveAll removes what lies at a path, as the method of Root does.
func RemoveAll(path string) error {
	if err := os.Remove(path); err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	root, err := OpenRoot(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // only a handle
	return root.RemoveAll(filepath.Base(path))
}

// mostRounds: a process that still writes there could fill the folder for ever.
const mostRounds = 1000

// RemoveAll removes name and all below it, folders closed to their owner too.
// Folders that are nested deeper than a walk looks are moved up to the top, so
// that no depth takes more descriptors than there are. It follows no link.
func (r *Root) RemoveAll(name string) error {
	refused := r.Remove(name)
	if refused == nil || errors.Is(refused, fs.ErrNotExist) {
		return nil
	}
	info, err := r.Lstat(name)
	if err != nil || !info.IsDir() {
		return refused
	}
	top, err := r.enter(name, info)
	if err != nil {
		return err
	}
	defer top.Close() //nolint:errcheck // only a handle
	c := clearing{top: top, again: true}
	for round := 0; c.again && round < mostRounds; round++ {
		c = clearing{top: top}
		c.empty(top, ".", 0)
	}
	if err := r.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(c.err, err)
	}
	return nil
}

func (r *Root) enter(name string, info fs.FileInfo) (*Root, error) {
	if info.Mode().Perm()&0o700 != 0o700 {
		_ = r.Chmod(name, 0o700) // where that fails, opening says so
	}
	return r.OpenRoot(name)
}

type clearing struct {
	top   *Root
	again bool  // some of it is left for the next round
	err   error // the first that kept something from being removed
}

func (c *clearing) empty(folder *Root, place string, depth int) {
	list, err := folder.ReadDir(".")
	c.note(err)
	for _, entry := range list {
		c.remove(folder, place, entry, depth)
	}
}

func (c *clearing) remove(folder *Root, place string, entry fs.DirEntry, depth int) {
	name := entry.Name()
	refused := folder.Remove(name)
	info, err := entry.Info()
	switch {
	case refused == nil || errors.Is(refused, fs.ErrNotExist) || err != nil:
		return
	case !info.IsDir():
		c.note(refused)
		return
	case depth == deepest:
		c.again = true
		c.note(c.top.Rename(path.Join(place, name), rand.Text()))
		return
	}
	below, err := folder.enter(name, info)
	if err != nil {
		c.note(err)
		return
	}
	c.empty(below, path.Join(place, name), depth+1)
	_ = below.Close() // only a handle
	c.note(folder.Remove(name))
}

func (c *clearing) note(err error) {
	switch {
	case errors.Is(err, ErrCrowded):
		c.again = true
	case c.err == nil && !errors.Is(err, fs.ErrNotExist):
		c.err = err
	}
}
