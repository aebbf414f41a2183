package laptop

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/environ"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/process"
)

// World is what a run may use of its process.
type World struct {
	Getenv    func(string) string
	Environ   func() []string
	Now       func() time.Time
	Stdin     *os.File
	Stdout    *os.File
	Stderr    *os.File
	Runner    *process.Runner
	Drain     <-chan struct{} // closed by the first signal, for commands that drain
	StopGrace *atomic.Int64   // time for the step under way to end after the first signal, as a time.Duration
	Self      string          // this very program
	System    string          // as of runtime.GOOS
	Version   string
	Closing   *[]func() // what is left to do at the end of the process
}

// gitUser returns the variables by which git finds the user's settings.
func (w World) gitUser() []string {
	names := []string{"HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"}
	env := []string{}
	for _, set := range w.Environ() {
		name, _, _ := strings.Cut(set, "=")
		if slices.Contains(names, name) {
			env = append(env, set)
		}
	}
	return env
}

// Git returns the user's git for a project, with an empty home.
func (w World) Git(project string) (git.Git, error) {
	home, done, err := w.Room(project, "home")
	if err != nil {
		return git.Git{}, err
	}
	*w.Closing = append(*w.Closing, done)
	return git.Git{Run: w.Runner.Run, Path: w.Path(project), Home: home, User: w.gitUser()}, nil
}

// Path is PATH without folders of the project: the work of an agent may be there.
func (w World) Path(project string) string {
	return process.PathOutside(w.Getenv("PATH"), []string{resolved(project)})
}

// PathOutside changes PATH for work in other folders, whose programs must not come from the project.
func (w World) PathOutside(project string) World {
	return w.with("PATH=" + w.Path(project))
}

// In makes the folders of agents that relative variables name those of a project: the sandbox, the agent and those who
// read its files see the same ones.
func (w World) In(project string) World { return w.with(environ.Absolute(w.Environ(), project)...) }

func (w World) with(env ...string) World {
	all := environ.Merge(w.Environ(), env)
	getenv := w.Getenv
	w.Environ = func() []string { return slices.Clone(all) }
	w.Getenv = func(name string) string {
		for _, variable := range env {
			if strings.HasPrefix(variable, name+"=") {
				return environ.Get(env, name)
			}
		}
		return getenv(name)
	}
	return w
}

// resolved returns an absolute path without links, also of a file that does not exist.
func resolved(path string) string {
	if place, err := filepath.EvalSymlinks(path); err == nil {
		path = place
	} else if above := filepath.Dir(path); above != path {
		path = filepath.Join(resolved(above), filepath.Base(path))
	}
	if place, err := filepath.Abs(path); err == nil {
		path = place
	}
	return path
}

// Temp is never in the project. A relative one names another folder for each program.
func (w World) Temp(project string) string {
	dir := os.TempDir()
	if filepath.IsAbs(dir) && !process.Within(dir, []string{resolved(project)}) {
		return dir
	}
	return "/tmp"
}

// Room returns an empty temporary folder for work on a project; done removes it.
func (w World) Room(project, purpose string) (dir string, done func(), err error) {
	// Users give such a name to no folder of theirs.
	room, err := workspace.NewTemporary(w.Temp(project), "ralph-for-"+purpose+"-")
	if err != nil {
		return "", nil, fault.Usage("cannot write to the temporary folder", "set TMPDIR to one that is writable", err)
	}
	return room.Path, func() { _ = room.Remove() }, nil
}

// SoundGit is git for a command that is nothing without it.
func (w World) SoundGit(ctx context.Context, project string) (git.Git, error) {
	tool, err := w.Git(project)
	if err != nil {
		return tool, err
	}
	_, err = tool.Version(ctx)
	return tool, err
}
