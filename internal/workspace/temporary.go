package workspace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/ralph-loop/ralph/internal/untrusted"
)

// Temporary is a folder for as long as its program runs, and a little longer
// where that is killed: until the next one sweeps.
type Temporary struct {
	Path string
	lock *os.File // held until the folder is gone
}

// NewTemporary makes a folder whose name begins so; an empty parent is the usual
// one. Its owner is known to be alive by the lock on it, which the kernel gives
// back, however the owner ends.
func NewTemporary(parent, name string) (Temporary, error) {
	if parent == "" {
		parent = os.TempDir()
	}
	dir, err := os.MkdirTemp(parent, "new-"+name) // which no sweep looks for before it is locked
	if err != nil {
		return Temporary{}, err
	}
	lock, err := hold(dir)
	if err != nil {
		return Temporary{}, errors.Join(err, os.Remove(dir))
	}
	t := Temporary{Path: filepath.Join(parent, filepath.Base(dir)[len("new-"):]), lock: lock}
	if err := os.Rename(dir, t.Path); err != nil {
		return Temporary{}, errors.Join(err, os.Remove(dir), lock.Close())
	}
	return t, nil
}

// hold locks a folder of ours, and no link to one.
func hold(dir string) (*os.File, error) {
	file, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0) //nolint:forbidigo // the flags refuse what is no folder
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil {
		if owner, is := info.Sys().(*syscall.Stat_t); !is || int(owner.Uid) != os.Geteuid() {
			err = fmt.Errorf("%s is somebody else's", dir)
		}
	}
	if err == nil {
		err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// Remove takes the folder away, with all that is in it.
func (t Temporary) Remove() error {
	if t.Path == "" {
		return nil
	}
	return errors.Join(untrusted.RemoveAll(t.Path), t.lock.Close())
}

// Sweep takes away the folders of that name whose owners are gone. How old they
// are tells nothing; who holds one is asked. What cannot be taken away stays.
func Sweep(parent, name string) {
	if parent == "" {
		parent = os.TempDir()
	}
	entries, _ := untrusted.ReadDir(parent) // what cannot be read cannot be cleared
	for _, entry := range entries {
		dir := filepath.Join(parent, entry.Name())
		if !strings.HasPrefix(entry.Name(), name) {
			continue
		}
		lock, err := hold(dir)
		if err != nil {
			continue
		}
		_ = untrusted.RemoveAll(dir)
		_ = lock.Close()
	}
}
