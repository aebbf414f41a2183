package git

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/ralph-loop/ralph/internal/untrusted"
)

// Nested are the repositories that lie within a tree, by their place in it, each
// with a digest of what git would run of it. Whoever asks for the state of the
// tree has git ask those that stand in its index, by their own configuration.
type Nested map[string]string

// mostEntries is how many entries of a tree are looked at for others.
const mostEntries = 1_000_000

// LookNested finds them by their folders alone; no git runs, and no link is
// followed. What cannot be looked into is taken for one.
func LookNested(ctx context.Context, top string) Nested {
	found, left := Nested{}, mostEntries
	root, err := untrusted.OpenRoot(top)
	if err != nil {
		return Nested{".": "closed"}
	}
	defer root.Close() //nolint:errcheck // only a handle
	_ = root.Walk(ctx, ".", func(e untrusted.Entry, err error) error {
		if left--; left < 0 {
			return fs.SkipAll
		}
		switch {
		case err != nil:
			found[e.Path] = "closed"
		case e.Path == ".git", e.Path == ".ralph":
			return fs.SkipDir
		case e.Info.Name() == ".git":
			found[path.Dir(e.Path)] = runs(ctx, e.In, e.Name)
			return fs.SkipDir
		case e.Info.Name() == "HEAD" && isBare(e.In):
			found[path.Dir(e.Path)] = runs(ctx, e.In, ".")
		}
		return nil
	})
	return found
}

// isBare tells whether git would take a folder for a repository as it is.
func isBare(dir *untrusted.Root) bool {
	return !slices.ContainsFunc([]string{"objects", "refs"}, func(name string) bool {
		info, err := dir.Lstat(name)
		return err != nil || !info.IsDir()
	})
}

// runs is a digest of what git runs of a repository, or what leads to one.
func runs(ctx context.Context, in *untrusted.Root, at string) string {
	sum := sha256.New()
	for _, name := range append(guarded(in, at), at) {
		_ = in.Walk(ctx, name, func(e untrusted.Entry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist): // says nothing
			case err != nil:
				fmt.Fprintf(sum, "%s closed\n", e.Path)
			case e.Path == at && e.Info.IsDir():
				return fs.SkipDir
			default:
				fmt.Fprintf(sum, "%s %s %q\n", e.Path, e.Info.Mode().Type(), content(e))
			}
			return nil
		})
	}
	return fmt.Sprintf("%x", sum.Sum(nil))
}

// guarded is what git does not write itself where a repository may be, and so would
// run or read more by.
func guarded(in *untrusted.Root, at string) []string {
	names := []string{path.Join(at, "info"), path.Join(at, "objects/info/alternates")}
	entries, _ := in.ReadDir(at) // what cannot be read is told of by its name
	for _, entry := range entries {
		if !slices.ContainsFunc(written, func(pattern string) bool { fits, _ := path.Match(pattern, entry.Name()); return fits }) {
			names = append(names, path.Join(at, entry.Name()))
		}
	}
	return names
}

// mostRun is how much of one file is compared.
const mostRun = 4 << 20

func content(e untrusted.Entry) string {
	if e.Info.Mode().Type() == fs.ModeSymlink {
		to, _ := e.In.Readlink(e.Name)
		return to
	}
	text, err := e.In.ReadFile(e.Name, mostRun)
	if err != nil {
		return "not compared"
	}
	return e.Info.Mode().String() + string(text)
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
