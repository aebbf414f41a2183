package untrusted

import (
	"errors"
	"io/fs"
	"syscall"
)

// Folder is a folder by its path, which is opened anew for each use.
type Folder struct {
	Path string
}

// Open opens the folder.
func (f Folder) Open() (*Root, error) {
	return OpenRoot(f.Path)
}

// Do opens the folder for as long as do works in it.
func (f Folder) Do(do func(*Root) error) error {
	root, err := f.Open()
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // only a handle
	return do(root)
}

// ReadFile is that of Root.
func (f Folder) ReadFile(name string, most int64) ([]byte, error) {
	root, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // only a handle
	return root.ReadFile(name, most)
}

// Lstat is that of Root.
func (f Folder) Lstat(name string) (fs.FileInfo, error) {
	root, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // only a handle
	return root.Lstat(name)
}

// WriteFile is that of Root.
func (f Folder) WriteFile(name string, data []byte, perm fs.FileMode) error {
	return f.Do(func(root *Root) error { return root.WriteFile(name, data, perm) })
}

// Remove removes a file, which need not be there.
func (f Folder) Remove(name string) error {
	err := f.Do(func(root *Root) error { return root.Remove(name) })
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) { // or a file is where its folder would be
		return nil
	}
	return err
}
