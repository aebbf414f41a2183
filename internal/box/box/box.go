// Package box makes the folder in which a confined agent works equal to the user's, and brings back what changed in it.
// It knows three versions of each path: the start's, the box's and the user's now.
package box

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/renameio/v2"

	"github.com/ralph-loop/ralph/internal/box/sandbox"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/untrusted"
)

// Box is a folder for an agent beside the user's own.
type Box struct {
	User   string // the user's folder
	Dir    string // the agent's
	Before string // folder for what deliveries replace; empty: they cannot be undone
	Record string // file with the versions of the start, or of what was brought back since
	Upper  string // folder for what is written to large ignored folders
}

// open opens both folders, until closeBoth is called.
func (b Box) open() (user, own folderOf, closeBoth func(), err error) {
	user, err = openFolder(b.User)
	if err != nil {
		return user, own, nil, err
	}
	own, err = openFolder(b.Dir)
	if err != nil {
		return user, own, nil, errors.Join(err, user.Close())
	}
	return user, own, func() { _ = errors.Join(user.Close(), own.Close()) }, nil // only handles
}

// Fill makes the agent's folder equal to the user's, whose files are listed. What else is in the agent's folder goes,
// but its .git. Large ignored folders are layers, if these work.
func (b Box) Fill(ctx context.Context, list git.Listing, work func([]sandbox.Layer) bool) error {
	user, own, closeBoth, err := b.open()
	if err != nil {
		return err
	}
	defer closeBoth()
	start, err := fill(ctx, user, own, list)
	if err != nil {
		return fmt.Errorf("copy %s into the box: %w", b.User, err)
	}
	if err := b.fillIgnored(ctx, user, own, list.Ignored, work); err != nil {
		return fmt.Errorf("copy %s into the box: %w", b.User, err)
	}
	return b.write(start)
}

// fill copies the listed files, removes all others, and returns the versions of the listed ones.
func fill(ctx context.Context, user, own folderOf, list git.Listing) (map[string]version, error) {
	start := map[string]version{}
	isRemoved := map[string]bool{}
	for _, name := range list.Removed {
		isRemoved[name] = true
	}
	isRemoved[workspace.SettingsFile] = true // not copied: ralph reads the user's, and the box has the committed ones
	settings, err := own.version(workspace.SettingsFile)
	if err != nil {
		return nil, err
	}
	start[workspace.SettingsFile] = settings
	isFiltered := map[string]bool{}
	for _, name := range list.Filtered { // git would commit what the filter hides
		isFiltered[name] = true
	}
	for _, name := range list.Files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if isOurs(name) || isRemoved[name] {
			continue
		}
		v, err := fillListed(user, own, name, isFiltered[name])
		name = strings.TrimSuffix(name, "/")
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if v == folder {
			v = own.whole(ctx, name)
		}
		start[name] = v
	}
	return start, own.keep(ctx, start)
}

// fillListed copies a listed path. What the user lacks, as a sparse checkout leaves it out, or cannot read, stays as
// the box has it.
func fillListed(user, own folderOf, listed string, isFiltered bool) (version, error) {
	if !isFiltered {
		v, err := fillPath(user, own, listed)
		if err != nil || v != none {
			return v, err
		}
	}
	name := strings.TrimSuffix(listed, "/")
	if user.isFolder(name) {
		return none, nil
	}
	return own.version(name)
}

// keep removes all but these files, and what is ralph's or git's.
func (f folderOf) keep(ctx context.Context, start map[string]version) error {
	return f.Walk(ctx, ".", func(e untrusted.Entry, err error) error {
		switch {
		case err != nil:
			return err
		case isOurs(e.Path):
			return fs.SkipDir
		case e.Info.IsDir() && !start[e.Path].isFolder():
			return nil
		case e.Info.IsDir():
			return fs.SkipDir
		case start[e.Path] == none:
			return e.In.Remove(e.Name)
		}
		return nil
	})
}

