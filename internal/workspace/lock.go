package workspace

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/untrusted"
)

// Lock keeps a second run out of the project until it is released. The kernel
// gives it back when its holder dies, however that happens; the pid in it is
// for people.
func (f Folder) Lock() (release func() error, err error) {
	if f.held {
		return func() error { return nil }, nil
	}
	root, err := f.open()
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // only a handle
	path := filepath.Join(f.Path, f.key())
	file, err := root.OpenFile(f.key(), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, cannotWrite(path, err)
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, errors.Join(taken(file), file.Close())
	}
	if err == nil {
		err = sign(file)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), file.Close())
	}
	return file.Close, nil
}

func (f Folder) key() string { return cmp.Or(f.Key, "lock") }

// Free is a fault while somebody holds the lock. It leaves no trace: it is for
// those who say so before they look at anything else.
func (f Folder) Free() error {
	root, err := untrusted.OpenRoot(f.Path)
	if err != nil {
		return nil // nobody ever was here
	}
	defer root.Close()                                                     //nolint:errcheck // only a handle
	file, err := root.OpenFile(f.key(), os.O_RDONLY|syscall.O_NONBLOCK, 0) // in a sandbox it cannot be written to
	if err != nil {
		return nil // what cannot be locked is for Lock to tell
	}
	defer file.Close() //nolint:errcheck // only read, and the lock is given back with it
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); errors.Is(err, syscall.EWOULDBLOCK) {
		return taken(file)
	}
	return nil
}

func sign(file *os.File) error {
	if err := file.Truncate(0); err != nil {
		return err
	}
	_, err := fmt.Fprintln(file, os.Getpid())
	return err
}

func taken(file *os.File) error {
	holder := "another process"
	said, err := io.ReadAll(io.LimitReader(file, 20))
	if pid, wrong := strconv.Atoi(strings.TrimSpace(string(said))); err == nil && wrong == nil {
		holder = fmt.Sprintf("process %d", pid)
	}
	return fault.Usage("a run is going on in this project already, by "+holder, "wait for it, or stop it first", nil)
}
