package guarded

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/untrusted"
)

const mostIncluded = 10_000

// Included are the files that configuration files include, and those that these include,
// whether or not they are there or their condition holds now, with the links on the way to
// each. List gives git's list of the includes of a configuration, without ~ in paths; listed is
// that of the environment, and most limits what is read of a file.
func Included(listed []byte, files []string, most int64, list func(config []byte) ([]byte, error)) (paths []string) {
	include := func(dir string, found []byte) {
		for setting := range strings.SplitSeq(strings.TrimSuffix(string(found), "\x00"), "\x00") {
			_, to, _ := strings.Cut(setting, "\n")
			if to == "" {
				continue
			}
			if !filepath.IsAbs(to) {
				to = dir + "/" + to // git follows a link before ..
			}
			files, paths = append(files, to), append(paths, Way(to)...)
		}
	}
	include("", listed)
	for i := 0; i < len(files) && i < mostIncluded; i++ {
		text, _ := untrusted.ReadFile(files[i], most)
		if !includes(text) {
			continue
		}
		found, _ := list(text) // an error: it includes nothing
		include(filepath.Dir(files[i]), found)
	}
	return paths
}

func includes(config []byte) bool { return bytes.Contains(bytes.ToLower(config), []byte("include")) }

// Way are the names that decide which file a path leads to: each link on it, and the end.
// Where a folder is missing that .. comes after, its name may become a link.
func Way(to string) (names []string) {
	place, err := untrusted.Resolve(to, func(link string) bool {
		names = append(names, link)
		return false
	})
	if at, is := errors.AsType[*fs.PathError](err); is && !strings.HasPrefix(place+"/", at.Path+"/") {
		names = append(names, at.Path)
	}
	return append(names, place)
}

// Absolute is a path as git reads it in a configuration that lies in dir.
func Absolute(path, home, dir string) string {
	if rest, is := strings.CutPrefix(path, "~/"); is {
		return filepath.Join(home, rest)
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// IsWorktree reports whether a path, from a git folder, is a folder below top whose .git file
// leads back, as git makes it for submodules: a checkout there writes to no other project.
func IsWorktree(top, folder, to string) bool {
	to, err := filepath.EvalSymlinks(Absolute(to, "", folder))
	top, failed := filepath.EvalSymlinks(top)
	way, apart := filepath.Rel(top, to)
	if errors.Join(err, failed, apart) != nil || way == "." || !filepath.IsLocal(way) {
		return false
	}
	text, err := untrusted.ReadFile(filepath.Join(to, ".git"), 1<<12)
	back, _ := Leads(text, to, top)
	folder, failed = filepath.EvalSymlinks(folder)
	return errors.Join(err, failed) == nil && back == folder
}

// Leads is where a file .git in dir leads to, name by name, and whether that lies within top, which is
// without links.
func Leads(text []byte, dir, top string) (to string, inside bool) {
	to, is := strings.CutPrefix(Line(text), "gitdir: ")
	if !is {
		return "", false
	}
	if !filepath.IsAbs(to) {
		to = dir + "/" + to // git follows a link before ..
	}
	to = untrusted.Place(to) // what is missing may be made later, and then be found
	return to, strings.HasPrefix(to, top+"/")
}

// Line is a file of one line as git reads it.
func Line(text []byte) string { return strings.TrimRight(string(text), "\r\n") }
