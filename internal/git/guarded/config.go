package guarded

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/untrusted"
)

const mostIncluded = 100

// Included are the files below top that configuration files include, and those that these
// include, whether or not they are there or their condition holds now. List gives git's list
// of the includes of a configuration.
func Included(top, home string, files []string, list func(config []byte) ([]byte, error)) (paths []string) {
	given := len(files)
	for i := 0; i < len(files) && i < mostIncluded; i++ {
		text, _ := untrusted.ReadFile(files[i], 1<<20)
		if !bytes.Contains(bytes.ToLower(text), []byte("include")) {
			continue
		}
		found, _ := list(text) // an error: it includes nothing
		for setting := range strings.SplitSeq(strings.TrimSuffix(string(found), "\x00"), "\x00") {
			_, to, _ := strings.Cut(setting, "\n")
			if to == "" {
				continue
			}
			files = append(files, absolute(to, home, filepath.Dir(files[i])))
		}
	}
	for _, file := range files[given:] {
		paths = append(paths, below(top, file)...)
	}
	return paths
}

func below(top, file string) (paths []string) {
	named := []string{filepath.Join(placed(filepath.Dir(file)), filepath.Base(file)), placed(file)}
	for _, place := range slices.Compact(named) {
		if way, err := filepath.Rel(placed(top), place); err == nil && filepath.IsLocal(way) && way != "." {
			paths = append(paths, filepath.Join(top, way))
		}
	}
	return paths
}

// placed is a path without links. What is not there yet lies where its folder does.
func placed(path string) string {
	if place, err := filepath.EvalSymlinks(path); err == nil {
		return place
	}
	if above := filepath.Dir(path); above != path {
		return filepath.Join(placed(above), filepath.Base(path))
	}
	return path
}

// absolute is a path as git reads it in a configuration that lies in dir.
func absolute(path, home, dir string) string {
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
	to, err := filepath.EvalSymlinks(absolute(to, "", folder))
	top, failed := filepath.EvalSymlinks(top)
	way, apart := filepath.Rel(top, to)
	if errors.Join(err, failed, apart) != nil || way == "." || !filepath.IsLocal(way) {
		return false
	}
	text, err := untrusted.ReadFile(filepath.Join(to, ".git"), 1<<12)
	back, is := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
	if err != nil || !is {
		return false
	}
	back, err = filepath.EvalSymlinks(absolute(back, "", to))
	folder, failed = filepath.EvalSymlinks(folder)
	return errors.Join(err, failed) == nil && back == folder
}