// fillPath copies a folder as a whole, such as that of a submodule or another repository. What is no file stays out.
func fillPath(user, own folderOf, listed string) (version, error) {
	name := strings.TrimSuffix(listed, "/")
	info, err := user.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return none, nil // it was removed just now, or is in a closed folder
	}
	if err != nil {
		return none, err
	}
	if info.IsDir() {
		if name == listed && !user.isRepository(name) {
			return none, nil // it is in place of a file; what is in it is listed, too
		}
		return folder, mirrorFolder(user, own, name)
	}
	if !info.Mode().IsRegular() && info.Mode()&fs.ModeSymlink == 0 {
		return none, nil
	}
	if err := own.makeWay(name, false); err != nil {
		return none, err
	}
	v, err := user.copyTo(own, name)
	if v == other && errors.Is(err, fs.ErrPermission) {
		return none, nil // the user cannot read it
	}
	if err == nil && info.Mode().IsRegular() {
		err = own.Chmod(name, info.Mode().Perm())
	}
	return v, err
}

// mirrorFolder copies a folder, without a .git file: a submodule's leads into the user's .git.
func mirrorFolder(user, own folderOf, name string) error {
	if err := own.makeWay(name, true); err != nil {
		return err
	}
	if err := own.MkdirAll(name, 0o777); err != nil {
		return err
	}
	if err := workspace.Mirror(filepath.Join(user.Name(), name), filepath.Join(own.Name(), name)); err != nil {
		return err
	}
	gitFile := path.Join(name, ".git")
	if info, err := own.Lstat(gitFile); err == nil && !info.IsDir() {
		return own.Remove(gitFile)
	}
	return nil
}

// isOurs reports ralph's own files but the project's settings, and git's. No git lists a path that leads out, but an
// agent can write its index.
func isOurs(name string) bool {
	if name == workspace.SettingsFile {
		return false
	}
	if !filepath.IsLocal(name) || path.Base(name) == newName {
		return true
	}
	first, _, _ := strings.Cut(name, "/")
	return first == ".git" || git.Ours(first) || strings.HasPrefix(first, ".ralph-worktree")
}

// line is one of the record. A path need not be valid UTF-8.
type line struct{ Path, Version []byte }

func (b Box) read() (map[string]version, error) {
	data, err := untrusted.ReadFile(b.Record, 1<<30)
	if err != nil {
		return nil, err
	}
	var lines []line
	if err := json.Unmarshal(data, &lines); err != nil {
		return nil, err
	}
	start := map[string]version{}
	for _, l := range lines {
		start[string(l.Path)] = version(l.Version)
	}
	return start, nil
}

func (b Box) write(start map[string]version) error {
	lines := make([]line, 0, len(start))
	for name, v := range start {
		lines = append(lines, line{[]byte(name), []byte(v)})
	}
	data, err := json.Marshal(lines)
	if err != nil {
		return err
	}
	return renameio.WriteFile(b.Record, data, 0o600)
}

// Brought is what was brought into the user's folder.
type Brought struct {
	Paths []string // written or removed
	Left  []Left   // not brought
}

// Left is a path that stays as the user has it.
type Left struct {
	Path string
	Why  string
}

// Bring brings changes of some paths into the user's folder: those whose user's version is still the start's. It can be
// repeated after a kill. Refused returns why a path must not be brought; empty: it may.
func (b Box) Bring(
	ctx context.Context, paths []string, refused func(name string) string,
) (done Brought, err error) {
	start, err := b.read()
	if err != nil {
		return done, fmt.Errorf("read the versions of the start: %w", err)
	}
	user, own, closeBoth, err := b.open()
	if err != nil {
		return done, err
	}
	defer closeBoth()
	d := delivery{user: user, own: own, start: start, done: &done}
	if b.Before != "" {
		kept, failed := b.openBefore()
		if failed != nil {
			return done, failed
		}
		d.before = &kept
		defer func() { err = errors.Join(err, kept.close()) }()
	}
	// What lies in a folder comes before it.
	slices.SortFunc(paths, func(a, b string) int { return strings.Compare(b, a) })
	for _, isRemoved := range []bool{true, false} {
		for _, name := range paths {
			if err := ctx.Err(); err != nil {
				return done, err
			}
			if err := d.bring(name, isRemoved, refused); err != nil {
				return done, fmt.Errorf("bring %s from the box: %w", name, err)
			}
		}
	}
	slices.Sort(done.Paths)
	slices.SortFunc(done.Left, func(a, b Left) int { return strings.Compare(a.Path, b.Path) })
	return done, b.write(start)
}

