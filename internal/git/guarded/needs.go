// Package guarded knows which files of a repository make git run programs or
// read more files, and which settings of agents git leaves out. It tells which
// of them only the user may change. It looks at the files alone and starts no git.
package guarded

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
	"github.com/ralph-loop/ralph/internal/process"
	"github.com/ralph-loop/ralph/internal/untrusted"
)

// Needs is what somebody who works in a tree has to reach of its repository,
// beyond its folder, and what in all that only its user changes. What is named need
// not be there.
type Needs struct {
	Write, Read, ReadOnly []string
	Guarded               []Guard
}

// Guard is a git folder, and the names in it that git writes when somebody works in
// the tree. All else says what git runs or reads more of, now or when something that
// is half done goes on, or is the user's.
type Guard struct {
	Dir string
	But []string // as path.Match has them; "." is all in it
}

// OnlyName reports that only the name is guarded: all in the folder may change, and it may not become a link.
func (g Guard) OnlyName() bool { return slices.Contains(g.But, ".") }

// Kept returns the files and git folders that are read-only or put back.
func (n Needs) Kept() []string {
	kept := slices.Clone(n.ReadOnly)
	for _, guard := range n.Guarded {
		if !guard.OnlyName() {
			kept = append(kept, guard.Dir)
		}
	}
	return kept
}

// written is what git writes where a repository lies. What is info is guarded itself.
var written = []string{
	"objects", "refs", "reftable", "packed-refs", "logs", "index", "sharedindex.*", "HEAD", "ORIG_HEAD", "FETCH_HEAD", "shallow", "info",
	"*_EDITMSG", "MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "MERGE_AUTOSTASH", "AUTO_MERGE", "SQUASH_MSG", "CHERRY_PICK_HEAD", "REVERT_HEAD", "lfs", "modules", "worktrees", "*.lock",
}

// Writes reports what git writes, by its name in a git folder.
func Writes(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	return slices.ContainsFunc(written, func(pattern string) bool { fits, _ := path.Match(pattern, first); return fits })
}

// Folder returns what only the user changes in a folder. It goes by the folder
// alone: whether git takes .git for a repository, or finds one there at all, those
// inside could change from one command to the next.
func Folder(dir string) Needs {
	at := filepath.Join(dir, ".git")
	n := Needs{ReadOnly: append(strange(dir), filepath.Join(dir, ".gitmodules"))}
	if info, err := os.Lstat(at); err == nil && !info.IsDir() { // it leads there
		n.ReadOnly = append(n.ReadOnly, at)
		return n
	}
	return n.Within(at).With(at)
}

// With adds git folders.
func (n Needs) With(folders ...string) Needs {
	for _, dir := range folders {
		if !slices.ContainsFunc(n.Guarded, func(g Guard) bool { return g.Dir == dir }) {
			n.Guarded = append(slices.Clip(n.Guarded),
				Guard{dir, written},
				Guard{filepath.Join(dir, "info"), []string{"refs", "*.lock"}},
				Guard{filepath.Join(dir, "objects", "info"), []string{"packs", "commit-graph", "commit-graphs", "*.lock"}})
		}
	}
	return n
}

// OnWay adds what decides which files the user's paths lead to.
func (n Needs) OnWay(w untrusted.Way) Needs {
	n.ReadOnly = slices.Concat(n.ReadOnly, w.Names)
	for _, dir := range w.Folders {
		if !slices.ContainsFunc(n.Guarded, func(g Guard) bool { return g.Dir == dir }) {
			n.Guarded = append(slices.Clip(n.Guarded), Guard{dir, []string{"."}})
		}
	}
	return n
}

// Others are the settings of Mercurial, Sapling, Jujutsu, Pijul and Darcs.
var Others = []string{
	".hg/hgrc", ".hg/hgrc-not-shared", ".hg/sharedpath", ".hg/config", ".sl/config", ".pijul/config", "_darcs/prefs",
	".jj/repo/config.toml", ".jj/repo/config-id", ".jj/workspace-config.toml", ".jj/workspace-config-id",
}

// IsOther reports the folder of a version control that is not git.
func IsOther(name string) bool {
	return slices.ContainsFunc(Others, func(other string) bool { return strings.HasPrefix(other, path.Base(name)+"/") })
}

// local are settings that git usually ignores, so that no change of the work shows them: an agent that is started in the
// folder that holds them runs what they say.
var local = []string{".claude/settings.local.json", ".gemini/.env"}

// LocalIn returns the files in a project that are its user's alone.
func LocalIn(project string) (paths []string) {
	for _, name := range local {
		if place, _ := behind(project, name); place != "" {
			paths = append(paths, place)
		}
	}
	return paths
}

