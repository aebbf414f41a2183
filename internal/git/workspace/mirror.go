package workspace

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/ralph-loop/ralph/internal/lib/untrusted"
)

// Mirror makes one folder equal to another: it copies files that differ, and removes all others. It compares content:
// programs can set times, and comparing is faster than copying. It follows no links, and skips sockets, pipes and
// unreadable files.
func Mirror(from, to string) error {
	source, err := untrusted.OpenRoot(from)
	if err != nil {
		return fmt.Errorf("copy %s: %w", from, err)
	}
	defer source.Close() //nolint:errcheck // only a handle
	target, err := untrusted.OpenRoot(to)
	if err != nil {
		return fmt.Errorf("copy to %s: %w", to, err)
	}
	defer target.Close() //nolint:errcheck // only a handle
	left := untrusted.MostListed
	if err := mirrorFolder(source, target, &left); err != nil {
		return fmt.Errorf("copy %s to %s: %w", from, to, err)
	}
	return nil
}

// mirrorFolder keeps the names of one folder at a time, and of those above.
func mirrorFolder(from, to *untrusted.Root, left *int) error {
	err := to.Each(left, func(have fs.FileInfo) error {
		if want, err := from.Lstat(have.Name()); err == nil && want.Mode().Type() == have.Mode().Type() {
			return nil
		}
		return to.RemoveAll(have.Name())
	})
	return errors.Join(err, from.Each(left, func(want fs.FileInfo) error {
		have, _ := to.Lstat(want.Name())
		return entry{from, to, want.Name(), want, left}.mirror(have)
	}))
}

type entry struct {
	from, to *untrusted.Root
	name     string
	info     fs.FileInfo
	left     *int
}

// mirror copies an entry. It replaces a changed file: writing to it would also change its other hard links.
func (e entry) mirror(have fs.FileInfo) error {
	switch kind := e.info.Mode(); {
	case kind.IsDir():
		return e.mirrorDir()
	case kind&fs.ModeSymlink != 0:
		return e.mirrorLink()
	case kind.IsRegular():
		return e.mirrorFile(have)
	}
	return nil
}

func (e entry) mirrorDir() error {
	source, err := e.from.OpenRoot(e.name)
	if errors.Is(err, fs.ErrPermission) {
		return e.to.RemoveAll(e.name)
	}
	if err != nil {
		return err
	}
	defer source.Close() //nolint:errcheck // only a handle
	// Folders of Go modules are read-only.
	if err := e.to.MkdirAll(e.name, 0o700); err != nil {
		return err
	}
	if err := e.to.Chmod(e.name, 0o700); err != nil {
		return err
	}
	target, err := e.to.OpenRoot(e.name)
	if err != nil {
		return err
	}
	defer target.Close() //nolint:errcheck // only a handle
	// A folder of which a part is copied gets its owner and rights, too.
	return errors.Join(
		mirrorFolder(source, target, e.left),
		e.setOwner(),
		e.to.Chmod(e.name, e.info.Mode().Perm()),
	)
}

func (e entry) mirrorLink() error {
	target, err := e.from.Readlink(e.name)
	if err != nil {
		return err
	}
	if err := e.to.RemoveAll(e.name); err != nil {
		return err
	}
	if err := e.to.Symlink(target, e.name); err != nil {
		return err
	}
	return e.setOwner()
}

func (e entry) mirrorFile(have fs.FileInfo) error {
	source, err := e.from.Open(e.name)
	if errors.Is(err, fs.ErrPermission) {
		return e.to.RemoveAll(e.name)
	}
	if err != nil {
		return err
	}
	defer source.Close() //nolint:errcheck // only read
	if have != nil && e.isSame(have, source) {
		return nil
	}
	if _, err := source.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if err := e.to.RemoveAll(e.name); err != nil {
		return err
	}
	target, err := e.to.OpenFile(e.name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source) // on Linux the kernel copies, or shares the blocks
	// A file of which a part is copied gets its owner, rights and time, too.
	return errors.Join(
		err,
		target.Chmod(e.info.Mode().Perm()),
		target.Close(),
		e.setOwner(),
		e.to.Chtimes(e.name, time.Time{}, e.info.ModTime()),
	)
}

