package guarded

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/process"
	"github.com/ralph-loop/ralph/internal/untrusted"
)

// Extend opens a file in a git folder of the user's, to read it and to write at its end. It makes the file if it
// is missing. A link in its place or on the way is a fault.
func Extend(folder, name string, do func(*os.File) error) error {
	err := untrusted.Folder{Path: folder, Straight: true}.Extend(name, 0o644, do)
	path := filepath.Join(folder, name)
	switch {
	case errors.Is(err, untrusted.ErrNotPlain), errors.Is(err, untrusted.ErrMoved):
		return fault.Usage("cannot write "+path, "inspect it: a command in the sandbox may have made the link; make it a plain file", err)
	case err != nil:
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// AddLines adds those lines to a file in a git folder that are missing.
func AddLines(folder, name string, lines []string) error {
	return Extend(folder, name, func(file *os.File) error { return addLines(file, lines) })
}

func addLines(file *os.File, lines []string) error {
	there, err := untrusted.ReadAll(file, 1<<20)
	if err != nil {
		return err
	}
	known := strings.Split(string(there), "\n")
	more := ""
	for _, line := range lines {
		if !slices.Contains(known, line) {
			more += line + "\n"
		}
	}
	if more != "" && len(there) > 0 && known[len(known)-1] != "" {
		more = "\n" + more
	}
	_, err = file.WriteString(more)
	return err
}

// CheckLinks refuses a link out of a git folder, by which git would write.
func CheckLinks(ctx context.Context, dir string) error {
	return untrusted.Folder{Path: dir, Straight: true}.Walk(ctx, ".", func(e untrusted.Entry, err error) error {
		switch {
		case err != nil:
			return err
		case e.Info.Mode().Type() == fs.ModeSymlink && Writes(e.Path) && !process.Under(dir, untrusted.Place(filepath.Join(dir, e.Path))):
			return fault.Usage("git would write through the link "+filepath.Join(dir, e.Path), "inspect it: a command in the sandbox may have made it; remove it", nil)
		case e.Info.IsDir() && !writesBelow(e.Path):
			return fs.SkipDir
		}
		return nil
	})
}

// writesBelow reports folders in which git writes under names that others can know.
func writesBelow(name string) bool {
	first, _, deeper := strings.Cut(name, "/")
	return first == "." || first == "logs" || first == "refs" || first == "objects" && !deeper
}

// Alternates returns all alternates of an object folder. Call it before an agent works in the tree.
func Alternates(objects string) []string {
	var all []string
	for next := []string{objects}; len(next) > 0 && len(all) < 100; {
		store := next[0]
		next = next[1:]
		text, _ := untrusted.Folder{Path: store}.ReadFile(filepath.Join("info", "alternates"), 1<<20) // no link leads out of it
		for line := range strings.Lines(string(text)) {
			other := strings.TrimSpace(line)
			if !filepath.IsAbs(other) {
				other = filepath.Join(store, other)
			}
			// An object folder always has this name.
			if filepath.Base(other) == "objects" && !slices.Contains(all, other) {
				all, next = append(all, other), append(next, other)
			}
		}
	}
	return all
}
