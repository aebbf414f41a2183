package putback

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"iter"
	"path"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/ralph-loop/ralph/internal/process"
	"github.com/ralph-loop/ralph/internal/untrusted"
)

// addLinked adds to all.Closed what links in them and in f.ReadOnly lead to, and what decides that on the way. Agents
// can fill some of them between commands: none of the user's stays open for that.
func (f Files) addLinked(all *Kept) error {
	add := func(to *[]string, names []string) (added []string) {
		for _, name := range names {
			path, lies := f.pathOf(name)
			covers := func(dir string) bool { return process.Under(dir, path) }
			if lies && !slices.Contains(*to, path) && !slices.ContainsFunc(slices.Concat(f.ReadOnly, all.Closed), covers) {
				*to, added = append(*to, path), append(added, path)
			}
		}
		return added
	}
	left := maxWalked
	for queue := slices.Concat(f.ReadOnly, all.Closed); len(queue) > 0; queue = queue[1:] {
		ways, ends, err := f.linked(queue[0], &left)
		if err != nil {
			return unkept(queue[0], err)
		}
		queue = append(queue, add(&all.Closed, ends)...)
		add(&all.Closed, ways.Names)
		slices.Sort(ways.Folders) // one may be on many ways
		add(&all.Folders, slices.Compact(ways.Folders))
	}
	return nil
}

const perLink = 100 // what a link costs in entries: it may lead through others

// linked returns the ways of the links at a path, and below it, and what they lead to.
func (f Files) linked(file string, left *int) (ways untrusted.Way, ends []string, err error) {
	dir := filepath.Dir(file)
	root, err := untrusted.OpenRoot(dir)
	if err != nil {
		return ways, nil, nil // nothing stands there
	}
	defer root.Close() //nolint:errcheck // only a handle
	err = root.WalkAll(filepath.Base(file), func(e untrusted.Entry, err error) error {
		if *left--; *left < 0 {
			return errCrowded
		}
		if err == nil && e.Info.Mode().Type() == fs.ModeSymlink {
			*left -= perLink
			way := untrusted.WayOf(filepath.Join(dir, e.Path))
			ways.Add(way)
			ends = append(ends, way.Names[len(way.Names)-1])
		}
		return nil
	})
	return ways, ends, err
}

// open opens k and the folders on the way to it, which those inside can close to their owner.
func (k keptPath) open() {
	untrusted.OpenToOwner(k.dir)
	for at := range k.way(k.name + "/") {
		k.root.OpenToOwner(at)
	}
}

// way returns the folders above a name, and what the user's links among them lead to within root.
func (k keptPath) way(name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for at := range ancestors(name) {
			for range mostLinks {
				to, isOwn := k.links[at]
				if !yield(at) {
					return
				}
				if at = path.Join(path.Dir(at), to); !isOwn || path.IsAbs(to) || !filepath.IsLocal(at) {
					break
				}
			}
		}
	}
}

const mostLinks = 40 // that a kernel follows

// reach opens them where k cannot be looked at, unless that was so before.
func (k keptPath) reach() {
	if _, err := k.root.Lstat(k.name); errors.Is(err, fs.ErrPermission) && k.content[k.name].WhyUnread == "" {
		k.open()
	}
}

// clear makes room to put k back.
func (k keptPath) clear() (cleared []string, err error) {
	if cleared, err = k.clearWay(moveAside); err == nil {
		err = moveAside(k.root, k.name)
	}
	return cleared, err
}

// clearWay takes away a link on the way to k that was not there, or a file in the way of what
// was below it. What a link leads to stays.
func (k keptPath) clearWay(take func(root *untrusted.Root, name string) error) ([]string, error) {
	for at := range k.way(k.name) {
		info, err := k.root.Lstat(at)
		was, isOwn := k.links[at]
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
			return nil, nil
		case err != nil:
			return nil, err
		case info.IsDir(), isOwn && was == k.leadsTo(at), info.Mode().Type() != fs.ModeSymlink && len(k.content) == 0:
			continue
		}
		if err = take(k.root, at); err == nil && isOwn {
			err = k.root.Symlink(was, at)
		}
		return []string{path.Join(k.dir, at)}, err
	}
	return nil, nil
}

// isElsewhere reports a link on the way to k that was not there.
func (k keptPath) isElsewhere() bool {
	for at := range k.way(k.name) {
		if to := k.leadsTo(at); to != "" && to != k.links[at] {
			return true
		}
	}
	return false
}

func (k keptPath) linksOnWay() map[string]string {
	k.links = map[string]string{}
	for at := range ancestors(k.name) {
		for to := k.leadsTo(at); to != "" && k.links[at] == ""; to = k.leadsTo(at) {
			k.links[at] = to
			at = path.Join(path.Dir(at), to)
		}
	}
	return k.links
}

// leadsTo returns where a link leads; empty if it is none.
func (k keptPath) leadsTo(name string) string {
	to, _ := k.root.Readlink(name)
	return to
}

// moveAside moves aside what cannot be removed.
func moveAside(root *untrusted.Root, name string) error {
	root.OpenToOwner(path.Dir(name))
	err := root.RemoveAll(name)
	if err == nil {
		return nil
	}
	if moved := setAside(root, name); moved != nil {
		return errors.Join(err, moved)
	}
	return nil
}

// setAside keeps it: it may be the user's.
func setAside(root *untrusted.Root, name string) error {
	root.OpenToOwner(path.Dir(name))
	return root.Rename(name, name+".put-aside-"+rand.Text())
}

// ancestors are the folders of a name, the nearest to the root first.
func ancestors(name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i, c := range name {
			if c == '/' && !yield(name[:i]) {
				return
			}
		}
	}
}
