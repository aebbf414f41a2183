package box

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/git/guarded"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/untrusted"
)

// version tells one state of a path from another: its kind and what is in it. It is empty where there is nothing, or
// a folder, whose files are paths of their own. Of another repository, and of what is no file, cannot be read or is
// larger than maxSize, only the kind counts.
type version string

const (
	none   version = ""
	folder version = "folder"
	other  version = "other"
)

// maxSize bounds how long a file is read: an agent can make one of 8 EiB that takes no space.
const maxSize = 4 << 30

// isFolder reports a folder that was copied as a whole: another repository, or a submodule.
func (v version) isFolder() bool { return strings.HasPrefix(string(v), string(folder)) }

// folderOf is a folder whose files are looked at and changed by their paths. No link leads out of it.
type folderOf struct{ *untrusted.Root }

func openFolder(dir string) (folderOf, error) {
	root, err := untrusted.OpenRoot(dir)
	return folderOf{root}, err
}

// version returns that of a path, which counts as empty where a file or a link is above it.
func (f folderOf) version(name string) (version, error) {
	if f.isBehindLink(name) {
		return none, nil
	}
	info, err := f.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return other, nil
	case err != nil && !f.isFolder(path.Dir(name)), errors.Is(err, fs.ErrNotExist):
		return none, nil
	case err != nil:
		return none, err
	case info.IsDir() && f.isRepository(name):
		return folder, nil
	case info.IsDir():
		return none, nil
	case info.Mode()&fs.ModeSymlink != 0:
		to, err := f.Readlink(name)
		return version("link " + to), err
	case !info.Mode().IsRegular(), info.Size() > maxSize:
		return other, nil
	}
	file, err := f.OpenPlain(name)
	if errors.Is(err, fs.ErrPermission) {
		return other, nil
	}
	if err != nil {
		return none, err
	}
	defer file.Close() //nolint:errcheck // only read
	sum := sha256.New()
	_, err = io.Copy(sum, file)
	return fileVersion(info, sum.Sum(nil)), err
}

// whole returns the version of a folder with all that is in it.
func (f folderOf) whole(ctx context.Context, name string) version {
	return folder + " " + version(workspace.Fingerprint(ctx, filepath.Join(f.Name(), name)))
}

// fileVersion counts only the right to execute, as git does.
func fileVersion(info fs.FileInfo, sum []byte) version {
	if info.Size() > maxSize {
		return other
	}
	kind := "file "
	if info.Mode()&0o100 != 0 {
		kind = "program "
	}
	return version(kind + hex.EncodeToString(sum))
}

func (f folderOf) isFolder(name string) bool {
	info, err := f.Lstat(name)
	return err == nil && info.IsDir()
}

func (f folderOf) isRepository(name string) bool {
	_, err := f.Lstat(path.Join(name, ".git"))
	return err == nil
}

// above returns the folders above a path, the nearest first.
func above(name string) (dirs []string) {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		dirs = append(dirs, dir)
	}
	return dirs
}

func (f folderOf) isBehindLink(name string) bool {
	return slices.ContainsFunc(above(name), func(dir string) bool {
		info, err := f.Lstat(dir)
		return err == nil && !info.IsDir()
	})
}

// isNested reports a path that lies in another repository.
func (f folderOf) isNested(name string) bool { return slices.ContainsFunc(above(name), f.isRepository) }

// isFree reports that a file can be written at a path.
func (f folderOf) isFree(name string) bool { return !f.isFolder(name) && !f.isBehindLink(name) }

// makeWay removes what is in the way of a file or folder.
func (f folderOf) makeWay(name string, isFolder bool) error {
	for _, at := range append(above(name), name) {
		mustBeFolder := isFolder || at != name
		info, err := f.Lstat(at)
		if err != nil || info.IsDir() == mustBeFolder {
			continue
		}
		if err := f.RemoveAll(at); err != nil {
			return err
		}
	}
	return nil
}

// newName is a file that is being written.
const newName = ".ralph-new"

// copyTo makes a path of another folder what it is here, in one step, and returns its version: other, with an error, if
// it cannot be read. A folder there stays.
func (f folderOf) copyTo(to folderOf, name string) (version, error) {
	info, err := f.Lstat(name)
	if err != nil {
		return none, err
	}
	if err := to.MkdirAll(path.Dir(name), 0o777); err != nil {
		return none, err
	}
	temporary := path.Join(path.Dir(name), newName)
	if err := to.RemoveAll(temporary); err != nil {
		return none, err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := f.Readlink(name)
		if err != nil {
			return version("link " + target), err
		}
		return version("link " + target), to.rename(temporary, name, to.Symlink(target, temporary))
	}
	source, err := f.OpenPlain(name)
	if err != nil {
		return other, err
	}
	defer source.Close() //nolint:errcheck // only read
	target, err := to.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return none, err
	}
	sum := sha256.New()
	_, err = io.Copy(io.MultiWriter(target, sum), source)
	if err == nil {
		err = to.setMode(target, name, info.Mode())
	}
	err = errors.Join(err, target.Close())
	if err == nil {
		err = to.Chtimes(temporary, info.ModTime(), info.ModTime())
	}
	return fileVersion(info, sum.Sum(nil)), to.rename(temporary, name, err)
}

// setMode gives a new file the mode of the file that it replaces, or that of the user's umask, and the right to execute
// of its source.
func (f folderOf) setMode(file *os.File, name string, source fs.FileMode) error {
	like, err := file.Stat()
	if err != nil {
		return err
	}
	if old, err := f.Lstat(name); err == nil && old.Mode().IsRegular() {
		like = old
	}
	mode := like.Mode().Perm() &^ 0o111
	if source&0o100 != 0 {
		mode |= mode & 0o444 >> 2
	}
	return file.Chmod(mode)
}

// rename gives a new file its name, or removes it after an error.
func (f folderOf) rename(temporary, name string, err error) error {
	if err == nil {
		err = f.Rename(temporary, name)
	}
	if err != nil {
		_ = f.Remove(temporary)
	}
	return err
}

// remove removes a path, and the folders above it that are empty then.
func (f folderOf) remove(name string) error {
	if err := f.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, dir := range above(name) {
		if err := f.Remove(dir); err != nil {
			return nil //nolint:nilerr // it is not empty
		}
	}
	return nil
}

// leadsOut reports a link whose target is not in the folder, also by way of other links, or is git's. With ".." after a
// name it could lead out later, when a link is in place of that folder.
func (f folderOf) leadsOut(name string, v version) bool {
	target, ok := strings.CutPrefix(string(v), "link ")
	if !ok {
		return false
	}
	if path.IsAbs(target) || strings.Contains(strings.TrimLeft(target, "./")+"/", "/../") {
		return true
	}
	place := path.Join(path.Dir(name), target)
	if !filepath.IsLocal(place) || isGits(place) {
		return true
	}
	_, err := f.Stat(name)
	return err != nil && !errors.Is(err, fs.ErrNotExist)
}

// isGits reports a path in a .git folder.
func isGits(name string) bool { return slices.ContainsFunc(strings.Split(name, "/"), guarded.IsGitDir) }
