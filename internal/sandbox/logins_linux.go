package sandbox

import (
	"os"
	"path/filepath"
	"slices"
)

// toolSettings are where tools keep settings, in the folder of each.
var toolSettings = []string{
	".*", "gradle.properties", "pip.conf", "vars", "pipx_metadata.json", "etc/*", "conf/*.xml", "init.d/*", ".git/config",
	"etc/conda/activate.d/*", "conda-meta/state", "lib/node_modules/npm/npmrc", "corefx/cryptography/x509stores/my/*",
}

// loginSettings are settings that reveal logins to other machines, also in the folders of tools.
func loginSettings(folders []string) (found []string) {
	all := slices.Concat(glob("/etc/default/*"), glob("/etc/profile.d/*"),
		[]string{"/etc/gitconfig", "/etc/npmrc", "/etc/pip.conf", "/etc/wgetrc", "/etc/profile", "/etc/bash.bashrc", "/etc/maven/settings.xml"})
	folders = slices.Concat(toolchains(folders), []string{"/usr", "/usr/local"}, glob("/opt/*"), glob("/usr/share/*maven*"), glob("/usr/local/*maven*"))
	for _, folder := range folders {
		all = append(all, settingsIn(folder)...)
	}
	for _, path := range all {
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() || filepath.Ext(path) != ".pfx" && !FileHoldsLogin(path) {
			continue
		}
		found = append(found, path)
		if place, err := filepath.EvalSymlinks(path); err == nil {
			found = append(found, place)
		}
	}
	return found
}

// settingsIn returns the settings in the folder of a tool.
func settingsIn(folder string) (all []string) {
	for _, settings := range toolSettings {
		dir, name := filepath.Split(settings)
		entries, _ := os.ReadDir(filepath.Join(folder, dir)) // most are missing
		for _, entry := range entries {
			if fits, _ := filepath.Match(name, entry.Name()); fits {
				all = append(all, filepath.Join(folder, dir, entry.Name()))
			}
		}
	}
	return all
}

// toolchains adds the toolchains that folders lie in or hold.
func toolchains(folders []string) (all []string) {
	machine := slices.DeleteFunc(readable(), func(path string) bool { return path == "/opt" })
	for _, path := range machine { // /bin may be /usr/bin
		if to, err := filepath.EvalSymlinks(path); err == nil {
			machine = append(machine, to)
		}
	}
	for _, folder := range folders {
		all = append(all, folder, filepath.Dir(folder))
		if !slices.Contains(machine, folder) {
			all = append(all, toolchainsBelow(folder)...)
		}
	}
	return all
}

// toolchainsBelow returns the folders in which tools may keep settings: those that install others do so a few levels down.
func toolchainsBelow(folder string) (found []string) {
	const levels, mostFolders = 4, 2000
	next := []string{folder}
	for range levels {
		next = subfolders(next)
		next = next[:min(len(next), mostFolders-len(found))]
		found = append(found, next...)
	}
	return found
}

// ofPrograms are folders of a tool without settings of the user.
var ofPrograms = []string{"bin", "lib", "lib64", "libexec", "share", "include", "src", "pkg", "man", "doc", "legal", "jmods", ".git", "site-packages", "node_modules"}

func subfolders(dirs []string) (all []string) {
	for _, dir := range dirs {
		entries, _ := os.ReadDir(dir) // what cannot be read gives nothing
		for _, entry := range entries {
			if entry.IsDir() && !slices.Contains(ofPrograms, entry.Name()) {
				all = append(all, filepath.Join(dir, entry.Name()))
			}
		}
	}
	return all
}
