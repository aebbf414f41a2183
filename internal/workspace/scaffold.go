package workspace

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/google/renameio/v2"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/untrusted"
)

// Sheet is a file to lay out in a project: its path there, by slashes, and
// what it holds.
type Sheet struct {
	Path string
	Data []byte
}

// Scaffold lays out new files in a project: all of them, or none. What is
// there already is nobody's to overwrite.
func Scaffold(project string, sheets []Sheet) error {
	root, err := openProject(project)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // only a handle
	var there []string
	for _, sheet := range sheets {
		if _, err := root.Lstat(sheet.Path); err == nil {
			there = append(there, sheet.Path)
		}
	}
	if len(there) > 0 {
		return fault.Usage("already there: "+strings.Join(there, ", ")+"; nothing was written",
			"move away what you do not need any more; ralph archive does so with a finished loop", nil)
	}
	return lay(root, sheets)
}

// openProject is the project's folder, and no way out of it.
func openProject(project string) (*untrusted.Root, error) {
	root, err := untrusted.OpenRoot(project)
	if err != nil {
		return nil, fault.Usage("cannot open the project "+project, "name a folder with -d", err)
	}
	return root, nil
}

// lay writes the sheets, and takes back those it wrote when one cannot be.
func lay(root *untrusted.Root, sheets []Sheet) error {
	for i, sheet := range sheets {
		if err := add(root, sheet); err != nil {
			for _, written := range sheets[:i] {
				_ = root.Remove(written.Path) // the disk is at fault, what more could be said
			}
			return cannotWrite(filepath.Join(root.Name(), filepath.FromSlash(sheet.Path)), err)
		}
	}
	return nil
}

func add(root *untrusted.Root, sheet Sheet) error {
	if err := root.MkdirAll(path.Dir(sheet.Path), 0o755); err != nil {
		return err
	}
	// Exclusive: a file that came since we looked is not ours either.
	file, err := root.OpenFile(sheet.Path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(sheet.Data)
	if err = errors.Join(err, file.Close()); err != nil {
		_ = root.Remove(sheet.Path) // half of it is nothing
	}
	return err
}

// Ignore adds to a project's .gitignore the patterns that it has not, and
// gives those it added.
func Ignore(project string, patterns ...string) (added []string, err error) {
	const name = ".gitignore"
	root, err := openProject(project)
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // only a handle
	old, err := root.ReadFile(name, largest)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fault.Usage("cannot read "+name, "make it a plain file", err)
	}
	added = missing(old, patterns)
	if len(added) == 0 {
		return nil, nil
	}
	text := strings.Join(added, "\n") + "\n"
	if len(old) > 0 && !bytes.HasSuffix(old, []byte("\n")) {
		text = "\n" + text
	}
	file, err := root.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, cannotWrite(name, err)
	}
	_, err = file.WriteString(text)
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, cannotWrite(name, err)
	}
	return added, nil
}

// missing are the patterns that no line says, with or without the slashes
// that git makes little of.
func missing(ignored []byte, patterns []string) []string {
	said := map[string]bool{}
	for line := range strings.Lines(string(ignored)) {
		said[strings.Trim(strings.TrimSpace(line), "/")] = true
	}
	var fresh []string
	for _, pattern := range patterns {
		if !said[strings.Trim(pattern, "/")] {
			fresh = append(fresh, pattern)
		}
	}
	return fresh
}

// SettingsFile holds the settings of a project.
const SettingsFile = ".ralph/settings.json"

// ReadSettings is a settings file as it stands, nil where there is none.
func ReadSettings(project, name string) ([]byte, error) {
	root, err := openProject(project)
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // only a handle
	data, err := root.ReadFile(name, largest)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fault.Usage("cannot read "+name, "make it a plain file that you may read", err)
	}
	return data, nil
}

// WriteSettings puts the settings in the place of those that were: who reads
// them sees the old or the new, and never half of one.
func WriteSettings(project string, data []byte) error {
	root, err := Folder{Path: filepath.Join(project, ".ralph")}.open()
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // only a handle
	path := filepath.Join(project, filepath.FromSlash(SettingsFile))
	if err := renameio.WriteFile(path, data, 0o644); err != nil {
		return cannotWrite(path, fmt.Errorf("nothing was changed: %w", err))
	}
	return nil
}
