package confine

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/box/sandbox"
	"github.com/ralph-loop/ralph/internal/lib/environ"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/lib/untrusted"
)

// homeTools are what is only read in a user's home, or in the folder that a variable names.
var homeTools = []string{
	".rustup", ".cargo/bin", ".nvm", ".volta", ".fnm", ".pyenv", ".rbenv", ".asdf", ".sdkman",
	".local/bin", ".local/lib", ".local/pipx",
	".local/share/mise", ".local/share/uv/python", ".local/share/uv/tools",
	".bun/bin", ".deno/bin", "go/bin", "sdk",
	"$GOROOT", "$JAVA_HOME", "$NVM_DIR", "$PYENV_ROOT", "$RUSTUP_HOME", "$VOLTA_HOME",
	"$RUNNER_TOOL_CACHE", "$AGENT_TOOLSDIRECTORY",
}

// settings of the user's home are read, too, unless they hold a login.
var settings = []string{
	".config/git/ignore", ".config/git/attributes", ".config/go/env", ".cargo/env", ".cargo/config.toml",
}

// toolchainMade has patterns of what the programs of a product are made of, beside their bin. A row without a marker is
// for every toolchain; another one only where that file shows whose toolchain it is.
var toolchainMade = []struct{ product, marker, parts string }{
	{"all", "", "bin sbin lib lib32 lib64 libexec share include VERSION version"},
	{"Python's venv", "", "pyvenv.cfg"},
	{"JDK", "", "release jre"},
	{"JDK 9", "lib/modules", "conf jmods"}, // else conf is a server's
	{"Maven", "boot", "conf boot"},
	{"Maven of Debian", "", "maven2"},
	{"Google Cloud", "", "platform"},
	{"Racket", "", "collects"},
	{"Qt", "", "mkspecs plugins qml"},
	{"Erlang", "", "releases erts-*"},
	{"CUDA", "", "nvvm targets"},
	{"GCC", "", "sysroot avr *-linux-* *-elf *-eabi *-mingw32"},
	{"Go", "src/runtime", "src pkg go.env misc"}, // else these are the user's
	{"conda", "conda-meta", "conda-meta condabin envs compiler_compat ssl"},
	{"Homebrew", "Cellar", "Cellar opt Frameworks Homebrew etc/ca-certificates etc/openssl@3"},
	{"Composer", "composer/installed.json", "[^.]*"},
}

func (a Options) userHome() string { return cmp.Or(a.Home, environ.Get(a.Env, "HOME")) }

// existingPaths returns the existing paths: within home, or within the path in a variable.
func existingPaths(home string, names, env []string) []string {
	var paths []string
	for _, name := range names {
		path := filepath.Join(home, name)
		if name, ok := strings.CutPrefix(name, "$"); ok {
			variable, below, _ := strings.Cut(name, "/")
			path = filepath.Join(environ.Get(env, variable), below)
		}
		paths = append(paths, path)
	}
	return existing(paths)
}

