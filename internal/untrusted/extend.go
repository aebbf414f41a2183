package untrusted

import (
	"errors"
	"io/fs"
	"os"
	"strings"
)

const mostExtended = 1 << 20

// Extend opens a plain file of at most 1 MiB, to read it and to write at its end. It makes the file and the
// folders on the way if they are missing, and leaves the file no other name. It follows no link, also if
// another program puts one there meanwhile: all is read and written by one descriptor. No new file takes the
// name, because a mount that protects the file in a sandbox would go with the old one.
func (r *Root) Extend(name string, perm fs.FileMode, do func(*os.File) error) error {
	if folder, rest, below := strings.Cut(name, "/"); below {
		sub, err := r.enterOrMake(folder)
		if err != nil {
			return err
		}
		defer sub.Close() //nolint:errcheck // only a handle
		return sub.Extend(rest, perm, do)
	}
	if err := r.Separate(name, mostExtended); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := r.OpenFile(name, os.O_RDWR|os.O_APPEND|os.O_CREATE, perm)
	if err != nil {
		return err
	}
	if err = r.leadsTo(name, file); err == nil {
		err = do(file)
	}
	return errors.Join(err, file.Close())
}

// enterOrMake opens a folder in the folder, and not through a link.
func (r *Root) enterOrMake(name string) (*Root, error) {
	if r.isLinked(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: ErrMoved}
	}
	if err := r.Mkdir(name, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	sub, err := r.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	handle, err := sub.Root.Open(".")
	if err == nil {
		err = errors.Join(r.leadsTo(name, handle), handle.Close())
	}
	if err != nil {
		return nil, errors.Join(err, sub.Close())
	}
	return sub, nil
}

// leadsTo checks that what was opened has this name itself.
func (r *Root) leadsTo(name string, opened *os.File) error {
	there, err := r.Lstat(name)
	if err != nil {
		return err
	}
	info, err := opened.Stat()
	if err == nil && !os.SameFile(there, info) {
		err = &fs.PathError{Op: "open", Path: name, Err: ErrMoved}
	}
	return err
}

// Extend is that of Root.
func (f Folder) Extend(name string, perm fs.FileMode, do func(*os.File) error) error {
	return f.Do(func(root *Root) error { return root.Extend(name, perm, do) })
}
