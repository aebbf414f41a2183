package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/git"
)

// person is who runs us, as git knows them.
func (w world) person() git.Person {
	return git.Person{Home: w.env("HOME"), ConfigHome: w.env("XDG_CONFIG_HOME")}
}

// git is the user's git, with an empty folder for a home; done removes that.
func (w world) git() (tool git.Git, done func(), err error) {
	home, done, err := w.room("home")
	return git.Git{Run: w.runner.Run, Path: w.env("PATH"), Home: home, User: w.person()}, done, err
}

// besides is a PATH without the folders of a project. Those who work there could put
// a git into one, which would run outside.
func besides(path, project string) string {
	top := git.Around(project)
	if place, err := filepath.EvalSymlinks(top); err == nil {
		top = place
	}
	return strings.Join(slices.DeleteFunc(filepath.SplitList(path), func(folder string) bool {
		place, err := filepath.EvalSymlinks(folder)
		if err != nil {
			place = folder
		}
		way, err := filepath.Rel(top, place)
		return err == nil && filepath.IsLocal(way)
	}), string(filepath.ListSeparator))
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
func (w world) soundGit(ctx context.Context) (tool git.Git, done func(), err error) {
	if tool, done, err = w.git(); err != nil {
		return tool, nil, err
	}
	if _, err = tool.Version(ctx); err != nil {
		done()
	}
	return tool, done, err
}
