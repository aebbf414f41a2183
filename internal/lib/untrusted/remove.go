package untrusted

import (
	"errors"
	"io/fs"
	"os"
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

// RemoveAll removes name and all below it, folders closed to their owner too. It follows no link.
func (r *Root) RemoveAll(name string) error {
	err := r.Root.RemoveAll(name)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	opening := func(e Entry, _ error) error {
		if e.Info != nil && e.Info.IsDir() {
			_ = e.In.Chmod(e.Name, e.Info.Mode()|0o700) // if it fails, the removal does
		}
		return nil
	}
	if err := r.walk(func() error { return nil }, name, opening); err != nil {
		return err
	}
	return r.Root.RemoveAll(name)
}
