package untrusted

import (
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"
	"time"
)

// Names returns how many names a plain file has: what is written to one is in all.
func Names(info fs.FileInfo) uint64 {
	if stat, is := info.Sys().(*syscall.Stat_t); is && info.Mode().IsRegular() {
		return uint64(stat.Nlink) //nolint:unconvert // another type on other systems
	}
	return 1
}

// Separate leaves a plain file of at most so many bytes no name but this one: it becomes a copy.
func (r *Root) Separate(name string, most int64) error {
	info, err := r.Lstat(name)
	if err != nil || Names(info) == 1 {
		return err
	}
	from, err := r.OpenPlain(name)
	if err != nil {
		return err
	}
	defer from.Close() //nolint:errcheck // only read
	own := name + "." + rand.Text()
	to, err := r.OpenFile(own, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	n, err := io.Copy(to, io.LimitReader(from, most+1)) // on Linux the kernel copies, or shares the blocks
	if n > most {
		err = ErrLarger
	}
	err = errors.Join(err, to.Chmod(info.Mode().Perm()), to.Close(), r.Chtimes(own, time.Time{}, info.ModTime()))
	if err == nil {
		err = r.Rename(own, name)
	}
	if err != nil {
		return errors.Join(err, r.RemoveAll(own))
	}
	return nil
}

// Move renames. A folder that cannot be renamed, in a container one of the image, is moved part by part.
func (r *Root) Move(name, to string) error {
	err := r.Rename(name, to)
	if info, gone := r.Lstat(name); !errors.Is(err, syscall.EXDEV) || gone != nil || !info.IsDir() {
		return err
	}
	list, err := r.ReadDir(name)
	if made := r.Mkdir(to, 0o755); !errors.Is(made, fs.ErrExist) {
		err = errors.Join(err, made)
	}
	for _, entry := range list {
		err = errors.Join(err, r.Move(path.Join(name, entry.Name()), path.Join(to, entry.Name())))
	}
	return errors.Join(err, r.Remove(name))
}