type delivery struct {
	user, own folderOf
	start     map[string]version
	done      *Brought
	before    *before // nil: nothing is kept
}

// bring first removes what is gone in the box, then writes the rest.
func (d delivery) bring(name string, isRemoved bool, refused func(name string) string) error {
	if isOurs(name) {
		return nil
	}
	boxes, err := d.own.version(name)
	if err != nil || boxes == d.start[name] || (boxes == none) != isRemoved {
		return err
	}
	users, err := d.user.version(name)
	if err != nil {
		return err
	}
	why := refused(name)
	if users == boxes && boxes != folder && boxes != other {
		d.start[name] = boxes
		return nil
	}
	if why == "" {
		why = d.obstacle(name, users, boxes)
	}
	if why != "" {
		d.leave(name, why)
		return nil
	}
	if d.before != nil {
		if err := d.before.keep(d.user, name, users, boxes); err != nil {
			return err
		}
	}
	if boxes == none {
		err = d.user.remove(name)
	} else {
		boxes, err = d.own.copyTo(d.user, name)
	}
	if err != nil {
		d.leave(name, err.Error())
		return nil
	}
	d.start[name] = boxes
	d.done.Paths = append(d.done.Paths, name)
	return nil
}

func (d delivery) leave(name, why string) { d.done.Left = append(d.done.Left, Left{name, why}) }

// obstacle returns why a path cannot be brought; empty: it can.
func (d delivery) obstacle(name string, users, boxes version) string {
	if name == workspace.SettingsFile {
		return "it is protected"
	}
	atStart := d.start[name]
	isFile := boxes != folder && boxes != other && atStart != other && !atStart.isFolder()
	if !isFile || isGits(name) || d.user.isNested(name) {
		return "it is no file, too large, or in another repository"
	}
	if d.own.leadsOut(name, boxes) {
		return "the link leads out of the folder, or into .git"
	}
	if users != atStart || (boxes != none && !d.user.isFree(name)) {
		return "it was changed here, too"
	}
	return ""
}

// Changed returns which of some paths are not as they were at the start. Paths of the start are always among them.
func (b Box) Changed(ctx context.Context, paths []string) ([]string, error) {
	start, err := b.read()
	if err != nil {
		return nil, err
	}
	own, err := openFolder(b.Dir)
	if err != nil {
		return nil, err
	}
	defer own.Close() //nolint:errcheck // only a handle
	all := map[string]bool{}
	for name := range start {
		all[name] = true
	}
	for _, name := range paths {
		all[strings.TrimSuffix(name, "/")] = true
	}
	var changed []string
	for name := range all {
		v, err := own.version(name)
		if err != nil {
			return nil, err
		}
		if start[name].isFolder() && own.isFolder(name) {
			v = own.whole(ctx, name)
		}
		if v != start[name] && !isOurs(name) {
			changed = append(changed, name)
		}
	}
	slices.Sort(changed)
	return changed, nil
}

// List lists the files of a folder without a repository. It does not look into another repository.
func List(ctx context.Context, dir string) ([]string, error) {
	root, err := untrusted.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // only a handle
	var names []string
	err = root.Walk(ctx, ".", func(e untrusted.Entry, err error) error {
		switch {
		case err != nil || e.Path == ".":
			return err
		case isOurs(e.Path):
			return fs.SkipDir
		case e.Info.IsDir() && e.Holds(".git"):
			names = append(names, e.Path+"/")
			return fs.SkipDir
		case !e.Info.IsDir():
			names = append(names, e.Path)
		}
		return nil
	})
	return names, err
}

// Sides copies the user's version of a path to dir/a, and the box's to dir/b.
func (b Box) Sides(dir, name string) error {
	if err := copySide(b.User, filepath.Join(dir, "a"), name); err != nil {
		return err
	}
	return copySide(b.Dir, filepath.Join(dir, "b"), name)
}

func copySide(from, to, name string) error {
	source, err := openFolder(from)
	if err != nil {
		return err
	}
	defer source.Close() //nolint:errcheck // only a handle
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	target, err := openFolder(to)
	if err != nil {
		return err
	}
	defer target.Close() //nolint:errcheck // only a handle
	v, err := source.version(name)
	if err != nil {
		return err
	}
	if v == none || v == folder || v == other {
		return nil
	}
	_, err = source.copyTo(target, name)
	return err
}