func strange(dir string) (paths []string) {
	for _, name := range Others {
		if place, stands := behind(dir, name); stands {
			paths = append(paths, place)
		}
	}
	return paths
}

// behind returns where a file lies whose folder in dir may be a link, and whether that folder stands. It returns none
// where the link leads out of dir, or to no folder.
func behind(dir, name string) (place string, stands bool) {
	folder, file, _ := strings.Cut(name, "/")
	at := filepath.Join(dir, folder)
	info, err := os.Lstat(at)
	if err == nil && info.Mode().Type() == fs.ModeSymlink {
		at = untrusted.Place(at)
		info, err = os.Lstat(at)
	}
	if err == nil && !info.IsDir() || !process.Under(dir, at) {
		return "", false
	}
	return filepath.Join(at, file), err == nil
}

// Around returns the nearest folder from dir up that holds a .git; dir itself without one.
func Around(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}

// IsBare reports whether a folder is git's own, a bare repository or a .git, as git decides it.
func IsBare(dir string) bool {
	return !slices.ContainsFunc([]string{"HEAD", "objects", "refs"}, func(name string) bool {
		_, err := os.Lstat(filepath.Join(dir, name))
		return err != nil
	})
}

// traces are files that tell of a repository, any of them: one without a HEAD is
// guarded, too.
var traces = []string{"HEAD", "config", "config.worktree", "commondir", "gitdir", "index", "packed-refs"}

const (
	mostEntries = 1_000_000
	mostFolders = 500 // git folders that are guarded one by one: each takes time before and after each command
)

// Aside ends the names of what was moved aside, and is no repository any more.
const Aside = ".moved-by-ralph"

// ofOther is where git keeps a submodule or another worktree. Beside that, such as in the logs of a worktree, a command
// may leave any file, and what it began there is not the user's.
var ofOther = pattern.Of(`^(?:modules/.|worktrees/[^/]+(?:/modules/.+)?$)`)

var errCrowded = errors.New("too much lies in it")

// Within adds the repositories of submodules and other worktrees. Where there are too many,
// all of them are read-only.
func (n Needs) Within(common string) Needs {
	root, err := untrusted.OpenRoot(common)
	if err != nil {
		return n
	}
	defer root.Close() //nolint:errcheck // only a handle
	left := mostEntries
	for _, folder := range []string{"modules", "worktrees"} {
		var found []string
		failed := root.WalkAll(folder, func(e untrusted.Entry, err error) error {
			left--
			dir := filepath.Join(common, path.Dir(e.Path))
			switch {
			case left < 0:
				return errCrowded
			case err != nil:
				return err
			case e.Info.IsDir() && strings.HasSuffix(e.Name, Aside):
				return fs.SkipDir
			case !e.Info.IsDir() && slices.Contains(traces, e.Info.Name()) && ofOther.MatchString(path.Dir(e.Path)) && !slices.Contains(found, dir) && !isRef(e):
				if found = append(found, dir); len(found) > mostFolders {
					return errCrowded
				}
			}
			return nil
		})
		if failed != nil && !errors.Is(failed, fs.ErrNotExist) {
			n.ReadOnly = append(slices.Clip(n.ReadOnly), filepath.Join(common, folder))
			continue
		}
		n = n.With(found...)
	}
	return n
}

var (
	refFolder = pattern.Of(`/(?:objects|refs|logs)/`)
	refText   = pattern.Of(`^(?:ref: |[0-9a-f]{40})`)
)

// A ref or its log may be named like a trace, and a submodule like a folder of them.
func isRef(e untrusted.Entry) bool {
	if !refFolder.MatchString(e.Path) {
		return false
	}
	file, err := e.In.OpenPlain(e.Name)
	if err != nil {
		return false
	}
	defer file.Close() //nolint:errcheck // only read
	text := make([]byte, 40)
	n, _ := io.ReadFull(file, text) // a shorter one is judged as it is
	return refText.MatchString(string(text[:n]))
}

// IsFolder reports a folder with a file that tells of a repository.
func IsFolder(e untrusted.Entry) bool {
	return slices.ContainsFunc(traces, func(trace string) bool {
		file := untrusted.Entry{Path: path.Join(e.Path, trace), In: e.In, Name: path.Join(e.Name, trace)}
		info, err := e.In.Lstat(file.Name)
		return err == nil && !info.IsDir() && !isRef(file)
	})
}

// Begun reports whether a .git is, or leads to, more than a folder of that name.
func Begun(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && (!info.IsDir() || slices.ContainsFunc(traces, func(trace string) bool {
		_, err := os.Lstat(filepath.Join(path, trace))
		return err == nil
	}))
}
