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
const Aside = guarded.Aside

// mover moves aside what may not stay.
type mover struct {
	search

	root    *untrusted.Root
	moved   []string // the new paths
	armed   []string // those that may still hold repositories
	deep    string   // a new folder for what is too deep to look into
	entries int      // what is left to look at
	failed  error    // what first kept something from being disarmed
}

// settle searches again, and moves aside what is new or changed and may not stay. It returns the new
// paths, and whether it found everything.
func (s search) settle(ctx context.Context) (moved []string, all bool, err error) {
	untrusted.OpenToOwner(s.git.Home) // else git does not start
	root, err := untrusted.OpenRoot(s.top)
	if errors.Is(err, fs.ErrPermission) {
		untrusted.OpenToOwner(s.top)
		root, err = untrusted.OpenRoot(s.top)
	}
	if err != nil {
		return nil, false, err
	}
	defer root.Close() //nolint:errcheck // only a handle
	now, _, missed := s.look(ctx, &s.before)
	m := mover{search: s, root: root, entries: mostEntries}
	err = errors.Join(m.move(ctx, now), m.disarm(ctx))
	slices.Sort(m.moved)
	return m.moved, err == nil && !errors.Is(missed, ErrNotAll), errors.Join(missed, err)
}

func (m *mover) move(ctx context.Context, now found) (err error) {
	timely, cancel := context.WithTimeout(ctx, forGit)
	defer cancel()
	// Inner ones go first, while their paths are valid.
	names := slices.SortedFunc(maps.Keys(now), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(now[b].folder), len(now[a].folder)), cmp.Compare(a, b))
	})
	names = slices.DeleteFunc(names, func(name string) bool { return m.before.isSame(name, now[name]) })
	for _, name := range names {
		one := now[name]
		switch {
		case one.folder == "":
		case one.version == tooDeep:
			err = errors.Join(err, m.raise(name))
		case one.version != exists && one.version != inner && m.stays(timely, m.root, name, one.folder) && m.root.Separate(name, mostNested) == nil: // git would write to it by another name, such as COMMIT_EDITMSG
		case m.isOwnIndex(name) && ctx.Err() != nil:
			err = errors.Join(err, fmt.Errorf("%w: %s was not read", ErrNotAll, name))
		default:
			head := path.Join(one.folder, "HEAD")
			at := part(name, one.folder, now[head] == thing{exists, one.folder} && !m.before.has(head)) // no pipe, which was removed
			to := aside(at)
			switch failed := moveAside(m.root, at, to); {
			case errors.Is(failed, fs.ErrNotExist): // it went with another
			case failed != nil:
				m.armed, err = append(m.armed, to), errors.Join(err, failed)
			default:
				m.moved, m.armed = append(m.moved, to), append(m.armed, to)
				m.renew(ctx, at)
			}
		}
	}
	return err
}

// raise moves a folder that is too deep to search to where it can be searched.
func (m *mover) raise(at string) error {
	if m.deep == "" {
		m.deep = path.Join(m.start, "too-deep."+rand.Text()[:8]+Aside)
		m.moved = append(m.moved, m.deep)
		if err := m.root.Mkdir(m.deep, 0o700); err != nil {
			return err
		}
	}
	to := path.Join(m.deep, rand.Text())
	m.armed = append(m.armed, to)
	return moveAside(m.root, at, to)
}

// part returns what is moved: of a folder that git does not write, all. A bare repository without its
// HEAD is an ordinary folder.
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

// aside returns the new name, for names of any length.
func aside(name string) string {
	if dir, base := path.Split(name); len(base) > 200 {
		name = dir + base[:200] + "." + rand.Text()
	}
	return name + Aside
}

// moveAside keeps what was moved before, which may be the user's own.
func moveAside(root *untrusted.Root, name, to string) error {
	if _, err := root.Lstat(name); err != nil {
		return err
	}
	earlier := root.Rename(to, strings.TrimSuffix(to, Aside)+"."+rand.Text()[:8]+Aside)
	if errors.Is(earlier, fs.ErrNotExist) {
		earlier = nil
	}
	err := root.Move(name, to)
	if errors.Is(err, fs.ErrPermission) { // those inside may have closed a folder
		root.OpenToOwner(path.Dir(name))
		root.OpenToOwner(name)
		err = root.Move(name, to)
	}
	return errors.Join(earlier, err)
}

// disarm removes from what was moved all that makes it a repository for git or another version control.
func (m *mover) disarm(ctx context.Context) error {
	for ; len(m.armed) > 0; m.armed = m.armed[1:] {
		if err := m.root.Walk(ctx, m.armed[0], m.visit); err != nil || m.entries < 0 {
			return errors.Join(ErrNotAll, err, m.failed)
		}
	}
	return m.failed
}

func (m *mover) visit(e untrusted.Entry, err error) error {
	if m.entries -= cost(e); m.entries < 0 {
		return fs.SkipAll
	}
	way := fs.SkipDir
	switch {
	case errors.Is(err, untrusted.ErrTooDeep):
		err = m.raise(e.Path)
	case err != nil:
	case path.Base(e.Path) == ".git", guarded.IsOther(e.Path):
		err = moveAside(e.In, e.Name, e.Name+Aside)
		m.armed = append(m.armed, e.Path+Aside)
	case m.isPipe(e):
		err = e.In.Remove(e.Name)
	case e.Info.IsDir():
		e.In.OpenToOwner(e.Name)
		if way = nil; isBare(e.Holds) {
			err = moveAside(e.In, path.Join(e.Name, "HEAD"), path.Join(e.Name, "HEAD"+Aside))
		}
	}
	if !errors.Is(err, fs.ErrNotExist) { // it went with another
		m.failed = cmp.Or(m.failed, err)
	}
	return way
}

// stays reports whether git makes such a file by itself, and it leads nowhere else.
func (s search) stays(ctx context.Context, root *untrusted.Root, at, folder string) bool {
	if info, err := root.Lstat(at); err != nil || !info.Mode().IsRegular() {
		return errors.Is(err, fs.ErrNotExist)
	}
	place := filepath.Join(s.top, folder)
	way, _ := filepath.Rel(folder, at) // it lies there
	switch way {
	case "index":
		return s.lists(ctx, filepath.Join(place, way))
	case "HEAD", "description", "gitdir", "locked", "info/exclude", "ralph-sandboxed": // the last two are also ralph's, of a command there
		return true
	}
	text, err := root.ReadFile(at, mostNested)
	switch way {
	case ".":
		dir := filepath.Dir(place)
		return ctx.Err() == nil && s.isWork(dir) && s.isOwn(guarded.Leads(text, dir), dir)
	case "config", "config.worktree":
		return err == nil && s.plain(ctx, place, text)
	case "commondir":
		return guarded.Line(text) == "../.." && strings.HasSuffix(path.Dir(folder), "/worktrees") // which is a repository, then
	}
	return path.Dir(way) == "hooks" && strings.HasSuffix(way, ".sample")
}

// isOwn reports whether a git folder belongs to a worktree or submodule of the project's own repository,
// with the work tree dir. Other targets of a new .git may become repositories when git writes there.
func (s search) isOwn(folder, dir string) bool {
	has := func(name string) bool {
		_, err := os.Lstat(filepath.Join(folder, name))
		return err == nil
	}
	if s.isModule(folder) && isBare(has) {
		return s.tree(folder) == dir
	}
	return s.isWorktree(folder) && has("HEAD") && has("commondir")
}
