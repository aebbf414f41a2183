package nested

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/git/guarded"
	"github.com/ralph-loop/ralph/internal/untrusted"
)

// Aside ends the names of what was moved.
const Aside = ".moved-by-ralph"

// settle looks again, and moves aside what may not stay of what is new or changed since before. It
// returns the new paths.
func (s search) settle(ctx context.Context, before found) (moved []string, err error) {
	top := s.start
	now, err := s.look(ctx, before)
	timely, cancel := context.WithTimeout(ctx, forGit)
	defer cancel()
	moved, deep, failed := s.move(ctx, timely, before, now, top)
	for err = errors.Join(err, failed); len(deep) > 0; {
		s.start = deep[0]
		now, failed := s.look(ctx, found{})
		more, deeper, missed := s.move(ctx, timely, found{}, now, top)
		moved, deep, err = append(moved, more...), append(deep[1:], deeper...), errors.Join(err, failed, missed)
	}
	slices.Sort(moved)
	return moved, err
}

// move also returns where in top it moved folders that were too deep to look into.
func (s search) move(ctx, timely context.Context, before, now found, top string) (moved, deep []string, err error) {
	root, err := untrusted.OpenRoot(s.top)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close() //nolint:errcheck // only a handle
	// Those within another go first: their paths are known.
	names := slices.SortedFunc(maps.Keys(now), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(now[b].folder), len(now[a].folder)), cmp.Compare(a, b))
	})
	names = slices.DeleteFunc(names, func(name string) bool { return isSame(now[name], before[name]) })
	for _, name := range names {
		one := now[name]
		if one.folder == "" || one.version != exists && s.stays(timely, root, name, one.folder) {
			continue
		}
		if s.isOwnIndex(name) && s.interrupted(ctx) {
			err = errors.Join(err, fmt.Errorf("%w: %s was not read", ErrNotAll, name))
			continue
		}
		head := path.Join(one.folder, "HEAD")
		at := part(name, one.folder, now[head].version == exists && before[head].version == "")
		to := at + Aside
		if one.version == tooDeep {
			to = path.Join(top, "too-deep."+rand.Text()[:8]+Aside)
			deep = append(deep, to)
		}
		if failed := moveAside(root, at, to); !errors.Is(failed, fs.ErrNotExist) { // it went with another
			moved, err = append(moved, to), errors.Join(err, failed, disarm(ctx, root, to, one))
			s.renew(ctx, at)
		}
	}
	return moved, deep, err
}

func isSame(one, before thing) bool {
	return one == before && !strings.Contains(one.version, unknown)
}

// part is what is moved: of a folder that git does not write, all. Without its HEAD, a bare repository
// is like any other folder.
func part(name, folder string, bare bool) string {
	if bare {
		return path.Join(folder, "HEAD")
	}
	way, _ := filepath.Rel(folder, name) // it lies there
	if first, _, _ := strings.Cut(way, "/"); way != "." && !guarded.IsOther(folder) && !guarded.Writes(way) {
		return path.Join(folder, first)
	}
	return name
}

// moveAside keeps what was moved before: it may be the user's own.
func moveAside(root *untrusted.Root, name, to string) error {
	if _, err := root.Lstat(name); err != nil {
		return err
	}
	earlier := root.Rename(to, strings.TrimSuffix(to, Aside)+"."+rand.Text()[:8]+Aside)
	if errors.Is(earlier, fs.ErrNotExist) {
		earlier = nil
	}
	err := root.Rename(name, to)
	if errors.Is(err, fs.ErrPermission) { // those inside may have closed the folder
		openFolder(root, path.Dir(name))
		err = root.Rename(name, to)
	}
	return errors.Join(earlier, err)
}

// disarm leaves nothing in what was moved that git takes for a repository. What was too deep is searched.
func disarm(ctx context.Context, root *untrusted.Root, moved string, one thing) error {
	if one.version == tooDeep {
		return nil
	}
	return root.Walk(ctx, moved, func(e untrusted.Entry, err error) error {
		if err != nil || !e.Info.IsDir() || !isBare(e.Holds) {
			return err
		}
		return e.In.Rename(path.Join(e.Name, "HEAD"), path.Join(e.Name, "HEAD"+Aside))
	})
}

// openFolder lets its owner in, and leaves others what they may.
func openFolder(root *untrusted.Root, name string) {
	if info, err := root.Lstat(name); err == nil {
		_ = root.Chmod(name, info.Mode().Perm()|0o700) // where that fails, what follows says so
	}
}

// stays reports what git makes by itself and what leads nowhere else.
func (s search) stays(ctx context.Context, root *untrusted.Root, at, folder string) bool {
	if info, err := root.Lstat(at); err != nil || !info.Mode().IsRegular() {
		return errors.Is(err, fs.ErrNotExist)
	}
	if err := root.Separate(at, mostNested); err != nil { // git would write to it by another name, such as COMMIT_EDITMSG
		return false
	}
	place := filepath.Join(s.top, folder)
	way, _ := filepath.Rel(folder, at) // it lies there
	switch way {
	case "index":
		return s.lists(ctx, filepath.Join(place, way))
	case "HEAD", "description", "gitdir", "locked":
		return true
	}
	text, err := root.ReadFile(at, mostNested)
	switch way {
	case ".":
		dir := filepath.Dir(place)
		return s.isWork(dir) && s.isOwn(ctx, guarded.Leads(text, dir), dir)
	case "config", "config.worktree":
		return err == nil && s.plain(ctx, place, text)
	case "commondir":
		return guarded.Line(text) == "../.." && strings.HasSuffix(path.Dir(folder), "/worktrees") // which is a repository, then
	}
	return path.Dir(way) == "hooks" && strings.HasSuffix(way, ".sample")
}

// isOwn reports a git folder of a worktree or submodule of the project's own repository, whose work tree
// is dir. All else that a new .git leads to may become a repository later, when git writes there.
func (s search) isOwn(ctx context.Context, folder, dir string) bool {
	has := func(name string) bool {
		_, err := os.Lstat(filepath.Join(folder, name))
		return err == nil
	}
	if !s.isModule(folder) || !isBare(has) {
		return s.isWorktree(folder) && has("HEAD") && has("commondir")
	}
	config, err := untrusted.ReadFile(filepath.Join(folder, "config"), mostNested)
	for key, value := range s.settings(ctx, config) {
		if key == "" || key == "core.worktree" && guarded.Worktree(folder, value) != dir {
			return false
		}
	}
	return err == nil
}
