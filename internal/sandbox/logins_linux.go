package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/process"
)

// loginSettings are settings that reveal logins to other machines, also in the folders of tools.
func loginSettings(folders []string) (found []string) {
	found = revealing(slices.Concat(glob("/etc/default/*"), glob("/etc/profile.d/*"), glob("/usr/share/*maven*/conf/settings.xml"), []string{
		"/etc/gitconfig", "/etc/npmrc", "/etc/pip.conf", "/etc/wgetrc", "/etc/profile", "/etc/bash.bashrc", "/etc/maven/settings.xml",
		"/usr/etc/gitconfig", "/usr/etc/npmrc", "/usr/etc/wgetrc", "/usr/lib/node_modules/npm/npmrc",
	})...)
	machine := resolvedAll(readable())
	for _, folder := range slices.Concat(folders, []string{"/usr/local"}, glob("/opt/*")) {
		if folder != "/" && !slices.Contains(machine, folder) && !slices.Contains(ofPrograms, filepath.Base(folder)) {
			found = append(found, ofUser(folder)...)
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

// Programs are in these folders of a tool, which hold no settings of the user.
var ofPrograms = []string{"bin", "lib", "lib64", "share", "include", "src", "pkg", "man", "doc", "test", "legal", ".git", "jmods", "site-packages", "node_modules"}

// Settings have such names, scripts with settings lie in such folders.
var (
	settingsNames = []string{"", ".cfg", ".conf", ".env", ".ini", ".json", ".properties", ".toml", ".xml", ".yaml", ".yml"}
	scriptNames   = []string{".sh", ".gradle"}
	ofSettings    = []string{"etc", "conf", "config", "init.d", "activate.d"}
)

// ofUser returns what in a folder of tools is the user's: what is closed to others, though the folder is not, and
// settings that seem to hold a login.
func ofUser(folder string) (found []string) {
	const levels, mostFolders = 8, 5000
	info, err := os.Stat(folder)
	isOpen := err == nil && info.Mode().Perm()&0o055 != 0
	next, left := []string{folder}, mostFolders
	for range levels {
		next = next[:min(len(next), left)]
		left -= len(next)
		var below []string
		for _, dir := range next {
			here, folders := lookIn(dir, folder, isOpen)
			found, below = append(found, here...), append(below, folders...)
		}
		next = below
	}
	return found
}

// lookIn returns what in dir is the user's, and the folders to look into.
func lookIn(dir, folder string, isOpen bool) (found, below []string) {
	entries, _ := os.ReadDir(dir) // what cannot be read gives nothing
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		switch info, err := os.Stat(path); {
		case err != nil:
		case isOpen && entry.Type() != fs.ModeSymlink && isOfUser(info):
			found = append(found, path)
		case maySet(folder, path, info):
			found = append(found, revealing(path)...)
		case entry.IsDir() && !slices.Contains(ofPrograms, entry.Name()):
			below = append(below, path)
		}
	}
	return append(found, revealing(filepath.Join(dir, ".git/config"), filepath.Join(dir, "lib/node_modules/npm/npmrc"))...), below
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

// maySet reports whether a file in a folder of tools may be settings.
func maySet(folder, path string, info fs.FileInfo) bool {
	const largest = 256 << 10
	name, ext := filepath.Base(path), filepath.Ext(path)
	switch {
	case !info.Mode().IsRegular() || info.Size() > largest:
		return false
	case slices.Contains(scriptNames, ext):
		for dir := filepath.Dir(path); dir != "/" && process.Under(folder, dir); dir = filepath.Dir(dir) {
			if slices.Contains(ofSettings, filepath.Base(dir)) {
				return true
			}
		}
		return false
	}
	isProse := name[0] >= 'A' && name[0] <= 'Z' // README, LICENSE, Makefile
	return strings.HasPrefix(name, ".") || slices.Contains(settingsNames, ext) && !isProse && info.Mode().Perm()&0o100 == 0
}
