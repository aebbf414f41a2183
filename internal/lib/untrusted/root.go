// Package untrusted reads, writes, walks and removes files in folders that an agent can write to. The agent can replace
// a file with a pipe, a link, an endless file, or thousands of nested folders. This package opens plain files and
// folders only, and it never blocks.
package untrusted

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Why a file is not read although it is there.
var (
	ErrNotPlain = errors.New("it is not a plain file")
	ErrLarger   = errors.New("it is larger")
)

// Root replaces the methods of os.Root that wait for a pipe or read without a limit.
type Root struct{ *os.Root }

// within makes the kernel refuse a pipe at once, instead of waiting for a writer.
const within = "/."

// OpenRoot opens a folder.
func OpenRoot(dir string) (*Root, error) {
	if dir == "" {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: fs.ErrNotExist}
	}
	return opened(os.OpenRoot(dir + within))
}

// ErrMoved says that a link leads to another folder than before.
var ErrMoved = errors.New("a link is in its place, or above it")

// OpenStraight opens a folder by an absolute path without links. A link that was put there since is an error.
func OpenStraight(dir string) (*Root, error) {
	root, err := OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	if err := root.checkPlace(dir); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return root, nil
}

// checkPlace returns an error if the folder is not at that path.
func (r *Root) checkPlace(dir string) error {
	handle, err := r.Root.Open(".")
	if err != nil {
		return err
	}
	defer handle.Close() //nolint:errcheck // only a handle
	place, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(int(handle.Fd())))
	if err != nil {
		return nil // without /proc there is no sandbox
	}
	if place != filepath.Clean(dir) {
		return &fs.PathError{Op: "open", Path: dir, Err: ErrMoved}
	}
	return nil
}

// OpenRoot opens a folder in the folder.
func (r *Root) OpenRoot(name string) (*Root, error) {
	return opened(r.Root.OpenRoot(name + within))
}

func opened(root *os.Root, err error) (*Root, error) {
	if err != nil {
		return nil, shortened(err)
	}
	return &Root{root}, nil
}

// shortened names a folder in an error as the caller did.
func shortened(err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		at.Path = strings.TrimSuffix(at.Path, within)
	}
	return err
}

// Name returns the path that the folder was opened by.
func (r *Root) Name() string { return filepath.Clean(r.Root.Name()) }

// Open opens a plain file for reading.
func (r *Root) Open(name string) (*os.File, error) { return r.OpenFile(name, os.O_RDONLY, 0) }

// Create makes a new plain file in place of what has its name: a link, or a name of another
// file, would have that one emptied. A folder is an error.
func (r *Root) Create(name string) (*os.File, error) {
	if info, err := r.Lstat(name); err == nil && !info.IsDir() {
		if err := r.Remove(name); err != nil {
			return nil, err
		}
	}
	return r.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
}

// OpenFile opens a plain file. To be written to, it must have no other name: a link, on the way
// too, may lead to any file of the folder.
func (r *Root) OpenFile(name string, flag int, perm fs.FileMode) (*os.File, error) {
	if flag&(os.O_WRONLY|os.O_RDWR) == 0 {
		return plain(r.Root.OpenFile(name, flag|syscall.O_NONBLOCK, perm))
	}
	if r.isLinked(name) || r.hasOtherName(name) {
		return nil, ErrNotPlain
	}
	file, err := plain(r.Root.OpenFile(name, flag&^os.O_TRUNC|syscall.O_NONBLOCK, perm))
	if err != nil {
		return nil, err
	}
	info, err := file.Stat() // another program may have replaced it since
	switch {
	case err != nil:
	case names(info) > 1:
		err = ErrNotPlain
	case flag&os.O_TRUNC != 0:
		err = file.Truncate(0)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// MkdirAll makes folders, and none through a link.
func (r *Root) MkdirAll(name string, perm fs.FileMode) error {
	if r.isLinked(name) {
		return &fs.PathError{Op: "mkdir", Path: name, Err: ErrMoved}
	}
	return r.Root.MkdirAll(name, perm)
}

// isLinked reports a link at a path or above it.
func (r *Root) isLinked(name string) bool {
	for at := filepath.Clean(name); at != "." && at != "/"; at = filepath.Dir(at) {
		if info, err := r.Lstat(at); err == nil && info.Mode().Type() == fs.ModeSymlink {
			return true
		}
	}
	return false
}

func (r *Root) hasOtherName(name string) bool {
	info, err := r.Lstat(name)
	return err == nil && names(info) > 1
}

// names returns how many names a plain file has: what is written to one is in all.
func names(info fs.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && info.Mode().IsRegular() {
		return uint64(stat.Nlink) //nolint:unconvert // another type on other systems
	}
	return 1
}

// Open opens a plain file by its path, which may lead over links.
func Open(path string) (*os.File, error) {
	return plain(os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0))
}

// plain closes a file that was opened and is not a plain one.
func plain(file *os.File, err error) (*os.File, error) {
	if errors.Is(err, syscall.ENXIO) { // a pipe without a reader, or a socket
		return nil, ErrNotPlain
	}
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	if !info.Mode().IsRegular() {
		return nil, errors.Join(ErrNotPlain, file.Close())
	}
	return file, nil
}

// ReadFile reads a plain file of at most most bytes, and follows no link.
func (r *Root) ReadFile(name string, most int64) ([]byte, error) {
	file, err := r.OpenPlain(name)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // only read
	return ReadAll(file, most)
}

// OpenPlain opens a plain file to read it, and none through a link of its name.
func (r *Root) OpenPlain(name string) (*os.File, error) {
	info, err := r.Lstat(name)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, ErrNotPlain
	}
	return r.Open(name)
}

// ReadFile reads a plain file by its path, which may lead over links.
func ReadFile(path string, most int64) ([]byte, error) {
	file, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // only read
	return ReadAll(file, most)
}

// WaitForLock locks a file once no other process has it locked. Closing the file releases it.
func WaitForLock(file *os.File) error { return syscall.Flock(int(file.Fd()), syscall.LOCK_EX) }

// ReadAll reads a whole file, which may grow meanwhile.
func ReadAll(file *os.File, most int64) ([]byte, error) {
	from, err := Limit(file, most)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(from)
}

// Limit returns a file of which at most so many bytes can be read: one with more, or one that
// grows beyond that, is an error.
func Limit(file *os.File, most int64) (io.Reader, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	larger := fmt.Errorf("%w than %d MiB", ErrLarger, most>>20)
	if info.Size() > most {
		return nil, larger
	}
	return io.MultiReader(io.LimitReader(file, most), endOf{file, larger}), nil
}

// endOf is the end of a file, or that it is none.
type endOf struct {
	file *os.File
	more error
}

func (e endOf) Read([]byte) (int, error) {
	if n, err := e.file.Read(make([]byte, 1)); n == 0 {
		return 0, err
	}
	return 0, e.more
}

// WriteFile makes a plain file hold data, and nothing else.
func (r *Root) WriteFile(name string, data []byte, perm fs.FileMode) error {
	file, err := r.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, perm)
	return written(file, err, data)
}

func written(file *os.File, err error, data []byte) error {
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	return errors.Join(err, file.Close())
}

// WriteFile makes the plain file at a path hold data, and nothing else.
func WriteFile(path string, data []byte, perm fs.FileMode) error {
	file, err := plain(os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|syscall.O_NONBLOCK, perm))
	return written(file, err, data)
}
