package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
	"github.com/ralph-loop/ralph/internal/process"
)

var opt = "/opt" // in which each folder is one of tools

// loginSettings are settings that reveal logins to other machines, also in the folders of tools.
func loginSettings(folders []string) (found []string) {
	found = revealing(slices.Concat(glob("/etc/default/*"), glob("/etc/profile.d/*"), glob("/etc/php/*/mods-available/*"), glob("/etc/php/*/cli/conf.d/*"), glob("/usr/share/*maven*/conf/settings.xml"), []string{
		"/etc/gitconfig", "/etc/npmrc", "/etc/pip.conf", "/etc/wgetrc", "/etc/profile", "/etc/bash.bashrc", "/etc/maven/settings.xml",
		"/usr/etc/gitconfig", "/usr/etc/npmrc", "/usr/etc/wgetrc", "/usr/lib/node_modules/npm/npmrc",
	})...)
	machine, ofEach := resolvedAll(readable()), budget{folders: 5000, bytes: 32 << 20}
	left := ofEach
	ofOpt, tools := left.lookIn(opt, opt, true)
	found = append(found, ofOpt...)
	for _, folder := range slices.Concat(folders, []string{"/usr/local"}, tools) {
		if folder != "/" && !slices.Contains(machine, folder) {
			found = append(found, ofEach.ofUser(folder)...)
		}
	}
	return found
}

func resolvedAll(paths []string) (all []string) {
	for _, path := range paths {
		all = append(all, path)
		if to, err := filepath.EvalSymlinks(path); err == nil {
			all = append(all, to)
		}
	}
	return all
}

var (
	// Programs are in these folders of a tool, which hold no settings of the user.
	ofPrograms = []string{"bin", "lib", "lib64", "share", "include", "src", "pkg", "man", "doc", "test", "legal", "api", ".git", "jmods", "site-packages", "node_modules"}
	// All files in these may be settings, also scripts.
	ofSettings = []string{"etc", "conf", "conf.d", "config", "init.d", "activate.d"}
)

// budget is what is left of the search in a folder of tools: an agent may have filled one. Files are hidden unread if their
// bytes are used up; a small one counts more.
type budget struct {
	folders int
	bytes   int64
}

const leastOfFile = 4 << 10

// ofUser returns what in a folder of tools is the user's: what is closed to others, though the folder is not, and
// settings that seem to hold a login.
func (b budget) ofUser(folder string) []string {
	const levels = 8
	found := revealing(filepath.Join(folder, "node_modules/npm/npmrc"))
	if slices.Contains(ofPrograms, filepath.Base(folder)) {
		return found
	}
	info, err := os.Stat(folder)
	isOpen := err == nil && info.Mode().Perm()&0o055 != 0
	next := []string{folder}
	for range levels {
		next = next[:min(len(next), b.folders)]
		b.folders -= len(next)
		var below []string
		for _, dir := range next {
			here, folders := b.lookIn(dir, folder, isOpen)
			found, below = append(found, here...), append(below, folders...)
		}
		next = below
	}
	return found
}

// lookIn returns what in dir is the user's, and the folders to look into.
func (b *budget) lookIn(dir, folder string, isOpen bool) (found, below []string) {
	entries, _ := os.ReadDir(dir) // what cannot be read gives nothing
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		switch info, err := entry.Info(); { // what a link leads to is where that lies
		case err != nil:
		case isOpen && isOfUser(info):
			found = append(found, path)
		case maySet(folder, path, info):
			if b.bytes -= max(info.Size(), leastOfFile); b.bytes < 0 {
				found = append(found, path)
			} else {
				found = append(found, revealing(path)...)
			}
		case entry.IsDir() && !slices.Contains(ofPrograms, entry.Name()):
			below = append(below, path)
		}
	}
	configs := append(glob(filepath.Join(dir, ".git/modules/*/config")), filepath.Join(dir, ".git/config"), filepath.Join(dir, "lib/node_modules/npm/npmrc"))
	return append(found, revealing(configs...)...), below
}

// revealing returns the paths of which the files seem to hold a login, with where those are.
func revealing(paths ...string) (found []string) {
	for _, path := range paths {
		if place, err := filepath.EvalSymlinks(path); err == nil && FileHoldsLogin(place) {
			found = append(found, path, place)
		}
	}
	return found
}

// isOfUser reports what only the user may read, and is no program.
func isOfUser(info fs.FileInfo) bool {
	return info.Mode().Perm()&0o077 == 0 && (info.IsDir() || info.Mode().IsRegular() && info.Mode().Perm()&0o100 == 0)
}

// maySet reports whether a file in a folder of tools may be settings: no program, no code, and no prose such as README.
func maySet(folder, path string, info fs.FileInfo) bool {
	const largest = 1 << 20
	name := filepath.Base(path)
	if !info.Mode().IsRegular() || info.Size() > largest || name == "java.security" { // which has names of classes only
		return false
	}
	for dir := filepath.Dir(path); dir != "/" && process.Under(folder, dir); dir = filepath.Dir(dir) {
		if slices.Contains(ofSettings, filepath.Base(dir)) {
			return true
		}
	}
	stem, _, _ := strings.Cut(name, ".")
	isProse := stem != strings.ToLower(stem) && stem == strings.ToUpper(stem)
	isProgram := info.Mode().Perm()&0o100 != 0 && stem != ""
	return !isProse && !isProgram && !isCode.MatchString(name)
}

var isCode = pattern.Of(`\.(\w*sh|p[lmy]|rb|[cm]?[jt]sx?|php|lua|tcl|el|r|R|jl|go|rs|[chmM]|cc|cpp|hpp|java|class|jar|kts?|scala|groovy|gradle|cs|fs|vb|swift|dart|exs?|erl|hrl|hs|mli?|clj|zig|nim|v|s|S|html?|css|svg|md|rst)$`)
