// Package guarded knows git's own files and folders, by the files alone: it starts no git.
package guarded

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/lib/untrusted"
)

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

// Absolute returns a path as git reads it in a folder, which follows a link before "..".
func Absolute(path, dir string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return dir + "/" + path
}

// AddLines adds those lines to a file in a git folder that are missing.
func AddLines(folder, name string, lines []string) error {
	path := filepath.Join(folder, name)
	text, err := untrusted.ReadFile(path, 1<<20)
	if errors.Is(err, fs.ErrNotExist) {
		err = os.MkdirAll(filepath.Dir(path), 0o755)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := untrusted.WriteFile(path, withLines(text, lines), 0o644); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

func withLines(text []byte, lines []string) []byte {
	known := strings.Split(string(text), "\n")
	if known[len(known)-1] != "" {
		text = append(text, '\n')
	}
	for _, line := range lines {
		if !slices.Contains(known, line) {
			text = append(text, line+"\n"...)
		}
	}
	return text
}

// Alternates returns all alternates of an object folder. Call it before an agent works in the tree.
func Alternates(objects string) []string {
	var all []string
	for next := []string{objects}; len(next) > 0 && len(all) < 100; {
		store := next[0]
		next = next[1:]
		// No link leads out of the folder.
		text, _ := untrusted.Folder{Path: store}.ReadFile(filepath.Join("info", "alternates"), 1<<20)
		for line := range strings.Lines(string(text)) {
			other := strings.TrimSpace(line)
			if !filepath.IsAbs(other) {
				other = filepath.Join(store, other)
			}
			// An object folder always has this name.
			if filepath.Base(other) == "objects" && !slices.Contains(all, other) {
				all = append(all, other)
				next = append(next, other)
			}
		}
	}
	return all
}
