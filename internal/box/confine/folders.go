package confine

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/ralph-loop/ralph/internal/box/sandbox"
	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/environ"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/lib/untrusted"
)

// folders are for the sandboxed programs: homes, caches and temporary files.
type folders struct {
	temp          workspace.Temporary
	dir           string // of all that was made for them: temp's
	home          string // the user's own, at whose path theirs is; empty: in a job
	read          []string
	lend          func(string) error
	logins        *logins
	rustup        []string // names its folder in a job, whose home is another inside
	warm          []warmCache
	goModules     string // where Go finds the user's modules without layers; empty: nowhere
	hasBaseCaches bool   // the caches of the base are kept
}

func (r *folders) create(ctx context.Context, asked Options, lend func(string) error) error {
	r.home = asked.Home
	r.lend = lend
	var err error
	r.temp, err = workspace.NewTemporary(asked.Temp, "ralph-inside-")
	if err != nil {
		return err
	}
	r.dir, err = filepath.EvalSymlinks(r.temp.Path)
	if err != nil {
		return err
	}
	if r.home == "" {
		if err := os.Chmod(r.dir, 0o711); err != nil { //nolint:gosec // another user goes through it
			return err
		}
	}
	for _, name := range []string{"home", "tmp", "proof", "cache", "caches"} {
		if err := r.emptyFolder(name); err != nil {
			return err
		}
	}
	r.read = toolchainFolders(asked)
	for _, dir := range readableTools(asked, "$RUSTUP_HOME", ".rustup") {
		r.rustup = append([]string{"RUSTUP_HOME=" + dir}, r.rustup...) // the last one counts
	}
	if err := r.copyGitConfig(ctx, asked, "system", usualLists(asked)...); err != nil {
		return err
	}
	if r.home == "" {
		return nil
	}
	r.logins, err = bring(asked.HomeFiles, filepath.Join(r.dir, "home"))
	if err != nil {
		return err
	}
	return r.copyGitConfig(ctx, asked, "global")
}

func (r *folders) emptyFolder(name string) error {
	dir := filepath.Join(r.dir, name)
	if err := untrusted.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	return r.lend(dir)
}

// write returns the folders that can be written to. What an agent leaves in its home or in its caches, no proof may
// find, for it could say what the checks do; nor its user, who would build other projects with it.
func (r *folders) write(proof bool) []string {
	if proof {
		return []string{r.tmp(proof), r.caches(proof)}
	}
	return []string{r.tmp(proof), r.caches(proof), filepath.Join(r.dir, "home")}
}

func (r *folders) caches(proof bool) string {
	if proof {
		return filepath.Join(r.dir, "cache")
	}
	return filepath.Join(r.dir, "caches")
}

// tmp holds temporary files. In a job it is also the home of the proofs.
func (r *folders) tmp(proof bool) string {
	if proof {
		return filepath.Join(r.dir, "proof")
	}
	return filepath.Join(r.dir, "tmp")
}

// at returns where their folders are inside, if there are mounts.
func (r *folders) at(more map[string]string) map[string]string {
	if r.home == "" {
		return more
	}
	all := map[string]string{filepath.Join(r.dir, "home"): r.home}
	maps.Copy(all, more)
	return all
}

func (r *folders) env(env []string, proof, mounts bool) []string {
	own := append(r.gitEnv(), "TMPDIR="+r.tmp(proof))
	caches := r.cacheVariables(env, proof)
	if r.home != "" {
		home := r.home
		if !proof && !mounts {
			home = filepath.Join(r.dir, "home")
			own = append(own, r.rustup...)
		}
		own = append(own, "HOME="+home, "GIT_CONFIG_GLOBAL="+r.gitConfig("global"))
		return slices.Concat(environ.InNewHome(env), own, caches)
	}
	home := r.tmp(proof)
	if !proof {
		home = filepath.Join(r.dir, "home")
	}
	user := []string{"USER=ralph", "LOGNAME=ralph"}
	return slices.Concat(environ.Confined(env), user, own, r.rustup, []string{"HOME=" + home}, caches)
}

func (r *folders) close() error {
	r.logins.close()
	return r.temp.Remove()
}

func (r *folders) missingTools(asked Options) []journal.Noted {
	var notes []journal.Noted
	path := filepath.SplitList(environ.Get(asked.Env, "PATH"))
	for _, folder := range append(path, existingPaths(asked.Home, homeTools, asked.Env)...) {
		if asked.Proofs && asked.bars(folder) {
			notes = append(notes, journal.Noted{
				What: "proofs do not use " + folder + " of your environment: the agent can write there",
				Hint: "have setup install what the checks need",
			})
		}
	}
	for _, path := range existingPaths(asked.Home, settings, nil) {
		if sandbox.FileHoldsLogin(path) {
			notes = append(notes, journal.Noted{
				What: path + " is hidden in the sandbox: it seems to hold a login",
				Hint: "move the login to another file",
			})
		}
	}
	return notes
}

// bars reports a folder of programs that a change or an agent can write to. A proof must not use those, whether
// PATH names it or another variable (JAVA_HOME).
func (a Options) bars(path string) bool {
	place, err := filepath.EvalSymlinks(path)
	if err != nil || !filepath.IsAbs(path) {
		return false
	}
	return anyHolds(resolved(slices.Concat(a.WorkDirs, a.NoProgramDirs)), place)
}

func (a Options) privateFolders() []string {
	return resolved(slices.Concat(a.NoProgramDirs, a.Private, []string{a.Home, environ.Get(a.Env, "HOME")}))
}

func resolved(paths []string) (found []string) {
	for _, path := range paths {
		if place, err := filepath.EvalSymlinks(path); err == nil && filepath.IsAbs(path) {
			found = append(found, place)
		}
	}
	return found
}

func anyHolds(folders []string, path string) bool {
	return slices.ContainsFunc(folders, func(dir string) bool { return process.Under(dir, path) })
}
