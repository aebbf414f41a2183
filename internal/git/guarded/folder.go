// Package guarded knows git's own files and folders, by the files alone: it starts no git.
package guarded

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/lib/fault"
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

// Absolute returns a path as git reads it in a folder, which follows a link before "..".
func Absolute(path, dir string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return dir + "/" + path
}

// AddLines adds missing lines to a folder's file, such as .gitignore, and returns them. No link leads out of the
// folder.
func AddLines(folder, name string, lines ...string) ([]string, error) {
	var added []string
	err := untrusted.Folder{Path: folder}.Do(func(root *untrusted.Root) error {
		old, err := root.ReadFile(name, 1<<20)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fault.Usage("cannot read "+name, "make it a plain file", err)
		}
		added = missingLines(string(old), lines)
		if len(added) == 0 {
			return nil
		}
		text := strings.Join(added, "\n") + "\n"
		if len(old) > 0 && !bytes.HasSuffix(old, []byte("\n")) {
			text = "\n" + text
		}
		if err := appendText(root, name, text); err != nil {
			return fault.Usage("cannot write to "+filepath.Join(folder, name), "make it writable", err)
		}
		return nil
	})
	return added, err
}

func appendText(root *untrusted.Root, name, text string) error {
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	file, err := root.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Close())
}

// missingLines returns the lines that a text does not have. Slashes at the ends do not count.
func missingLines(text string, lines []string) []string {
	known := map[string]bool{}
	for line := range strings.Lines(text) {
		known[strings.Trim(strings.TrimSpace(line), "/")] = true
	}
	var missing []string
	for _, line := range lines {
		if !known[strings.Trim(line, "/")] {
			missing = append(missing, line)
		}
	}
	return missing
}
