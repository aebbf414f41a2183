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

const (
	mostRounds = 1000 // a process that still writes there could fill the folder for ever
	mostReads  = 4096 // of a folder in a round
	fewNames   = 256  // are read of a folder at least
)

var mostNames = 128 << 10 // that are kept at a time, besides those few

// RemoveAll removes name and all below it, folders closed to their owner too. Folders that are nested deeper than a
// walk looks are moved up to the top, so that no depth takes more descriptors than there are. It follows no link.
func (r *Root) RemoveAll(name string) error {
	refused := r.Remove(name)
	if refused == nil || errors.Is(refused, fs.ErrNotExist) {
		return nil
	}
	info, err := r.Lstat(name)
	if err != nil || !info.IsDir() {
		return refused
	}
	top, err := r.enter(name)
	if err != nil {
		return err
	}
	defer top.Close() //nolint:errcheck // only a handle
	c := clearing{top: top, unfinished: true}
	for round := 0; c.unfinished && round < mostRounds; round++ {
		c = clearing{top: top, free: mostNames}
		c.empty(top, ".", 0)
	}
	if err := r.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(c.err, err)
	}
	return nil
}

func (r *Root) enter(name string) (*Root, error) {
	r.OpenToOwner(name)
	return r.OpenRoot(name)
}

type clearing struct {
	top        *Root
	free       int   // names that may still be kept, in all folders that are open
	unfinished bool  // some of it is left for the next round
	err        error // the first that kept something from being removed
}

// empty reads a part of a folder, removes that, and reads again: folders above keep little meanwhile. It ends
// where nothing of a part can be removed.
func (c *clearing) empty(folder *Root, place string, depth int) {
	for range mostReads {
		most := max(fewNames, c.free/2)
		list, err := folder.some(most)
		c.note(err)
		c.free -= len(list)
		hasRemoved := false
		for i, name := range list {
			if c.remove(folder, place, name, depth) {
				hasRemoved = true
			}
			list[i] = ""
			c.free++
		}
		if len(list) < most || !hasRemoved {
			return
		}
	}
	c.unfinished = true
}

// remove reports whether the entry is gone.
func (c *clearing) remove(folder *Root, place, name string, depth int) bool {
	refused := folder.Remove(name)
	if refused == nil {
		return true
	}
	info, err := folder.Lstat(name)
	switch {
	case err != nil:
		return c.note(err)
	case !info.IsDir():
		return c.note(refused)
	case depth == deepest:
		c.unfinished = true
		return c.note(c.top.Rename(path.Join(place, name), rand.Text()))
	}
	below, err := folder.enter(name)
	if err != nil {
		return c.note(err)
	}
	c.empty(below, path.Join(place, name), depth+1)
	_ = below.Close() // only a handle
	return c.note(folder.Remove(name))
}

// note keeps the first error, and reports whether there is none.
func (c *clearing) note(err error) bool {
	isGone := err == nil || errors.Is(err, fs.ErrNotExist)
	if c.err == nil && !isGone {
		c.err = err
	}
	return isGone
}
