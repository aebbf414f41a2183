package confine

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/environ"
	"github.com/ralph-loop/ralph/internal/process"
	"github.com/ralph-loop/ralph/internal/sandbox"
	"github.com/ralph-loop/ralph/internal/untrusted"
)

// tools are what is only read in a user's home. Settings that hold a login are not.
var (
	tools = []string{
		".rustup", ".cargo/bin", ".nvm", ".volta", ".fnm", ".pyenv", ".rbenv", ".asdf", ".sdkman",
		".local/bin", ".local/lib", ".local/pipx", ".local/share/mise", ".local/share/uv/python", ".local/share/uv/tools", ".bun/bin", ".deno/bin", "go/bin", "sdk",
		"$GOROOT", "$JAVA_HOME", "$NVM_DIR", "$PYENV_ROOT", "$RUSTUP_HOME", "$VOLTA_HOME", "$RUNNER_TOOL_CACHE", "$AGENT_TOOLSDIRECTORY",
	}
	settings = []string{
		".config/git/ignore", ".config/git/attributes", ".config/go/env", ".cargo/env", ".cargo/config.toml",
	}
)

func (a Options) userHome() string { return cmp.Or(a.Home, environ.Get(a.Env, "HOME")) }

// existingPaths returns the existing paths: within home, or in a variable.
func existingPaths(home string, names, env []string) []string {
	var paths []string
	for _, name := range names {
		path := filepath.Join(home, name)
		if variable, is := strings.CutPrefix(name, "$"); is {
			path = environ.Get(env, variable)
		}
		paths = append(paths, path)
	}
	return existing(paths)
}

func existing(paths []string) []string {
	return filtered(paths, func(path string) bool {
		_, err := os.Stat(path)
		return err == nil && filepath.IsAbs(path)
	})
}

// toolchainFolders returns what programs need beyond the usual folders.
func toolchainFolders(asked Options) []string {
	read := append([]string{asked.Self}, asked.Read...)
	if asked.Home != "" {
		plain := slices.DeleteFunc(existingPaths(asked.Home, settings, nil), sandbox.FileHoldsLogin)
		read = slices.Concat(read, plain, poetryEnvironments(asked))
	}
	read = append(read, toolsIn(asked, tools...)...)
	for _, folder := range filepath.SplitList(environ.Get(asked.Env, "PATH")) {
		beside := toolchainBeside(asked, folder)
		read = append(read, beside...)
		if len(beside) > 0 {
			read = append(read, linkedToolchains(asked, folder)...)
		}
	}
	return slices.DeleteFunc(read, func(path string) bool { return path == "" || !filepath.IsAbs(path) })
}

// toolchainBeside returns a folder of PATH, with the rest of its toolchain.
func toolchainBeside(asked Options, folder string) []string {
	folder = filepath.Clean(folder)
	place, err := filepath.EvalSymlinks(folder)
	if err != nil || !filepath.IsAbs(folder) || asked.bars(place) {
		return nil
	}
	above := filepath.Dir(place)
	holds := func(dir string) bool { return process.Under(above, dir) }
	switch {
	case slices.ContainsFunc(asked.privateFolders(), holds):
		return []string{folder}
	case strings.HasSuffix(place, "/node_modules/.bin"):
		return []string{folder, above}
	case filepath.Base(place) != "bin" || slices.Contains([]string{"/", ".local", ".cargo"}, filepath.Base(above)):
		return []string{folder}
	}
	return append([]string{folder}, toolchainParts(above)...)
}

// toolsIn returns the tools that are in the home: people, and the steps of a job, install them there.
func toolsIn(asked Options, names ...string) []string {
	return slices.DeleteFunc(existingPaths(asked.userHome(), names, asked.Env), asked.bars)
}

// linkedToolchains returns the toolchains in the home that links in a folder of PATH lead to, as the installers of pipx
// and Poetry make them.
func linkedToolchains(asked Options, folder string) (read []string) {
	entries, _ := untrusted.ReadDir(folder) // what cannot be read gives nothing
	for _, entry := range entries {
		place, err := filepath.EvalSymlinks(filepath.Join(folder, entry.Name()))
		bin := filepath.Dir(place)
		if err != nil || entry.Type() != os.ModeSymlink || !anyHolds(resolved([]string{asked.userHome()}), bin) || slices.Contains(read, bin) {
			continue
		}
		if beside := toolchainBeside(asked, bin); len(beside) > 1 {
			read = append(read, beside...)
		}
	}
	return read
}

// toolchainParts returns a toolchain's folders, if dir looks like one. Hidden files may be a project's secrets, and var
// may hold the data and sockets of the user's servers, as Homebrew's does.
func toolchainParts(dir string) (parts []string) {
	entries, _ := untrusted.ReadDir(dir) // what cannot be read gives nothing
	made := false
	for _, entry := range entries {
		name := entry.Name()
		switch {
		case slices.Contains([]string{".git", ".hg", ".jj", ".svn", ".env", ".ralph"}, name):
			return nil
		case !strings.HasPrefix(name, ".") && name != "var":
			parts = append(parts, filepath.Join(dir, name))
		}
		made = made || slices.Contains([]string{"lib", "lib64", "libexec", "share", "include", "pkg", "composer"}, name)
	}
	if !made {
		return nil
	}
	return parts
}

// Program returns what has to be readable for an agent's program: its packages, and files that it names.
func Program(path string, adapter agent.Adapter) []string {
	read := []string{path}
	for _, word := range adapter.Argv(agent.Order{}) {
		if info, err := os.Stat(word); err == nil && filepath.IsAbs(word) && info.Mode().IsRegular() {
			read = append(read, word)
		}
	}
	for _, name := range slices.Clone(read) {
		place, err := filepath.EvalSymlinks(name)
		if err != nil {
			continue
		}
		if at := strings.Index(place, "/node_modules/"); at >= 0 {
			place = place[:at+len("/node_modules")]
		}
		read = append(read, place)
	}
	return read
}