func (e entry) isSame(have fs.FileInfo, source io.Reader) bool {
	if have.Size() != e.info.Size() || have.Mode() != e.info.Mode() || ownerOf(have) != ownerOf(e.info) {
		return false
	}
	target, err := e.to.Open(e.name)
	if err != nil {
		return false
	}
	defer target.Close() //nolint:errcheck // only read
	return isEqual(source, target)
}

func isEqual(a, b io.Reader) bool {
	left := make([]byte, 64<<10)
	right := make([]byte, 64<<10)
	for {
		n, err := io.ReadFull(a, left)
		m, _ := io.ReadFull(b, right) // unreadable parts are not equal
		if !bytes.Equal(left[:n], right[:m]) {
			return false
		}
		if err != nil {
			return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		}
	}
}

// setOwner gives the copy the owner of the source, which only root can do.
func (e entry) setOwner() error {
	owner := ownerOf(e.info)
	if os.Geteuid() != 0 {
		return nil
	}
	return e.to.Lchown(e.name, owner.uid, owner.gid)
}

type owner struct{ uid, gid int }

// Owner returns the user and group of a folder, or of this process if there is no folder.
func Owner(dir string) (uid, gid int) {
	info, err := os.Stat(dir)
	if err != nil {
		return os.Geteuid(), os.Getegid()
	}
	o := ownerOf(info)
	return o.uid, o.gid
}

func ownerOf(info fs.FileInfo) owner {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return owner{int(stat.Uid), int(stat.Gid)}
	}
	return owner{}
}

// Temporary is a folder that its program removes at its end. After a kill a later NewTemporary does.
type Temporary struct {
	Path string
	lock *os.File // held until the folder is removed
}

// NewTemporary makes a folder whose name begins with name, and removes the folders with such names of programs that
// have ended. A lock shows that a program is alive.
func NewTemporary(parent, name string) (Temporary, error) {
	parent = cmp.Or(parent, os.TempDir())
	sweep(parent, name)
	dir, err := os.MkdirTemp(parent, "new-"+name) // renamed once it is locked, so that no sweep removes it
	if err != nil {
		return Temporary{}, err
	}
	lock, err := lockOwnDir(dir)
	if err != nil {
		return Temporary{}, errors.Join(err, os.Remove(dir))
	}
	t := Temporary{Path: filepath.Join(parent, filepath.Base(dir)[len("new-"):]), lock: lock}
	if err := os.Rename(dir, t.Path); err != nil {
		return Temporary{}, errors.Join(err, os.Remove(dir), lock.Close())
	}
	return t, nil
}

// lockOwnDir locks a folder that belongs to this user. Links are refused.
func lockOwnDir(dir string) (*os.File, error) {
	const folderOnly = os.O_RDONLY | syscall.O_DIRECTORY | syscall.O_NOFOLLOW
	file, err := os.OpenFile(dir, folderOnly, 0) //nolint:forbidigo // the flags refuse anything but a folder
	if err != nil {
		return nil, err
	}
	if err := lockOwn(file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

func lockOwn(dir *os.File) error {
	info, err := dir.Stat()
	if err != nil {
		return err
	}
	if ownerOf(info).uid != os.Geteuid() {
		return fmt.Errorf("%s belongs to another user", dir.Name())
	}
	return syscall.Flock(int(dir.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}

// Remove removes the folder with its content.
func (t Temporary) Remove() error {
	if t.Path == "" {
		return nil
	}
	return errors.Join(untrusted.RemoveAll(t.Path), t.lock.Close())
}

func sweep(parent, name string) {
	entries, _ := untrusted.ReadDir(parent) // best effort
	for _, entry := range entries {
		dir := filepath.Join(parent, entry.Name())
		if !strings.HasPrefix(entry.Name(), name) {
			continue
		}
		lock, err := lockOwnDir(dir)
		if err != nil {
			continue
		}
		_ = untrusted.RemoveAll(dir)
		_ = lock.Close()
	}
}
