package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/ralph-loop/ralph/internal/process"
	"github.com/ralph-loop/ralph/internal/untrusted"
)

// maxShared is how many bytes are copied before a run.
const maxShared = 4 << 30

type inode struct{ device, number uint64 }

type linkedFile struct {
	links uint64
	size  int64
	names []name
}

type name struct {
	root *untrusted.Root
	path string
}

// Unshare replaces files below the paths that have a hard link elsewhere by copies,
// because writing to one name changes all of them. pnpm, bun and uv link packages
// with their store, and `git clone` of a folder links its objects. It returns the
// number of copied files.
func Unshare(ctx context.Context, paths []string) (copied int, err error) {
	files := map[inode]*linkedFile{}
	for _, path := range outermost(paths) {
		dir, name := openable(path)
		root, err := untrusted.OpenRoot(dir)
		if err != nil {
			return 0, err
		}
		defer root.Close() //nolint:errcheck // only a handle
		if err := collectLinked(ctx, root, name, files); err != nil {
			return 0, err
		}
	}
	if err := removeUnshared(files); err != nil {
		return 0, err
	}
	for _, file := range files {
		for _, name := range file.names {
			err := errors.Join(ctx.Err(), name.root.Separate(name.path, maxShared))
			if errors.Is(err, fs.ErrNotExist) {
				continue // it was removed meanwhile
			}
			if err != nil {
				return copied, fmt.Errorf("copy %s: %w", name.path, err)
			}
			copied++
		}
	}
	return copied, nil
}

// openable returns a folder to open, and the path in it. Of a file, that is its parent: the
// file may be unreadable.
func openable(path string) (dir, name string) {
	if info, err := os.Lstat(path); err == nil && info.IsDir() {
		return path, "."
	}
	return filepath.Dir(path), filepath.Base(path)
}

// removeUnshared removes the files that have all their names below the paths. It returns an
// error if the others are too large to copy.
func removeUnshared(files map[inode]*linkedFile) error {
	var size int64
	for at, file := range files {
		if file.links <= uint64(len(file.names)) {
			delete(files, at)
			continue
		}
		if file.size > (maxShared-size)/int64(len(file.names)) {
			return fmt.Errorf("%s: more than %d GiB", file.names[0].path, maxShared>>30)
		}
		size += file.size * int64(len(file.names))
	}
	return nil
}

func outermost(paths []string) (outer []string) {
	for _, path := range paths {
		holds := func(other string) bool {
			return filepath.Clean(other) != filepath.Clean(path) && process.Under(other, path)
		}
		if !slices.ContainsFunc(paths, holds) && !slices.Contains(outer, path) {
			outer = append(outer, path)
		}
	}
	return outer
}

func collectLinked(ctx context.Context, root *untrusted.Root, path string, files map[inode]*linkedFile) error {
	return root.Walk(ctx, path, func(e untrusted.Entry, err error) error {
		switch {
		case errors.Is(err, untrusted.ErrTooDeep): // cannot be skipped: a sandboxed program can go there step by step
			return fmt.Errorf("%w: %s", err, filepath.Join(root.Name(), filepath.Join(strings.Split(e.Path, "/")[:3]...)))
		case errors.Is(err, fs.ErrPermission) && ownerOf(e.Info).uid != os.Geteuid():
			return fs.SkipDir // the sandbox has the same user, and no access either
		case errors.Is(err, fs.ErrNotExist):
			return fs.SkipDir // it was removed meanwhile
		case err != nil:
			return err
		case e.Info.IsDir() && e.Info.Mode().Perm()&0o500 != 0o500: // the sandbox has the same user, who can open it
			e.In.OpenToOwner(e.Name)
		}
		stat, is := e.Info.Sys().(*syscall.Stat_t)
		if !is || untrusted.Names(e.Info) == 1 || int(stat.Uid) != os.Geteuid() && e.Info.Mode().Perm()&0o022 == 0 {
			return nil // the sandbox cannot write to another user's file either
		}
		at := inode{uint64(stat.Dev), stat.Ino} //nolint:unconvert // another type on other systems
		if files[at] == nil {
			files[at] = &linkedFile{links: untrusted.Names(e.Info), size: e.Info.Size()}
		}
		files[at].names = append(files[at].names, name{root, e.Path})
		return nil
	})
}
