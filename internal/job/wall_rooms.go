package job

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/untrusted"
	"github.com/ralph-loop/ralph/internal/workspace"
)

// rooms are the folders of those behind a wall: what programs take for their
// home, and for temporary files.
type rooms struct {
	temp  workspace.Temporary
	dir   string // of all that was made for them: temp's
	home  string // the user's own; empty: they have one of their own
	apart bool   // and its caches are not theirs to write
	lent  []string
	// settled is what the user alone says to an agent, in home.
	settled agent.Settled
	read    []string
	lend    func(string) error
}

func (r *rooms) furnish(asked WallAsked, lend func(string) error) (err error) {
	r.home, r.lend = asked.Home, lend
	const name = "ralph-inside-"
	workspace.Sweep(asked.Temp, name)
	if r.temp, err = workspace.NewTemporary(asked.Temp, name); err != nil {
		return err
	}
	if r.dir, err = filepath.EvalSymlinks(r.temp.Path); err != nil {
		return err
	}
	err = errors.Join(
		os.Chmod(r.dir, 0o711), //nolint:gosec // another user goes through it
		r.clear("home"), r.clear("tmp"), r.clear("proof"), r.clear("cache"), r.clear("attack"),
		untrusted.WriteFile(r.held(), nil, 0o644),
		lend(r.stage()),
	)
	r.read = toolchain(asked)
	if r.home != "" {
		err = errors.Join(err, r.welcome(asked.State))
		r.settled = settledIn(r.home, asked.Settled)
		if r.apart = asked.Guest; r.apart {
			r.lent = append(there(r.home, asked.State, asked.Env), filepath.Join(r.dir, "cache"))
		} else {
			r.lent = there(r.home, slices.Concat(asked.State, caches), asked.Env)
		}
	}
	return err
}

// settledIn has whole paths for those of a home. A file that is not there says
// nothing, and those inside cannot make one whose folder is not theirs.
func settledIn(home string, said agent.Settled) agent.Settled {
	in := func(names []string) (paths []string) {
		for _, name := range names {
			paths = append(paths, filepath.Join(home, name))
		}
		return paths
	}
	all := agent.Settled{Paths: in(said.Paths), Fields: map[string][]string{}, Code: in(said.Code)}
	for name, fields := range said.Fields {
		all.Fields[filepath.Join(home, name)] = fields
	}
	return all
}

// welcome makes the folders that the agent keeps in its user's home, as it would
// itself: inside it could not.
func (r *rooms) welcome(state []string) error {
	var errs []error
	for _, name := range append([]string{".cache"}, state...) {
		if !strings.HasSuffix(name, ".json") {
			errs = append(errs, os.MkdirAll(filepath.Join(r.home, name), 0o700))
		}
	}
	return errors.Join(errs...)
}

// clear makes a room new.
func (r *rooms) clear(name string) error {
	dir := filepath.Join(r.dir, name)
	return errors.Join(untrusted.RemoveAll(dir), os.Mkdir(dir, 0o755), r.lend(dir))
}

func (r *rooms) stage() string { return filepath.Join(r.dir, "attack") }
func (r *rooms) held() string  { return filepath.Join(r.stage(), "held") }

// write are the rooms that can be written to. What an agent leaves in its home,
// or in the caches of its user's, must be found by no proof: it could say what
// the checks do.
func (r *rooms) write(proof bool) []string {
	switch {
	case proof && !r.apart:
		return []string{r.tmp(proof), filepath.Join(r.dir, "cache")}
	case r.home != "":
		return append([]string{r.tmp(proof)}, r.lent...)
	}
	return []string{r.tmp(proof), filepath.Join(r.dir, "home")}
}

// tmp is where files go that nobody keeps. In a job it is the home of the proofs,
// too.
func (r *rooms) tmp(proof bool) string {
	if proof {
		return filepath.Join(r.dir, "proof")
	}
	return filepath.Join(r.dir, "tmp")
}

func (r *rooms) env(env []string, proof bool) []string {
	tmp := r.tmp(proof)
	switch {
	case r.apart, r.home != "" && proof:
		return append(append(slices.Clone(env), "TMPDIR="+tmp), cached(filepath.Join(r.dir, "cache"))...)
	case r.home != "":
		return append(slices.Clone(env), "TMPDIR="+tmp)
	}
	env = append(agent.Confined(env), "USER=ralph", "LOGNAME=ralph")
	if !proof {
		return append(env, "HOME="+filepath.Join(r.dir, "home"), "TMPDIR="+tmp)
	}
	return append(append(env, "HOME="+tmp, "TMPDIR="+tmp), cached(filepath.Join(r.dir, "cache"))...)
}

