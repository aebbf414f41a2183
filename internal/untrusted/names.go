package untrusted

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"syscall"
)

// Names is how many names a plain file has: what is written to one is in all.
func Names(info fs.FileInfo) uint64 {
	if stat, is := info.Sys().(*syscall.Stat_t); is && info.Mode().IsRegular() {
		return uint64(stat.Nlink) //nolint:unconvert // another type on other systems
	}
	return 1
}

// Separate leaves a plain file of at most so many bytes no name but this one.
func (r *Root) Separate(name string, most int64) error {
	info, err := r.Lstat(name)
	if err != nil || Names(info) == 1 {
		return err
	}
	data, err := r.ReadFile(name, most)
	if err != nil {
		return err
	}
	own := name + "." + rand.Text()
	if err := r.WriteFile(own, data, info.Mode().Perm()); err != nil {
		return err
	}
	return errors.Join(r.Chmod(own, info.Mode().Perm()), r.Rename(own, name))
}
