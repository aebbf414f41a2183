package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ralph-loop/ralph/internal/lib/environ"
)

// ErrNotFound is in the error of a Run whose program does not exist.
var ErrNotFound = exec.ErrNotFound

// Locate checks the folder, and returns the program's path and its environment, for a launcher that becomes it.
func Locate(c Command) (string, []string, error) {
	if err := checkDir(c.Dir); err != nil {
		return "", nil, err
	}
	env := environ.Merge(c.Env) // getenv takes the first value of a name, bash the last
	path, err := LookUp(c.Argv[0], c.Dir, env)
	return path, env, err
}

func checkDir(dir string) error {
	if dir == "" {
		return nil
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("working directory %s: %w", dir, fs.ErrNotExist)
	case err != nil:
		return fmt.Errorf("working directory: %w", err)
	case !info.IsDir():
		return fmt.Errorf("working directory %s: %w", dir, unix.ENOTDIR)
	}
	return nil
}

// LookUp finds name as a shell does. It skips relative PATH entries: the repository must provide no programs.
func LookUp(name, dir string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, checkRunnable(name, dir)
	}
	var refused error
	for _, d := range filepath.SplitList(environ.Get(env, "PATH")) {
		if !filepath.IsAbs(d) {
			continue
		}
		path := filepath.Join(d, name)
		err := checkProgram(path)
		if err == nil {
			return path, nil
		}
		if refused == nil && errors.Is(err, fs.ErrPermission) {
			refused = err
		}
	}
	if refused != nil {
		return "", refused
	}
	return "", fmt.Errorf("look up %q: %w", name, exec.ErrNotFound)
}

func checkProgram(path string) error {
	if err := checkRunnable(path, ""); err != nil {
		return err
	}
	return checkAccess(path)
}

// PathOutside returns the folders of path that are not in one of folders, which are resolved. Links are resolved, so
// that a later change of a link has no effect. Missing and relative folders are left out, and so are folders with a
// link into one of works, where others can change the program.
func PathOutside(path string, folders []string, works ...string) string {
	var outside []string
	for _, d := range filepath.SplitList(path) {
		place, err := filepath.EvalSymlinks(d)
		if err != nil || !filepath.IsAbs(d) {
			continue
		}
		if Within(d, folders) || hasLinkInto(place, works) {
			continue
		}
		outside = append(outside, place)
	}
	return strings.Join(outside, string(filepath.ListSeparator))
}

// Within reports whether a path is in a folder, by name or after links are resolved.
func Within(path string, folders []string) bool {
	names := []string{filepath.Clean(path)}
	if place, err := filepath.EvalSymlinks(path); err == nil {
		names = append(names, place)
	} else if place, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		names = append(names, filepath.Join(place, filepath.Base(path)))
	}
	return slices.ContainsFunc(names, func(at string) bool {
		return slices.ContainsFunc(folders, func(folder string) bool { return Under(folder, at) })
	})
}

// Under reports whether path is dir, or lies in it, by their names.
func Under(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// hasLinkInto ignores links to other names in dir.
func hasLinkInto(dir string, folders []string) bool {
	if len(folders) == 0 {
		return false
	}
	entries, _ := os.ReadDir(dir) // an unreadable folder can still have programs
	return slices.ContainsFunc(entries, func(entry fs.DirEntry) bool {
		if entry.Type() != fs.ModeSymlink {
			return false
		}
		to, err := os.Readlink(filepath.Join(dir, entry.Name()))
		if err != nil {
			return false
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(dir, to)
		}
		return filepath.Dir(to) != dir && Within(to, folders)
	})
}

func checkRunnable(path, dir string) error {
	named := path
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path) // the child changes directory first
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ENOTDIR):
		return fmt.Errorf("look up %q: %w", named, exec.ErrNotFound)
	case err != nil:
		return fmt.Errorf("look up %q: %w", named, err)
	case info.IsDir():
		return fmt.Errorf("look up %q: %w", named, ErrFolder)
	case !info.Mode().IsRegular() || unix.Access(path, unix.X_OK) != nil:
		return fmt.Errorf("look up %q: not executable: %w", named, fs.ErrPermission)
	}
	return nil
}

// checkAccess finds what Landlock refuses, which access(2) does not ask. A shell then continues along PATH.
func checkAccess(path string) error {
	isReadable := unix.Access(path, unix.R_OK) == nil
	if !isReadable {
		return nil // only its start shows whether it is allowed
	}
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("look up %q: %w", path, err)
	}
	return unix.Close(fd)
}

// StartError explains "no such file" for an existing program: its interpreter or loader is missing.
func StartError(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("start %s: %w: %w", path, ErrInterpreter, err)
	}
	return fmt.Errorf("start: %w", err)
}

// CannotStart reports that only a person can make the program start.
func CannotStart(err error) bool {
	return errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrPermission) || errors.Is(err, unix.ENOEXEC)
}

// startFailure is a specific reason that the system reports as systemError.
type startFailure struct {
	text        string
	systemError error
}

func (r startFailure) Error() string { return r.text }

// Is makes errors.Is find the system's error, too.
func (r startFailure) Is(target error) bool { return target == r.systemError }

// Why an existing program does not start.
var (
	ErrFolder      error = startFailure{"it is a folder", fs.ErrPermission}
	ErrInterpreter error = startFailure{"its interpreter is missing", exec.ErrNotFound}
	ErrExecFormat        = unix.ENOEXEC
)

// Remedy returns how to make program start after err; empty if unknown.
func Remedy(program string, err error) string {
	switch {
	case errors.Is(err, ErrFolder):
		return "name a program in it"
	case errors.Is(err, ErrInterpreter):
		return "install the program that its first line names"
	case errors.Is(err, ErrExecFormat):
		return "start it with #!/bin/sh, or build it for this machine"
	case errors.Is(err, fs.ErrPermission):
		return "make it a program: chmod +x " + program
	case errors.Is(err, ErrNotFound) && strings.Contains(program, "/"):
		return "name an existing program"
	case errors.Is(err, ErrNotFound):
		return "install it, or name it by its path"
	}
	return ""
}
