package sandbox

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

var (
	// toolSettings are files that may hold a login in the folder of a tool.
	toolSettings = []string{
		"npmrc", ".npmrc", "pip.conf", "settings.xml", "gradle.properties", "gitconfig", ".gitconfig", ".env",
	}
	// ofPrograms are folders of a tool that hold no settings, but for those of npm in lib.
	ofPrograms = []string{
		"bin", "lib", "lib64", "share", "include", "src", "pkg", "man", "doc", "test", "legal", "api", ".git",
		"jmods", "site-packages", "node_modules",
	}
)

// loginSettings are settings of the machine, and of tools in these folders, that reveal logins to other machines.
func loginSettings(folders []string) []string {
	all := []string{
		"/etc/gitconfig", "/etc/npmrc", "/etc/pip.conf", "/etc/wgetrc",
		"/etc/profile", "/etc/bash.bashrc", "/etc/maven/settings.xml",
		"/usr/etc/gitconfig", "/usr/etc/npmrc", "/usr/etc/wgetrc", "/usr/lib/node_modules/npm/npmrc",
	}
	for _, pattern := range []string{
		"/etc/default/*", "/etc/profile.d/*", "/etc/php/*/mods-available/*", "/etc/php/*/cli/conf.d/*",
		"/usr/share/*maven*/conf/settings.xml",
	} {
		all = append(all, glob(pattern)...)
	}
	machine := readable()
	for _, folder := range slices.Concat(folders, []string{"/usr/local"}, glob("/opt/*")) {
		if folder != "/" && !slices.Contains(machine, folder) {
			all = append(all, settingsIn(folder)...)
		}
	}
	return revealing(all)
}

// settingsIn returns the settings in the folder of a tool, up to eight levels down.
func settingsIn(folder string) []string {
	var found []string
	// What cannot be read gives nothing.
	_ = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fs.SkipDir
		case !entry.IsDir():
			if slices.Contains(toolSettings, entry.Name()) {
				found = append(found, path)
			}
		case slices.Contains(ofPrograms, entry.Name()):
			found = append(found, filepath.Join(path, "node_modules/npm/npmrc"))
			return fs.SkipDir
		case strings.Count(path[len(folder):], "/") > 8:
			return fs.SkipDir
		}
		return nil
	})
	return found
}

// revealing returns the paths of which the files seem to hold a login, with where those are.
func revealing(paths []string) (found []string) {
	for _, path := range paths {
		if place, err := filepath.EvalSymlinks(path); err == nil && FileHoldsLogin(place) {
			found = append(found, path, place)
		}
	}
	return found
}
