package survey

import (
	"encoding/json"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/lib/pattern"
	"github.com/ralph-loop/ralph/internal/lib/yamlfile"
)

// Source reads a project's files. List ends the names of folders with a slash. Read returns nil for a missing file.
type Source struct {
	List func(folder string) []string
	Read func(name string) []byte
}

const mostBelow = 200

// Read reads the files that suggest checks and setup.
func Read(s Source) Files {
	files := Files{}
	s.read(files, "")
	folders := files.members(s)
	switch {
	case len(files) == 0: // the projects stand side by side in folders
		folders = s.holding(wanted()...)
	case len(files.python()) == 0:
		folders = append(folders, s.holding("pyproject.toml")...)
	}
	for _, dir := range folders[:min(len(folders), mostBelow)] {
		dir = path.Clean(dir)
		if dir != "." && filepath.IsLocal(dir) && plain.MatchString(dir) {
			s.read(files, dir+"/")
		}
	}
	return files
}

// plain matches names of folders that need no quotes in a shell.
var plain = pattern.Of(`^[\w./@][\w./@-]*$`)

func (s Source) read(files Files, folder string) {
	names := wanted()
	for _, name := range s.List(strings.TrimSuffix(folder, "/")) {
		switch {
		case !slices.Contains(names, name):
		// Only the name of a lock file counts, and it may be too large to read.
		case strings.HasSuffix(name, "/"), Locks(name) && name != "requirements.txt":
			files[folder+name] = nil
		default:
			if data := s.Read(folder + name); data != nil {
				files[folder+name] = data
			}
		}
	}
}

// members returns the folders that the files at the top name as projects.
func (f Files) members(s Source) []string {
	var found []string
	for line := range strings.Lines(string(f["go.work"])) {
		line, _, _ = strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "use"), "//")
		line = strings.Trim(line, " \t\"()")
		if strings.HasPrefix(line, "./") {
			found = append(found, line)
		}
	}
	var globs struct{ Packages []string }
	_ = yamlfile.Decode(f["pnpm-workspace.yaml"], &globs) // an unreadable file names none
	var list struct{ Workspaces []string }
	var object struct{ Workspaces struct{ Packages []string } }
	if json.Unmarshal(f["package.json"], &list) != nil {
		_ = json.Unmarshal(f["package.json"], &object) // an unreadable file names none
	}
	for _, glob := range slices.Concat(globs.Packages, list.Workspaces, object.Workspaces.Packages) {
		folder, rest, _ := strings.Cut(strings.TrimSuffix(glob, "/"), "/*")
		switch {
		case len(found) >= mostBelow: // a list can have 100,000 globs
		case strings.ContainsAny(folder+strings.Trim(rest, "*/"), "*!{["): // these patterns are not supported
		case strings.Contains(glob, "/*"):
			found = append(found, s.folders(folder)...)
		default:
			found = append(found, folder)
		}
	}
	return found
}

// holding returns the folders of two levels that have one of some files.
func (s Source) holding(names ...string) []string {
	var found []string
	first := s.folders("")
	for _, dir := range first[:min(len(first), mostBelow)] {
		for _, dir := range append([]string{dir}, s.folders(dir)...) {
			if slices.ContainsFunc(s.List(dir), func(name string) bool { return slices.Contains(names, name) }) {
				found = append(found, dir)
			}
		}
	}
	return found
}

// folders returns the folders in a folder, without hidden and installed ones.
func (s Source) folders(folder string) []string {
	var found []string
	for _, name := range s.List(folder) {
		dir, ok := strings.CutSuffix(name, "/")
		if !ok || strings.HasPrefix(dir, ".") {
			continue
		}
		if dir == "node_modules" || dir == "vendor" {
			continue
		}
		found = append(found, path.Join(folder, dir))
	}
	return found
}

// below returns the folders of the files that are not at the top.
func (f Files) below() []string {
	dirs := map[string]bool{}
	for name := range f {
		if dir := path.Dir(strings.TrimSuffix(name, "/")); dir != "." {
			dirs[dir] = true
		}
	}
	return slices.Sorted(maps.Keys(dirs))
}

// in returns the files of a project in a folder, with the lock files of the top.
func (f Files) in(dir string) Files {
	files := Files{}
	for name, data := range f {
		rest, ok := strings.CutPrefix(name, dir+"/")
		if ok && !strings.Contains(strings.TrimSuffix(rest, "/"), "/") {
			files[rest] = data
		}
	}
	for _, lock := range []string{"pnpm-lock.yaml", "yarn.lock", "bun.lock", "bun.lockb"} {
		if data, ok := f[lock]; ok {
			files[lock] = data
		}
	}
	return files
}
