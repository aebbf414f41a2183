package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"

	"github.com/ralph-loop/ralph/internal/untrusted"
)

// Due is a file that says what is still to be done. It stays when its process is killed, so that the
// next one finds it. Several processes can share it.
type Due struct{ file *os.File }

const maxDue = 256 << 20

// OpenDue opens a file with what was written to it: by a process that lives, or, for the only one
// that has it open, by one that ended too early. It waits for a process that has not written yet.
func OpenDue(path string) (_ *Due, text []byte, only bool, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, nil, false, err
	}
	root, err := untrusted.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, nil, false, err
	}
	defer root.Close() //nolint:errcheck // only a handle
	for {
		file, err := root.OpenFile(filepath.Base(path), os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil, nil, false, err
		}
		only, err = locked(file)
		if err == nil {
			text, err = untrusted.ReadAll(file, maxDue)
		}
		if err != nil && !errors.Is(err, syscall.EINTR) {
			return nil, nil, false, errors.Join(err, file.Close())
		}
		if err == nil && isAt(file, path) && (only || len(text) > 0) {
			return &Due{file}, text, only, nil
		}
		_ = file.Close() // it is done, or its process ended before it wrote
	}
}

func locked(file *os.File) (only bool, err error) {
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, syscall.Flock(int(file.Fd()), syscall.LOCK_SH)
	}
	return err == nil, err
}

func isAt(file *os.File, path string) bool {
	mine, err := file.Stat()
	there, missing := os.Stat(path)
	return err == nil && missing == nil && os.SameFile(mine, there)
}

// Write replaces what is to be done.
func (d *Due) Write(text []byte) error {
	if err := d.file.Truncate(0); err != nil {
		return err
	}
	_, err := d.file.WriteAt(text, 0)
	return errors.Join(err, d.file.Sync()) // what follows may reach the disk before it
}

// Share lets other processes have it, too.
func (d *Due) Share() error { return syscall.Flock(int(d.file.Fd()), syscall.LOCK_SH) }

// Close removes the file if all is done, unless another process has it. A nil Due is none.
func (d *Due) Close(done bool) error {
	if d == nil {
		return nil
	}
	var err error
	if done && syscall.Flock(int(d.file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
		err = os.Remove(d.file.Name())
	}
	return errors.Join(err, d.file.Close())
}