// cached has tools keep in dir what they fetch and build.
func cached(dir string) []string {
	env := []string{"XDG_CACHE_HOME=" + dir}
	for name, folder := range map[string]string{
		"GOCACHE": "go-build", "GOMODCACHE": "go-mod", "npm_config_cache": "npm", "npm_config_store_dir": "pnpm", "YARN_CACHE_FOLDER": "yarn",
		"YARN_GLOBAL_FOLDER": "yarn-berry", "BUN_INSTALL_CACHE_DIR": "bun", "CARGO_HOME": "cargo", "GRADLE_USER_HOME": "gradle", "NUGET_PACKAGES": "nuget",
		"BUNDLE_USER_CACHE": "bundle", "DENO_DIR": "deno",
	} {
		env = append(env, name+"="+filepath.Join(dir, folder))
	}
	return env
}

func (r *rooms) close() error { return r.temp.Remove() }

// caches are what the user's own tools fetch and build once for all projects:
// without them every run would begin with an hour of downloads. What else lies
// beside them, logins above all, stays out.
var caches = []string{
	".cache", "go/pkg", ".npm", ".cargo/registry", ".cargo/git", ".m2/repository", ".gradle/caches", ".gradle/wrapper", ".yarn",
	".local/share/pnpm", ".bun/install/cache", ".nuget/packages", ".gem", ".bundle/cache",
	"$GOCACHE", "$GOMODCACHE", "$XDG_CACHE_HOME", "$npm_config_cache",
}

// tools are what is only read in a user's home.
var tools = []string{
	".gitconfig", ".config/git/config", ".config/git/ignore", ".config/git/attributes", ".config/go/env", ".profile", ".bashrc",
	".rustup", ".cargo/bin", ".cargo/env", ".cargo/config.toml", ".nvm", ".volta", ".fnm", ".pyenv", ".rbenv", ".asdf", ".sdkman",
	".local/bin", ".local/lib", ".local/pipx", ".local/share/mise", ".local/share/uv", ".bun/bin", ".deno", "go/bin", "sdk",
	"$GOROOT", "$JAVA_HOME", "$NVM_DIR", "$PYENV_ROOT", "$RUSTUP_HOME", "$VOLTA_HOME",
}

// there are those of the names that are there: paths within home, or named by
// a variable.
func there(home string, names, env []string) []string {
	var found []string
	for _, name := range names {
		path := filepath.Join(home, name)
		if variable, is := strings.CutPrefix(name, "$"); is {
			path = agent.Lookup(env, variable)
		}
		if _, err := os.Stat(path); err == nil && filepath.IsAbs(path) {
			found = append(found, path)
		}
	}
	return found
}

// toolchain is what programs are made of beyond the usual folders: where PATH
// leads, with what stands beside a bin, and the caches of a runner's tools.
func toolchain(asked WallAsked) []string {
	read := append([]string{asked.Self}, asked.Read...)
	if asked.Home != "" {
		read = append(read, there(asked.Home, tools, asked.Env)...)
	}
	read = append(read, there("/", []string{"$GOROOT", "$RUNNER_TOOL_CACHE", "$AGENT_TOOLSDIRECTORY"}, asked.Env)...)
	for _, folder := range filepath.SplitList(agent.Lookup(asked.Env, "PATH")) {
		read = append(read, beside(asked, folder)...)
	}
	return slices.DeleteFunc(read, func(path string) bool { return path == "" || !filepath.IsAbs(path) })
}

// beside is a folder of PATH, and the one that it is the bin of, unless that
// holds more than tools.
func beside(asked WallAsked, folder string) []string {
	folder = filepath.Clean(folder)
	place, err := filepath.EvalSymlinks(folder)
	if err != nil || !filepath.IsAbs(folder) || slices.ContainsFunc(asked.Apart, func(dir string) bool { return under(dir, place) }) {
		return nil
	}
	above := filepath.Dir(place)
	home := []string{"/", asked.Home, agent.Lookup(asked.Env, "HOME")}
	for _, dir := range slices.Clone(home[1:]) {
		home = append(home, filepath.Join(dir, ".local"), filepath.Join(dir, ".cargo"))
	}
	holds := func(dir string) bool { return dir != "" && under(above, dir) }
	if filepath.Base(place) != "bin" || slices.ContainsFunc(home, holds) {
		return []string{folder}
	}
	return []string{folder, above}
}

// under tells whether path is dir, or lies in it.
func under(dir, path string) bool {
	way, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(way)
}

// Program is what an agent's program needs to be read of: where it leads, the
// packages it is one of, and the files that its command line names.
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
