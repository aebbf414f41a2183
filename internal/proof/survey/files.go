package survey

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/lib/pattern"
)

// Files are a project's files, and those of projects in its folders, that suggest commands. A folder's
// name ends with a slash.
type Files map[string][]byte

// Source reads a project's files. List ends the names of folders with a slash. Read returns nil for a missing file.
type Source struct {
	List func(folder string) []string
	Read func(name string) []byte
}

const mostFolders = 200

// Read reads the files that suggest checks and setup: at the top, and if these suggest no check, in folders of two
// levels.
func Read(s Source) Files {
	files := Files{}
	s.read(files, "")
	if files.checks() != nil {
		return files
	}
	folders := s.folders("")
	for _, dir := range folders[:min(len(folders), mostFolders)] {
		folders = append(folders, s.folders(dir)...)
	}
	for _, dir := range folders[:min(len(folders), mostFolders)] {
		s.read(files, dir)
	}
	return files
}

func (s Source) read(files Files, folder string) {
	for _, base := range s.List(folder) {
		name := path.Join(folder, base)
		switch {
		case !suggests(base):
		case strings.HasSuffix(base, "/"):
			files[name+"/"] = nil
		case Locks(base) && base != "requirements.txt": // only its name counts, and it may be too large to read
			files[name] = nil
		default:
			if data := s.Read(name); data != nil {
				files[name] = data
			}
		}
	}
}

// suggests reports whether a file with that name suggests checks or tools.
func suggests(name string) bool {
	others := []string{
		"Makefile", "GNUmakefile", "makefile", "justfile", "Justfile", "package.json", "go.work",
		".nvmrc", ".node-version", ".python-version",
	}
	for _, m := range managers {
		others = append(others, m.lock)
	}
	if slices.Contains(others, name) {
		return true
	}
	return slices.ContainsFunc(kinds, func(k kind) bool { return k.file == name || k.needs == name })
}

// plain matches names of folders that need no quotes in a shell.
var plain = pattern.Of(`^[\w@][\w.@-]*$`)

// folders returns the folders in a folder, without hidden and installed ones.
func (s Source) folders(folder string) []string {
	var found []string
	for _, name := range s.List(folder) {
		dir, ok := strings.CutSuffix(name, "/")
		if !ok || !plain.MatchString(dir) {
			continue
		}
		if dir == "node_modules" || dir == "vendor" {
			continue
		}
		found = append(found, path.Join(folder, dir))
	}
	return found
}

// projects returns the folders with checks: "." if the top has some.
func (f Files) projects() []string {
	if f.checks() != nil {
		return []string{"."}
	}
	dirs := map[string]bool{}
	for name := range f {
		dirs[path.Dir(strings.TrimSuffix(name, "/"))] = true
	}
	delete(dirs, ".")
	return slices.Sorted(maps.Keys(dirs))
}

// in returns the files of a project in a folder, with the lock files of a workspace at the top.
func (f Files) in(dir string) Files {
	if dir == "." {
		return f
	}
	files := Files{}
	for name, data := range f {
		rest, ok := strings.CutPrefix(name, dir+"/")
		if ok && !strings.Contains(strings.TrimSuffix(rest, "/"), "/") {
			files[rest] = data
		}
	}
	for _, m := range managers {
		if f.has(m.lock) && f.has("package.json") {
			files[m.lock] = nil
		}
	}
	return files
}
