package git

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Nested are the repositories that lie within a tree, by their place in it, each
// with a digest of what git would run of it. Whoever asks for the state of the
// tree has git ask those that stand in its index, by their own configuration.
type Nested map[string]string

// mostEntries is how many entries of a tree are looked at for others.
const mostEntries = 1_000_000

// LookNested finds them by their folders alone; no git runs, and no link is
// followed. What cannot be looked into is taken for one.
func LookNested(top string) Nested {
	found, left := Nested{}, mostEntries
	_ = filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
		place, _ := filepath.Rel(top, path)
		if left--; left < 0 {
			return fs.SkipAll
		}
		switch {
		case err != nil:
			found[place] = "closed"
			return nil //nolint:nilerr // it is on the list
		case place == ".git", place == ".ralph":
			return skipped(entry)
		case entry.Name() == ".git":
			found[filepath.Dir(place)] = runs(path)
			return skipped(entry)
		case entry.Name() == "HEAD" && isBare(filepath.Dir(path)):
			found[filepath.Dir(place)] = runs(filepath.Dir(path))
		}
		return nil
	})
	return found
}

func skipped(entry fs.DirEntry) error {
	if entry.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// isBare tells whether git would take a folder for a repository as it is.
func isBare(dir string) bool {
	return !slices.ContainsFunc([]string{"objects", "refs"}, func(name string) bool {
		info, err := os.Lstat(filepath.Join(dir, name))
		return err != nil || !info.IsDir()
	})
}

// runs is a digest of what git runs of a repository, or what leads to one.
func runs(at string) string {
	sum := sha256.New()
	for _, path := range append(within(at, guarded...), at) {
		_ = filepath.WalkDir(path, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return nil //nolint:nilerr // what is not there says nothing
			case path == at && entry.IsDir():
				return fs.SkipDir
			}
			fmt.Fprintf(sum, "%s %s %q\n", path, entry.Type(), content(path, entry))
			return nil
		})
	}
	return fmt.Sprintf("%x", sum.Sum(nil))
}

// mostRun is how much of one file is compared.
const mostRun = 4 << 20

func content(path string, entry fs.DirEntry) string {
	if entry.Type() == fs.ModeSymlink {
		to, _ := os.Readlink(path)
		return to
	}
	info, err := entry.Info()
	if err != nil || !info.Mode().IsRegular() || info.Size() > mostRun {
		return "not compared"
	}
	text, _ := os.ReadFile(path)
	return info.Mode().String() + string(text)
}

// Since are those that were made since before was looked at, or are others now.
func (n Nested) Since(before Nested) []string {
	var names []string
	for name, now := range n {
		if was, stood := before[name]; !stood || was != now {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
