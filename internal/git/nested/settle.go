package nested

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
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

// settle looks again. What is new or changed since before stays only as the commands that work in a
// tree make it; the rest is moved aside, and so is each new repository. It returns the new paths.
func (s search) settle(ctx, timely context.Context, before found) (moved []string, err error) {
	top := s.start
	moved, deep, err := s.settleOnce(ctx, timely, before, top)
	for len(deep) > 0 {
		s.start = deep[0]
		within, deeper, failed := s.settleOnce(ctx, timely, found{}, top)
		moved, deep, err = append(moved, within...), append(deep[1:], deeper...), errors.Join(err, failed)
	}
	slices.Sort(moved)
	return moved, err
}

// settleOnce also returns where in top it moved folders that were too deep to look into.
func (s search) settleOnce(ctx, timely context.Context, before found, top string) (moved, deep []string, err error) {
	now, err := s.look(ctx, before)
	root, failed := untrusted.OpenRoot(s.top)
	if failed != nil {
		return nil, nil, errors.Join(err, failed)
	}
	defer root.Close() //nolint:errcheck // only a handle
	// Those within another go first: their paths are known.
	names := slices.SortedFunc(maps.Keys(now), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(now[b].folder), len(now[a].folder)), cmp.Compare(a, b))
	})
	for _, name := range names {
		one := now[name]
		same := one == before[name] && !strings.Contains(one.version, unknown)
		if same || one.folder == "" || one.version != exists && s.stays(timely, root, name, one.folder) {
			continue
		}
		at := part(name, one.folder)
		if head := path.Join(one.folder, "HEAD"); now[head].version == exists && before[head].version == "" {
			at = head // without it, the folder is like any other
		}
		to := at + Aside
		if one.version == tooDeep {
			to = path.Join(top, "too-deep."+rand.Text()[:8]+Aside)
			deep = append(deep, to)
		}
		if failed := moveAside(root, at, to); !errors.Is(failed, fs.ErrNotExist) { // it went with another
			moved, err = append(moved, to), errors.Join(err, failed)
			s.renew(timely, at)
		}
	}
	return moved, deep, err
}

// part is what is moved: of a folder that git does not write, all.
func part(name, folder string) string {
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
	_ = root.Chmod(path.Dir(name), 0o700) // those inside may have closed the folder
	earlier := root.Rename(to, strings.TrimSuffix(to, Aside)+"."+rand.Text()[:8]+Aside)
	if errors.Is(earlier, fs.ErrNotExist) {
		earlier = nil
	}
	return errors.Join(earlier, root.Rename(name, to))
}

// stays reports what git makes by itself and what leads nowhere else.
func (s search) stays(ctx context.Context, root *untrusted.Root, at, folder string) bool {
	if info, err := root.Lstat(at); err != nil || !info.Mode().IsRegular() {
		return errors.Is(err, fs.ErrNotExist)
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
