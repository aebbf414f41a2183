package confine

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/environ"
	"github.com/ralph-loop/ralph/internal/git/guarded"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/process"
	"github.com/ralph-loop/ralph/internal/sandbox"
	"github.com/ralph-loop/ralph/internal/untrusted"
	"github.com/ralph-loop/ralph/internal/workspace"
)

// folders are for the sandboxed programs: homes, caches and temporary files.
type folders struct {
	temp       workspace.Temporary
	dir        string   // of all that was made for them: temp's
	home       string   // the user's own; empty: they have one of their own
	agentPaths []string // what the agent keeps there, or where variables say
	// state is the same and what other agents keep, and what may change of it.
	state         agent.State
	read          []string
	git           gitFiles
	lend          func(string) error
	rustup        []string // names its folder in a job, whose home is another inside
	hasBaseCaches bool     // the caches of the base are kept
	suffix        string   // ends the names of the folders of a proof
	beside        string   // the same for the proof that runs at the same time
}

func (r *folders) create(ctx context.Context, asked Options, lend func(string) error) (err error) {
	r.home, r.lend = asked.Home, lend
	if r.temp, err = workspace.NewTemporary(asked.Temp, "ralph-inside-"); err != nil {
		return err
	}
	if r.dir, err = filepath.EvalSymlinks(r.temp.Path); err != nil {
		return err
	}
	if r.home == "" {
		err = os.Chmod(r.dir, 0o711) //nolint:gosec // another user goes through it
	}
	err = errors.Join(err, r.emptyFolder("home"), r.emptyFolder("tmp"), r.emptyFolder("proof"), r.emptyFolder("cache"), r.emptyFolder("caches"))
	r.read = toolchainFolders(asked)
	for _, dir := range toolsIn(asked, "$RUSTUP_HOME", ".rustup") {
		r.rustup = append([]string{"RUSTUP_HOME=" + dir}, r.rustup...) // the last one counts
	}
	err = errors.Join(err, r.copyGitConfig(ctx, asked, "system", usualLists(asked)...))
	if r.home != "" {
		err = errors.Join(err, r.findGitFiles(ctx, asked), r.createAgentFolders(asked), r.copyGitConfig(ctx, asked, "global"))
		err = errors.Join(err, r.requireFilters(ctx, asked), linkFolders(poetryEnvironments(asked), filepath.Join(r.caches(false), poetry), lend))
	}
	return err
}

func (r *folders) emptyFolder(name string) error {
	dir := filepath.Join(r.dir, name)
	return errors.Join(untrusted.RemoveAll(dir), os.Mkdir(dir, 0o755), r.lend(dir))
}

// write returns the folders that can be written to. What an agent leaves in its home or in
// its caches, no proof may find, for it could say what the checks do; nor its user,
// who would build other projects with it.
func (r *folders) write(proof bool) []string {
	switch {
	case proof:
		return []string{r.tmp(proof), r.caches(proof)}
	case r.home != "":
		return append([]string{r.tmp(proof), r.caches(proof)}, r.agentPaths...)
	}
	return []string{r.tmp(proof), r.caches(proof), filepath.Join(r.dir, "home")}
}

func (r *folders) caches(proof bool) string {
	if proof {
		return filepath.Join(r.dir, "cache"+r.suffix)
	}
	return filepath.Join(r.dir, "caches")
}

// tmp holds temporary files. In a job it is also the home of the proofs.
func (r *folders) tmp(proof bool) string {
	if proof {
		return filepath.Join(r.dir, "proof"+r.suffix)
	}
	return filepath.Join(r.dir, "tmp")
}

func (r *folders) env(env []string, proof bool) []string {
	own := append(r.gitEnv(proof), "TMPDIR="+r.tmp(proof))
	if r.home != "" {
		return slices.Concat(env, own, []string{"GIT_CONFIG_GLOBAL=" + r.gitConfig("global")}, cacheVariables(r.caches(proof)))
	}
	home := r.tmp(proof)
	if !proof {
		home = filepath.Join(r.dir, "home")
	}
	return slices.Concat(environ.Confined(env), []string{"USER=ralph", "LOGNAME=ralph"}, own, r.rustup, []string{"HOME=" + home}, cacheVariables(r.caches(proof)))
}

