package guarded

import (
	"bytes"
	"cmp"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/untrusted"
)

// ErrMany says that configurations include more files than are looked for.
var ErrMany = errors.New("they include too many files")

// Includes finds the files that configurations include.
type Includes struct {
	Size  int64 // most bytes of a configuration
	Files int   // most files that are included

	Way func(to string) untrusted.Way // nil: WayOf

	// List returns git's list of the includes of a configuration, without ~ in paths.
	List func(config []byte) ([]byte, error)
}

// longest is a path that the kernel opens for git.
const longest = 4096

// Of returns the ways to the files that configuration files include, and to those that these
// include, whether or not they are there or their condition holds now. Listed is git's list of
// the environment. With an error, some are missing.
func (c Includes) Of(listed []byte, configs ...string) (ways untrusted.Way, err error) {
	files, known := slices.Clone(configs), map[string]bool{}
	way := c.Way
	if way == nil {
		way = untrusted.WayOf
	}
	include := func(dir string, list []byte) {
		for to := range included(dir, list) {
			switch {
			case known[to]:
			case len(known) == c.Files:
				err = cmp.Or(err, ErrMany)
				return
			default:
				known[to] = true
				files = append(files, to)
				ways.Add(way(to))
			}
		}
	}
	include("", listed)
	for ; len(files) > 0; files = files[1:] {
		text, _ := untrusted.ReadFile(files[0], c.Size)
		if !includes(text) {
			continue
		}
		found, failed := c.List(text)
		err = cmp.Or(err, failed)
		include(filepath.Dir(files[0]), found)
	}
	return ways, err
}

// included returns the paths in git's list of the includes of a configuration in dir.
func included(dir string, list []byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		for setting := range bytes.SplitSeq(bytes.TrimSuffix(list, []byte("\x00")), []byte("\x00")) {
			_, name, _ := bytes.Cut(setting, []byte("\n"))
			to := string(name)
			if !filepath.IsAbs(to) {
				to = dir + "/" + to // git follows a link before ..
			}
			if len(name) > 0 && len(to) <= longest && !yield(to) {
				return
			}
		}
	}
}

func includes(config []byte) bool { return bytes.Contains(bytes.ToLower(config), []byte("include")) }

// Linked returns the ways of those files in git folders that are links.
func Linked(files []string) (ways untrusted.Way) {
	for _, file := range files {
		if way := untrusted.WayOf(filepath.Join(untrusted.Place(filepath.Dir(file)), filepath.Base(file))); len(way.Names) > 1 {
			ways.Add(way)
		}
	}
	return ways
}

// Absolute returns a path as git reads it in a folder, which follows a link before "..".
func Absolute(path, dir string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return dir + "/" + path
}

// Worktree returns the folder that core.worktree names in a git folder; empty if a link leads there, as one
// may lead elsewhere later.
func Worktree(folder, value string) string {
	to, err := untrusted.Resolve(Absolute(value, folder), func(string) bool { return true })
	if err != nil {
		return ""
	}
	return to
}

// FolderOf returns the git folder that .git in dir is or leads to, by the files alone: git may not know it any more.
func FolderOf(dir string) string {
	at := filepath.Join(dir, ".git")
	if text, err := untrusted.ReadFile(at, 1<<12); err == nil {
		return Leads(text, dir)
	}
	return untrusted.Place(at)
}

// foldersAround returns the git folders of the repositories at dir and above, with those of their submodules and
// worktrees.
func foldersAround(dir string) (folders []string) {
	for at := dir; ; at = filepath.Dir(at) {
		folder := FolderOf(at)
		if _, err := os.Lstat(filepath.Join(at, ".git")); err != nil && IsBare(at) {
			folder = at
		}
		common := folder
		if text, err := untrusted.ReadFile(filepath.Join(folder, "commondir"), 1<<12); err == nil {
			common = untrusted.Place(Absolute(Line(text), folder))
		}
		for _, guard := range (Needs{}).Within(common).With(common, folder).Guarded {
			folders = append(folders, guard.Dir)
		}
		if at == filepath.Dir(at) {
			return folders
		}
	}
}

// ConfigsAround returns the configurations of these repositories, and their hooks.
func ConfigsAround(dir string) (configs, hooks []string) {
	for _, folder := range foldersAround(dir) {
		configs = append(configs, filepath.Join(folder, "config"), filepath.Join(folder, "config.worktree"))
		hooks = append(hooks, filepath.Join(folder, "hooks"))
		entries, _ := untrusted.ReadDir(filepath.Join(folder, "hooks")) // there may be none
		for _, entry := range entries {
			hooks = append(hooks, filepath.Join(folder, "hooks", entry.Name()))
		}
	}
	return configs, hooks
}

// Leads returns where a file .git in dir leads to, name by name. git ends a name at a NUL.
func Leads(text []byte, dir string) (to string) {
	to, is := strings.CutPrefix(Line(text), "gitdir: ")
	if !is || strings.Contains(to, "\x00") {
		return ""
	}
	return untrusted.Place(Absolute(to, dir)) // what is missing may be made later, and then be found
}

// Line returns a file of one line as git reads it.
func Line(text []byte) string { return strings.TrimRight(string(text), "\r\n") }
