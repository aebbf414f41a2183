package nested

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/git/guarded"
	"github.com/ralph-loop/ralph/internal/untrusted"
)

// Aside ends the names of what was moved.
const Aside = ".moved-by-ralph"

// settle looks again. What is new or changed since before stays only as git init, clone and the
// commands that work in a tree make it; the rest is moved aside. It returns the new paths.
func (s search) settle(ctx context.Context, before found) (moved []string, err error) {
	now, err := s.look(ctx, before)
	root, failed := untrusted.OpenRoot(s.top)
	if failed != nil {
		return nil, errors.Join(err, failed)
	}
	defer root.Close() //nolint:errcheck // only a handle
	// Those within another go first: their paths are known.
	names := slices.SortedFunc(maps.Keys(now), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(now[b].folder), len(now[a].folder)), cmp.Compare(a, b))
	})
	for _, name := range names {
		one := now[name]
		if one == before[name] && !strings.Contains(one.version, unknown) {
			continue
		}
		if one.folder == "" || s.stays(ctx, root, name, one.folder) {
			continue
		}
		at := part(name, one.folder)
		if head := path.Join(one.folder, "HEAD"); now[head].version == exists && before[head].version == "" {
			at = head // without it, the folder is like any other
		}
		if failed := moveAside(root, at); !errors.Is(failed, fs.ErrNotExist) { // it went with another
			moved, err = append(moved, at+Aside), errors.Join(err, failed)
		}
	}
	slices.Sort(moved)
	return moved, err
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
func moveAside(root *untrusted.Root, name string) error {
	if _, err := root.Lstat(name); err != nil {
		return err
	}
	_ = root.Chmod(path.Dir(name), 0o700) // those inside may have closed the folder
	earlier := root.Rename(name+Aside, name+"."+rand.Text()[:8]+Aside)
	if errors.Is(earlier, fs.ErrNotExist) {
		earlier = nil
	}
	return errors.Join(earlier, root.Rename(name, name+Aside))
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
		_, inside := guarded.Leads(text, filepath.Dir(place), s.top)
		return inside
	case "config", "config.worktree":
		return err == nil && s.plain(ctx, place, text)
	case "commondir":
		return guarded.Line(text) == "../.." && strings.HasSuffix(path.Dir(folder), "/worktrees") // which is a repository, then
	case alternates: // the next sandbox there could read what lies outside of the tree
		outside := func(store string) bool { return !within(s.top, store) }
		return err == nil && !slices.ContainsFunc(stores(text, filepath.Join(place, "objects")), outside)
	}
	return path.Dir(way) == "hooks" && strings.HasSuffix(way, ".sample")
}
