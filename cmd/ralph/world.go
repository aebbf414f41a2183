package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/process"
)

// person is who runs us, as git knows them.
func (w world) person() git.Person {
	return git.Person{Home: w.env("HOME"), ConfigHome: w.env("XDG_CONFIG_HOME")}
}

// git returns the user's git for work in a project, with an empty folder for a
// home; done removes that folder.
func (w world) git(project string) (tool git.Git, done func(), err error) {
	home, done, err := w.room("home")
	return git.Git{Run: w.runner.Run, Path: w.path(project), Home: home, User: w.person()}, done, err
}

// outside is the environment of programs that ralph starts outside of the sandbox.
func (w world) outside(project string) []string {
	return append(w.environ(), "PATH="+w.path(project))
}

// path is PATH without the folders that an agent can write to: a program that one
// left there must not run outside of the sandbox.
func (w world) path(project string) string {
	return process.PathOutside(w.env("PATH"), w.theirs(project))
}

// changeable tells whether an agent can write to a file.
func (w world) changeable(project, path string) bool {
	place, err := filepath.EvalSymlinks(path)
	return err == nil && process.PathOutside(filepath.Dir(place), w.theirs(project)) == ""
}

// theirs are the folders that an agent can write to: the project, the one of the
// working directory, and what agents keep in their user's home.
func (w world) theirs(project string) []string {
	home := w.env("HOME")
	paths := []string{project, outermost(project, home), outermost(".", home)}
	for _, name := range append(agent.States(), dockerState) {
		paths = append(paths, filepath.Join(home, name))
	}
	var folders []string
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

// resolved is a path without links, from the root, where it is there.
func resolved(path string) string {
	if place, err := filepath.EvalSymlinks(path); err == nil {
		path = place
	}
	if place, err := filepath.Abs(path); err == nil {
		path = place
	}
	return path
}

// room is an empty folder for some purpose; done removes it with all in it.
func (w world) room(purpose string) (dir string, done func(), err error) {
	dir, err = os.MkdirTemp("", "ralph-"+purpose+"-")
	if err != nil {
		return "", nil, fault.Usage("cannot write to the temporary folder", "set TMPDIR to one that is writable", err)
	}
	return dir, func() { _ = os.RemoveAll(dir) }, nil
}

// soundGit is git for a command that is nothing without it.
func (w world) soundGit(ctx context.Context, project string) (tool git.Git, done func(), err error) {
	if tool, done, err = w.git(project); err != nil {
		return tool, nil, err
	}
	if _, err = tool.Version(ctx); err != nil {
		done()
	}
	return tool, done, err
}