func existing(paths []string) []string {
	return slices.DeleteFunc(paths, func(path string) bool { return !filepath.IsAbs(path) || !exists(path) })
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// toolchainFolders returns what programs need beyond the usual folders.
func toolchainFolders(asked Options) []string {
	read := slices.Concat([]string{asked.Self}, asked.Read, resolvedReads(asked))
	if !asked.inJob() {
		plain := slices.DeleteFunc(existingPaths(asked.Home, settings, nil), sandbox.FileHoldsLogin)
		read = append(read, plain...)
	}
	read = append(read, readableTools(asked, homeTools...)...)
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
	if err != nil || asked.bars(place) {
		return nil
	}
	above := filepath.Dir(place)
	holds := func(dir string) bool { return process.Under(above, dir) }
	switch {
	case slices.ContainsFunc(asked.privateFolders(), holds): // what is beside it would open the user's files
		return []string{folder}
	case strings.HasSuffix(place, "/node_modules/.bin"): // its links lead to the packages beside it
		return []string{folder, above}
	case filepath.Base(place) != "bin": // only a bin has its toolchain beside it
		return []string{folder}
	case isSharedPrefix(above), isSharedPrefix(filepath.Dir(folder)): // of more programs, by its own or its link's name
		return []string{folder}
	}
	return append([]string{folder}, toolchainParts(above)...)
}

// isSharedPrefix reports a folder that has more beside its bin than one toolchain.
func isSharedPrefix(dir string) bool {
	return slices.Contains([]string{"/", ".local", ".cargo"}, filepath.Base(dir))
}

func looksLikeProject(dir string) bool {
	return slices.ContainsFunc([]string{".git", ".hg", ".jj", ".svn", ".env", ".ralph"}, func(name string) bool {
		_, err := os.Lstat(filepath.Join(dir, name))
		return err == nil
	})
}

// readableTools returns the tools that are in the home: people, and the steps of a job, install them there.
func readableTools(asked Options, names ...string) []string {
	return slices.DeleteFunc(existingPaths(asked.userHome(), names, asked.Env), asked.bars)
}

// linkedToolchains returns the toolchains in the home that links in a folder of PATH lead to, as the installers of pipx
// and Poetry make them.
func linkedToolchains(asked Options, folder string) (read []string) {
	entries, _ := untrusted.ReadDir(folder) // what cannot be read gives nothing
	homes := resolved([]string{asked.userHome()})
	for _, entry := range entries {
		path := filepath.Join(folder, entry.Name())
		if entry.Type() != os.ModeSymlink || !anyHolds(homes, untrusted.Place(path)) { // most links of the machine
			continue
		}
		place, err := filepath.EvalSymlinks(path)
		bin := filepath.Dir(place)
		if err != nil || !anyHolds(homes, bin) || slices.Contains(read, bin) {
			continue
		}
		if beside := toolchainBeside(asked, bin); len(beside) > 1 {
			read = append(read, beside...)
		}
	}
	return read
}

// toolchainParts returns what a toolchain's programs are made of, if dir looks like one. Anything else beside a bin may
// be the user's: logins, sources, a server's data.
func toolchainParts(dir string) []string {
	entries, _ := untrusted.ReadDir(dir) // what cannot be read gives nothing
	isMade := func(entry os.DirEntry) bool {
		return slices.Contains([]string{"lib", "lib64", "libexec", "share", "include", "pkg", "composer"}, entry.Name())
	}
	if looksLikeProject(dir) || !slices.ContainsFunc(entries, isMade) {
		return nil
	}
	var names []string
	for _, made := range toolchainMade {
		if _, err := os.Lstat(filepath.Join(dir, made.marker)); err == nil {
			names = append(names, strings.Fields(made.parts)...)
		}
	}
	slices.Sort(names)
	var parts []string
	for _, entry := range entries {
		if matchesAny(names, entry.Name()) {
			parts = append(parts, filepath.Join(dir, entry.Name()))
		}
	}
	deep := slices.DeleteFunc(names, func(name string) bool { return !strings.Contains(name, "/") })
	return append(parts, existingPaths(dir, deep, nil)...)
}

func matchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, _ := filepath.Match(pattern, name)
		return ok
	})
}

// AgentFiles returns an agent's program, and the files that its command names by a whole path. See Options.Read.
func AgentFiles(path string, adapter agent.Adapter) []string {
	read := []string{path}
	for _, word := range adapter.Argv(agent.Order{}) {
		if info, err := os.Stat(word); err == nil && filepath.IsAbs(word) && info.Mode().IsRegular() {
			read = append(read, word)
		}
	}
	return read
}

// resolvedReads returns the places of what asked.Read names, each with the packages that it is one of.
func resolvedReads(asked Options) (read []string) {
	for _, name := range asked.Read {
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
