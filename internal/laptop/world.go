package laptop

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/confine"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/git/guarded"
	"github.com/ralph-loop/ralph/internal/process"
	"github.com/ralph-loop/ralph/internal/untrusted"
)

// World is all that a run may touch of the process that it is in.
type World struct {
	Getenv   func(string) string
	Environ  func() []string
	Now      func() time.Time
	Stdin    *os.File
	Stdout   *os.File
	Stderr   *os.File
	Runner   *process.Runner
	Drain    <-chan struct{} // closed by the first signal, for commands that drain
	Patience *Patience       // what a run tells those who ask it to end
	Version  string
}

func (w World) person() git.Person {
	return git.Person{Home: w.Getenv("HOME"), ConfigHome: w.Getenv("XDG_CONFIG_HOME")}
}

// Git returns the user's git for work in a project, with an empty folder for a
// home; done removes that folder.
func (w World) Git(project string) (tool git.Git, done func(), err error) {
	home, done, err := w.Room(project, "home")
	return git.Git{Run: w.Runner.Run, Path: w.Path(project), Home: home, User: w.person()}, done, err
}

// Outside is the environment of programs that ralph starts outside of the sandbox.
func (w World) Outside(project string) []string {
	return append(w.Environ(), "PATH="+w.Path(project))
}

// Path is PATH without the folders that an agent can write to, or that a link leads
// from to one: a program that an agent left there must not run outside of the sandbox.
func (w World) Path(project string) string {
	return process.PathOutside(w.Getenv("PATH"), w.theirs(project), w.works(project)...)
}

// pathOutside is the process with the PATH that is safe for a project, for work in
// other folders whose programs must not come from the project.
func (w World) pathOutside(project string) World {
	path, env, getenv := w.Path(project), w.Outside(project), w.Getenv
	w.Environ = func() []string { return slices.Clone(env) }
	w.Getenv = func(name string) string {
		if name == "PATH" {
			return path
		}
		return getenv(name)
	}
	return w
}

// Changeable tells whether an agent can write to a file.
func (w World) Changeable(project, path string) bool {
	place, err := filepath.EvalSymlinks(path)
	return err == nil && process.Within(place, w.theirs(project))
}

// theirs are the folders that an agent can write to: the project, the one of the
// working directory, and what agents keep in their user's home.
func (w World) theirs(project string) []string {
	var states []string
	for _, name := range append(agent.States(), dockerState) {
		states = append(states, filepath.Join(w.Getenv("HOME"), name))
	}
	return append(w.works(project), both(states)...)
}

// works are those of them that an agent works in.
func (w World) works(project string) []string {
	home := w.Getenv("HOME")
	return both([]string{project, outermost(project, home), outermost(".", home)})
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

// outermost is the highest folder above dir that looks like a project and does not
// hold the home: an agent can make a nearer one look so, too. Without one it is empty.
func outermost(dir, home string) (top string) {
	for at, home := resolved(dir), resolved(home); at != filepath.Dir(at); at = filepath.Dir(at) {
		if way, err := filepath.Rel(at, home); err == nil && filepath.IsLocal(way) {
			break
		}
		for _, trace := range []string{".git", ".ralph"} {
			if _, err := os.Lstat(filepath.Join(at, trace)); err == nil {
				top = at
			}
		}
	}
	return top
}

// resolved is a path without links, from the root. What is not there yet lies where its
// folder does.
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

// Temp is the folder for temporary files. One in the project, as TMPDIR can name it, is
// not used: an agent could change there what ralph believes.
func (w World) Temp(project string) string {
	if dir := os.TempDir(); !process.Within(dir, w.works(project)) {
		return dir
	}
	return "/tmp"
}

// Above are the folders around a project in which another sandboxed command may work.
func (w World) Above(project string) []string {
	return both([]string{outermost(project, w.Getenv("HOME"))})
}

// Room is an empty temporary folder for work on a project; done removes it.
func (w World) Room(project, purpose string) (dir string, done func(), err error) {
	dir, err = os.MkdirTemp(w.Temp(project), "ralph-"+purpose+"-")
	if err != nil {
		return "", nil, fault.Usage("cannot write to the temporary folder", "set TMPDIR to one that is writable", err)
	}
	return dir, func() { _ = untrusted.RemoveAll(dir) }, nil
}

// SoundGit is git for a command that is nothing without it.
func (w World) SoundGit(ctx context.Context, project string) (tool git.Git, done func(), err error) {
	if tool, done, err = w.Git(project); err != nil {
		return tool, nil, err
	}
	if _, err = tool.Version(ctx); err != nil {
		done()
	}
	return tool, done, err
}

// Executable is this very program.
func Executable() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	return self, nil
}

// Place is a folder, with the repository that it is in. Where git finds none,
// what would make one is guarded all the same.
func (w World) Place(ctx context.Context, dir string) confine.Access {
	top, needs := dir, guarded.Folder(dir)
	if tree, done, err := w.ownTree(ctx, dir); err == nil {
		defer done()
		top, needs = tree.Dir, tree.Needs()
	}
	return confine.Access{
		Write: append([]string{top}, needs.Write...), Read: needs.Read, Guarded: needs.Guarded,
		ReadOnly: append(needs.ReadOnly, confine.Local(dir)...),
	}
}

// KeptHere marks the folder that Standing found, and is Kept of it.
func (w World) KeptHere(ctx context.Context, dir string) (confine.Access, error) {
	if err := w.Confined(ctx, dir); err != nil {
		return confine.Access{}, err
	}
	at := w.Kept(ctx, dir)
	if !confine.Under(at.Write[0], dir) {
		return at, errMoved(dir, nil)
	}
	return at, nil
}

// Kept is Place for those who may not write to the settings of a run there.
func (w World) Kept(ctx context.Context, dir string) confine.Access {
	at, dir := w.Place(ctx, dir), resolved(dir)
	at.Keep(dir)
	if top := at.Write[0]; top != dir {
		at.Keep(top)
	}
	return at
}

// Confined marks a folder in which something is to be confined, with the
// settings as they are before.
func (w World) Confined(ctx context.Context, dir string) error {
	d, done, err := Flags{ProjectDir: dir, DryRun: true}.Open(ctx, w)
	if err != nil {
		return nil // settings that cannot be read are believed by no run
	}
	defer done()
	if _, marked := d.marks(ctx); marked {
		return nil
	}
	return d.mark(ctx)
}

// ownTree is the tree of the repository that a folder is in.
func (w World) ownTree(ctx context.Context, dir string) (tree *git.Tree, done func(), err error) {
	tool, done, err := w.Git(dir)
	if err != nil {
		return nil, nil, err
	}
	top, err := tool.Inspect(ctx, dir)
	if err == nil {
		tree, err = tool.Own(ctx, top)
	}
	if err != nil {
		done()
	}
	return tree, done, err
}

// Standing is the working directory without links. Another sandboxed command may have put
// a link in its place meanwhile.
func Standing() (string, error) {
	here, err := os.Stat(".")
	if err != nil {
		return "", fmt.Errorf("find the working directory: %w", err)
	}
	dir, err := os.Getwd()
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	there, failed := os.Lstat(dir)
	if err = errors.Join(err, failed); err != nil || !os.SameFile(here, there) {
		return "", errMoved(dir, err)
	}
	return dir, nil
}

func errMoved(dir string, err error) error {
	return fault.Usage("the working directory was moved or replaced: "+dir, "change into the folder again", err)
}
