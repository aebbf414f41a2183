package putback

import (
	"cmp"
	"crypto/rand"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"syscall"
)

func (k keptPath) restoreAll() (err error) {
	for _, name := range slices.Sorted(maps.Keys(k.content)) {
		err = cmp.Or(err, k.restore(name, k.content[name])) // one says it for all
	}
	return err
}

// refill restores a mount point, and returns busy where more is mounted in it, or it was not there before.
func (k keptPath) refill(busy error) error {
	if err := k.restoreAll(); err != nil {
		return err
	}
	now, err := k.readContent()
	if err == nil && len(k.changed(now)) > 0 {
		err = busy
	}
	return err
}

// restore writes through links on the way, which lead to no other folder than k's root.
func (k keptPath) restore(name string, n savedNode) error {
	for at := range k.way(name) {
		var err error
		if to, isOwn := k.links[at]; isOwn {
			err = k.root.Symlink(to, at)
		} else {
			err = k.root.Root.MkdirAll(at, 0o755)
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	switch {
	case n.Mode&fs.ModeSymlink != 0:
		return k.root.Symlink(string(n.Text), name)
	case n.Mode.IsDir():
		if err := k.root.Mkdir(name, n.Mode.Perm()); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	default:
		return k.write(name, n.Text, n.Mode.Perm())
	}
	return k.root.Chmod(name, n.Mode)
}

const unfinished = ".put-back-" // begins the name of a file that is not whole

// write replaces a file at once: where that fails, or ralph is killed, the file is there as before, or missing, so that
// Recover knows what to put back.
func (k keptPath) write(name string, text []byte, perm fs.FileMode) error {
	temp := path.Join(path.Dir(name), unfinished+rand.Text())
	err := k.root.Root.WriteFile(temp, text, perm)
	if err == nil {
		err = k.root.Chmod(temp, perm)
	}
	if err == nil {
		err = k.root.Rename(temp, name)
	}
	if err != nil {
		_ = k.root.Remove(temp) // it may not be there
	}
	if errors.Is(err, syscall.EBUSY) { // a mount point
		err = errors.Join(k.root.Chmod(name, perm|0o600), k.root.Root.WriteFile(name, text, perm), k.root.Chmod(name, perm))
	}
	if at, is := errors.AsType[*fs.PathError](err); is {
		at.Path = name
	}
	return err
}
