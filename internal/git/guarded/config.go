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

// Included returns the files that configuration files include, and those that these include,
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

// Way returns the names that decide which file a path leads to: each link on it, and the end.
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
