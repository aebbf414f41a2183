// Package survey suggests checks, setup and tools from a project's own files: the commands that a new contributor would
// type. It opens no file and runs nothing; the baseline shows whether a command works.
package survey

import (
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/lib/pattern"
	"github.com/ralph-loop/ralph/internal/proof/makefile"
)

// Source reads a project's files. List ends the names of folders with a slash. Read returns nil for a missing file.
type Source struct {
	List func(folder string) []string
	Read func(name string) []byte
}

// Found is what a project's files suggest.
type Found struct {
	Checks []Command // the likeliest first
	Setup  []Command // installs what the checks need
	Tools  []Tool    // the programs of the checks
}

// Command is a command that a file suggests.
type Command struct {
	Command string
	From    string // the file
}

// Read surveys the top of a project, and if that suggests no check, folders of two levels.
func Read(s Source) Found {
	top := s.open("")
	found := top.survey()
	if found.Checks == nil {
		for _, dir := range s.folders() {
			f := s.open(dir)
			f.shareInstall(top)
			more := f.survey()
			found.Checks = append(found.Checks, more.Checks...)
			for _, setup := range more.Setup {
				if !slices.Contains(found.Setup, setup) {
					found.Setup = append(found.Setup, setup)
				}
			}
		}
	}
	found.Tools = s.tools(found.Checks)
	return found
}

const mostFolders = 200

// folders returns the folders of two levels.
func (s Source) folders() []string {
	folders := s.subfolders("")
	for _, dir := range folders[:min(len(folders), mostFolders)] {
		folders = append(folders, s.subfolders(dir)...)
	}
	folders = folders[:min(len(folders), mostFolders)]
	slices.Sort(folders)
	return folders
}

// plain matches names of folders that need no quotes in a shell.
var plain = pattern.Of(`^[\w@][\w.@-]*$`)

// subfolders returns the folders in a folder, without hidden and installed ones.
func (s Source) subfolders(folder string) []string {
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

// folder is a folder that may hold a project.
type folder struct {
	source   Source
	dir      string // empty: the top
	names    []string
	packages *folder // where Node's packages are installed: this folder, or the top of a workspace
}

func (s Source) open(dir string) *folder {
	f := &folder{source: s, dir: dir, names: s.List(dir)}
	f.packages = f
	return f
}

func (f *folder) has(name string) bool { return slices.Contains(f.names, name) }

// read returns nil for a missing file.
func (f *folder) read(name string) []byte {
	if !f.has(name) {
		return nil
	}
	return f.source.Read(path.Join(f.dir, name))
}

// command returns a command that works in the folder.
func (f *folder) command(command, file string) Command {
	if f.dir == "" {
		return Command{command, file}
	}
	return Command{"cd " + f.dir + " && " + command, path.Join(f.dir, file)}
}

// survey returns what the folder's files suggest, without tools.
func (f *folder) survey() Found {
	if check, ok := f.target(); ok { // it stands for all checks, and installs what it needs
		return Found{Checks: []Command{check}}
	}
	var found Found
	for _, k := range f.kinds() {
		found.Checks = append(found.Checks, f.command(k.check, k.file))
		if k.setup != "" {
			found.Setup = append(found.Setup, f.command(k.setup, k.needs))
		}
	}
	scripts := f.scripts()
	if len(scripts) > 0 {
		found.Checks = append(found.Checks, scripts...)
		found.Setup = append(found.Setup, f.install()...)
	}
	return found
}

// target returns the check that a Makefile or justfile has.
func (f *folder) target() (Command, bool) {
	for _, file := range []struct{ name, program string }{
		{"Makefile", "make"}, {"GNUmakefile", "make"}, {"makefile", "make"}, {"justfile", "just"}, {"Justfile", "just"},
	} {
		rules := makefile.Rules(f.read(file.name))
		for _, target := range []string{"test", "check"} {
			if slices.ContainsFunc(rules, func(r makefile.Rule) bool { return slices.Contains(r.Targets, target) }) {
				return f.command(file.program+" "+target, file.name), true
			}
		}
	}
	return Command{}, false
}