func (r *folders) close() error { return r.temp.Remove() }

// Marks returns a folder of ralph's own on a laptop, which nothing inside can write to; empty: there is none.
func (w *Sandbox) Marks() string {
	if w.folders.home == "" {
		return ""
	}
	return filepath.Join(workspace.UserStateDir(w.folders.home), "searches")
}

func (r *folders) missingTools(asked Options) (notes []journal.Noted) {
	for _, folder := range append(filepath.SplitList(environ.Get(asked.Env, "PATH")), existingPaths(asked.Home, tools, asked.Env)...) {
		if asked.Proofs && asked.bars(folder) {
			notes = append(notes, journal.Noted{
				What: "proofs do not use " + folder + " of your environment: the agent can write there", Hint: "have setup install what the checks need",
			})
		}
	}
	for _, path := range existingPaths(asked.Home, settings, nil) {
		if sandbox.FileHoldsLogin(path) {
			notes = append(notes, journal.Noted{
				What: path + " is hidden in the sandbox: it seems to hold a login", Hint: "move the login to another file",
			})
		}
	}
	for _, project := range asked.Private {
		notes = append(notes, crowded(project)...)
		config := filepath.Join(project, ".git", "config")
		if text, err := untrusted.ReadFile(config, 1<<20); err == nil && asked.Home != "" && sandbox.TextHoldsLogin(string(text)) {
			notes = append(notes, journal.Noted{
				What: config + " seems to hold a login, and the agent can read it", Hint: "move the login to a credential helper",
			})
		}
		stores := filepath.Join(project, ".git", "objects", "info", "alternates")
		if text, err := untrusted.ReadFile(stores, 1<<20); err == nil && len(text) > 0 && asked.Home != "" {
			notes = append(notes, journal.Noted{
				What: "the agent can read the objects of other repositories, which " + stores + " names", Hint: "if you did not make it so, remove the file",
			})
		}
	}
	return slices.Concat(notes, r.git.notes, r.missingAgentPaths(), unusedTemp(asked))
}

func unusedTemp(asked Options) []journal.Noted {
	if temp := environ.Get(asked.Env, "TMPDIR"); asked.Home != "" && temp != "" && temp != asked.Temp {
		return []journal.Noted{{What: "TMPDIR is not used, as an agent may write to " + temp, Hint: "set TMPDIR to a folder outside of projects"}}
	}
	return nil
}

// bars reports a folder of programs that a change or an agent can write to. A proof must not use those, whether
// PATH names it or another variable (JAVA_HOME).
func (a Options) bars(path string) bool {
	folders := slices.Concat(a.writableFolders(), resolved(a.Apart))
	return slices.ContainsFunc(resolved([]string{path}), func(place string) bool { return anyHolds(folders, place) })
}

// writableFolders returns the folders that sandboxed programs write to.
func (a Options) writableFolders() []string {
	return resolved(slices.Concat(a.Reach, stateIn(a.Home, a.Env, a.State).Paths()))
}

// agentFolders returns the folders of all agents, which other commands may write to.
func (a Options) agentFolders() []string {
	return resolved(slices.Collect(maps.Keys(States(a.Home, a.Env).Folders)))
}

func crowded(project string) (notes []journal.Noted) {
	for _, dir := range guarded.Folder(project).ReadOnly {
		if name := filepath.Base(dir); name == "modules" || name == "worktrees" {
			notes = append(notes, journal.Noted{
				What: dir + " is read-only in the sandbox: too many repositories lie in it", Hint: "remove those that you do not need: git worktree prune",
			})
		}
	}
	return notes
}

func (a Options) privateFolders() []string {
	return resolved(slices.Concat(a.Apart, a.Private, []string{a.Home, environ.Get(a.Env, "HOME")}))
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
