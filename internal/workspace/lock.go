package workspace

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/ralph-loop/ralph/internal/fault"
)

// Lock keeps a second run out of the project until it is released. The kernel
// gives it back when its holder dies, however that happens; the pid in it is
// for people.
func (f Folder) Lock() (release func() error, err error) {
	root, err := f.open()
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // only a handle
	name := cmp.Or(f.Key, "lock")
	path := filepath.Join(f.Path, name)
	file, err := root.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o644)
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
	if pid := strings.TrimSpace(string(said)); err == nil && pid != "" {
		holder = "process " + pid
	}
	return fault.Usage("a run is going on in this project already, by "+holder, "wait for it, or stop it first", nil)
}
