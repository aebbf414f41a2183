package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/ralph-loop/ralph/internal/untrusted"
)

// Mark is a file that describes unfinished work. It stays when its process is killed, so that the next
// process can finish the work. Several processes can share it.
type Mark struct{ file *os.File }

const maxMark = 256 << 20

// maxTries is how often insist opens what another process closes meanwhile.
const maxTries = 500

// insist repeats do while the way to a mark is closed, and opens it. A confined command of the same user can close it
// again and again.
func insist(path string, do func() error) (err error) {
	for range maxTries {
		if err = do(); !errors.Is(err, fs.ErrPermission) {
			return err
		}
		untrusted.OpenToOwner(filepath.Dir(path))
		untrusted.OpenToOwner(path)
		if info, missing := os.Lstat(path); missing == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o600 != 0o600 {
			_ = os.Chmod(path, 0o600) // else do fails again
		}
	}
	return err
}

// Marks returns the paths of the marks in a folder, which need not exist. A sandbox around this process hides them; a
// folder that stays closed for another reason is an error.
func Marks(dir string) (paths []string, err error) {
	var list []fs.DirEntry
	closed := false
	err = insist(dir, func() (err error) {
		if list, err = untrusted.ReadDir(dir); err != nil {
			info, failed := os.Lstat(dir)
			closed = closed || failed != nil || info.Mode().Perm()&0o700 != 0o700 || int(info.Sys().(*syscall.Stat_t).Uid) != os.Geteuid()
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) && !closed {
		return nil, nil
	}
	for _, one := range list {
		paths = append(paths, filepath.Join(dir, one.Name()))
	}
	return paths, err
}

// OpenMark opens a mark and reads its text. If only, no other process has it open, and the text is from a
// process that was killed. Otherwise OpenMark waits until the other process has written.
func OpenMark(path string) (mark *Mark, text []byte, only bool, err error) {
	err = insist(path, func() (err error) {
		mark, text, only, err = openMark(path)
		return err
	})
	return mark, text, only, err
}

func openMark(path string) (_ *Mark, text []byte, only bool, err error) {
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
		only, err = lockMark(file)
		if err == nil {
			text, err = untrusted.ReadAll(file, maxMark)
		}
		if err != nil && !errors.Is(err, syscall.EINTR) {
			return nil, nil, false, errors.Join(err, file.Close())
		}
		if err == nil && isAt(file, root) && (only || len(text) > 0) {
			return &Mark{file}, text, only, nil
		}
		_ = file.Close() // the file was removed, or its process ended before it wrote
	}
}

// ReadMark returns the text of a mark that another process may have open; none if the mark is gone.
func ReadMark(path string) (text []byte, err error) {
	err = insist(path, func() (err error) {
		text, err = untrusted.ReadFile(path, maxMark)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, err
}

func lockMark(file *os.File) (only bool, err error) {
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, syscall.Flock(int(file.Fd()), syscall.LOCK_SH)
	}
	return err == nil, err
}

// isAt looks from the folder: another one on the way may be closed.
func isAt(file *os.File, root *untrusted.Root) bool {
	opened, err := file.Stat()
	current, missing := root.Lstat(filepath.Base(file.Name()))
	return err == nil && missing == nil && os.SameFile(opened, current)
}

// Write replaces the text and writes it to disk, before the work that it describes can reach the disk.
func (m *Mark) Write(text []byte) error {
	if err := m.file.Truncate(0); err != nil {
		return err
	}
	_, err := m.file.WriteAt(text, 0)
	return errors.Join(err, m.file.Sync())
}

// WriteLast replaces the last byte of the text, which takes no room on the disk.
func (m *Mark) WriteLast(last byte) error {
	info, err := m.file.Stat()
	if err == nil {
		_, err = m.file.WriteAt([]byte{last}, info.Size()-1)
	}
	return errors.Join(err, m.file.Sync())
}

// Share lets other processes open the mark.
func (m *Mark) Share() error { return syscall.Flock(int(m.file.Fd()), syscall.LOCK_SH) }

// Close closes the mark. If done, it removes the file, unless another process has it open. A nil Mark does nothing.
func (m *Mark) Close(done bool) error {
	if m == nil {
		return nil
	}
	var err error
	if done && syscall.Flock(int(m.file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
		err = insist(m.file.Name(), func() error { return os.Remove(m.file.Name()) })
	}
	return errors.Join(err, m.file.Close())
}
