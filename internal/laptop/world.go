package laptop

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ralph-loop/ralph/internal/clean"
	"github.com/ralph-loop/ralph/internal/confine"
	"github.com/ralph-loop/ralph/internal/environ"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/process"
	"github.com/ralph-loop/ralph/internal/untrusted"
	"github.com/ralph-loop/ralph/internal/workspace"
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
	Version   string
	Closing   *[]func() // what is left to do at the end of the process
}

func (w World) gitUser() git.UserEnv {
	p := git.UserEnv{
		Home: w.Getenv("HOME"), ConfigHome: w.Getenv("XDG_CONFIG_HOME"), Global: w.Getenv("GIT_CONFIG_GLOBAL"), System: w.Getenv("GIT_CONFIG_SYSTEM"),
		Parameters: w.Getenv("GIT_CONFIG_PARAMETERS"),
	}
	count, _ := strconv.Atoi(w.Getenv("GIT_CONFIG_COUNT")) // git refuses another word
	for i := range min(count, len(w.Environ())) {
		n := strconv.Itoa(i)
		p.Set = append(p.Set, git.Setting{Key: w.Getenv("GIT_CONFIG_KEY_" + n), Value: w.Getenv("GIT_CONFIG_VALUE_" + n)})
	}
	return p
}

// Git returns the user's git for a project, with an empty home. First it moves aside what killed
// commands left for git.
func (w World) Git(project string) (git.Git, error) {
	moved, restored, err := confine.Recover(w.Getenv("HOME"))
	if len(restored) > 0 {
		fmt.Fprintln(w.Stderr, "ralph: put back what an earlier command had removed or changed:", clean.LogLine(journal.ShortList(restored)))
	}
	if len(moved) > 0 {
		fmt.Fprintln(w.Stderr, "ralph: moved aside what a command added before its ralph was killed:", clean.LogLine(journal.ShortList(moved)))
		fmt.Fprintln(w.Stderr, "ralph: hint: inspect it; to restore it, remove .put-aside and what follows from its name")
	}
	if err != nil {
		return git.Git{}, err
	}
	home, done, err := w.Room(project, "home")
	if err == nil {
		*w.Closing = append(*w.Closing, done)
	}
	return git.Git{Run: w.Runner.Run, Path: w.Path(project), Home: home, User: w.gitUser()}, err
}

// Path is PATH without folders that an agent can write to, here or in another project, directly or by a link: its
// programs must not run outside of the sandbox.
func (w World) Path(project string) string {
	theirs := w.agentWritable(project)
	for _, dir := range both(filepath.SplitList(w.Getenv("PATH"))) {
		theirs = append(theirs, w.confinedAbove(dir)...)
	}
	return process.PathOutside(w.Getenv("PATH"), theirs, w.agentFolders(project)...)
}

// PathOutside changes PATH for work in other folders, whose programs must not come from the project.
func (w World) PathOutside(project string) World {
	return w.with("PATH=" + w.Path(project))
}

// In makes the folders of agents that relative variables name those of a project: the sandbox, the agent and those who
// read its files see the same ones.
func (w World) In(project string) World { return w.with(environ.Absolute(w.Environ(), project)...) }

func (w World) with(env ...string) World {
	all, getenv := environ.Merge(w.Environ(), env), w.Getenv
	w.Environ = func() []string { return slices.Clone(all) }
	w.Getenv = func(name string) string {
		if slices.ContainsFunc(env, func(variable string) bool { return strings.HasPrefix(variable, name+"=") }) {
			return environ.Get(env, name)
		}
		return getenv(name)
	}
	return w
}

// Changeable reports whether an agent can write to a file.
func (w World) Changeable(project, path string) bool {
	place, err := filepath.EvalSymlinks(path)
	return err == nil && process.Within(path, slices.Concat(w.agentWritable(project), w.confinedAbove(place), w.confinedAbove(path)))
}

// confinedAbove returns the folders at dir or above in which a command was confined, and that do not hold the home.
func (w World) confinedAbove(dir string) (all []string) {
	home := resolved(w.Getenv("HOME"))
	for at := dir; at != filepath.Dir(at) && !process.Under(at, home); at = filepath.Dir(at) {
		if w.confined(at) {
			all = append(all, at)
		}
	}
	return all
}

// agentWritable returns the folders that an agent can write to: the project, that of the working directory, and
// the state of agents in the home.
func (w World) agentWritable(project string) []string {
	home := w.Getenv("HOME")
	return append(w.agentFolders(project), both(append(confine.States(home, w.Environ()).Paths(), filepath.Join(home, dockerState)))...)
}

// agentFolders returns those of them that an agent works in.
func (w World) agentFolders(project string) []string {
	return both([]string{project, w.outermost(project), w.outermost(resolved(project)), w.outermost(resolved("."))})
}

// both are paths as they are named and with links resolved.
func both(paths []string) (folders []string) {
	for _, path := range paths {
		if filepath.IsAbs(path) {
			folders = append(folders, path, resolved(path))
		}
	}
	return folders
}

// outermost returns the highest folder above dir that looks like a project or was confined, and is not
// above the home; empty: none. An agent can make a nearer one look so.
func (w World) outermost(dir string) (top string) {
	home := resolved(w.Getenv("HOME"))
	for at := dir; at != filepath.Dir(at) && !process.Under(at, home); at = filepath.Dir(at) {
		for _, trace := range []string{filepath.Join(at, ".git"), filepath.Join(at, ".ralph"), w.markFile(at)} {
			if _, err := os.Lstat(trace); err == nil {
				top = at
			}
		}
	}
	return top
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

// Temp is never where an agent may write, as TMPDIR may be: in the project or another, in a folder of an agent, or by a
// link there. A relative one names another folder for each program.
func (w World) Temp(project string) string {
	dir, theirs, around := os.TempDir(), w.agentWritable(project), confine.Options{Home: w.Getenv("HOME"), Confined: w.confined}.Around
	unsafe := func(place string) bool { return process.Within(place, theirs) || around(place) != "" }
	if filepath.IsAbs(dir) && !slices.ContainsFunc(untrusted.WayOf(dir).Names, unsafe) {
		return dir
	}
	return "/tmp"
}

// FoldersAbove returns the folders around a project in which another sandboxed command may work.
func (w World) FoldersAbove(project string) []string {
	return both([]string{w.outermost(project), w.outermost(resolved(project))})
}

// Room returns an empty temporary folder for work on a project; done removes it.
func (w World) Room(project, purpose string) (dir string, done func(), err error) {
	room, err := workspace.NewTemporary(w.Temp(project), "ralph-for-"+purpose+"-") // a name that users give to no folder of theirs
	if err != nil {
		return "", nil, fault.Usage("cannot write to the temporary folder", "set TMPDIR to one that is writable", err)
	}
	return room.Path, func() { _ = room.Remove() }, nil
}

// SoundGit is git for a command that is nothing without it.
func (w World) SoundGit(ctx context.Context, project string) (git.Git, error) {
	tool, err := w.Git(project)
	if err == nil {
		_, err = tool.Version(ctx)
	}
	return tool, err
}
