package job

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/confine"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/git/guarded"
	"github.com/ralph-loop/ralph/internal/git/nested"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/process"
	"github.com/ralph-loop/ralph/internal/sandbox"
	"github.com/ralph-loop/ralph/internal/untrusted"
	"github.com/ralph-loop/ralph/internal/view"
)

func (s *trees) commandRunner(dir string) sandbox.Exec { return s.runnerWith(dir, false) }

func (s *trees) runnerWith(dir string, setup bool) sandbox.Exec {
	if s.Sandbox == nil {
		return s.Exec
	}
	return func(ctx context.Context, c process.Command) (process.Result, error) {
		at, err := s.access(ctx, dir)
		if err != nil {
			return process.Result{}, err
		}
		at.Setup = setup
		return s.Sandbox.Around(at)(ctx, c)
	}
}

// access is to be asked for in the moment that a command begins. While nested repositories are watched, it is what that
// began with: what the search leaves out is then guarded in each command.
func (s *trees) access(ctx context.Context, dir string) (confine.Access, error) {
	if s.watched != nil && dir == s.userFolder() {
		return s.watched()
	}
	return s.Sandbox.Listed(func() confine.Access { return s.list(ctx, dir) })
}

// userFolder is where the user's own git may run hooks.
func (s *trees) userFolder() string {
	if s.UserTree != nil {
		return s.UserTree.Dir
	}
	return s.Dir
}

func (s *trees) list(ctx context.Context, dir string) confine.Access {
	at := confine.Access{Write: []string{dir}}
	if s.trusted != nil {
		at.Read = s.trusted.Lent()
	}
	switch {
	case s.UserTree != nil && dir == s.UserTree.Dir:
		needs := s.UserTree.Needs(ctx)
		at.Write, at.Read = append(at.Write, needs.Write...), append(at.Read, needs.Read...)
		// Commits go to the user's own object store.
		at.Read = slices.DeleteFunc(at.Read, func(path string) bool {
			return slices.ContainsFunc(at.Write, func(dir string) bool { return process.Under(dir, path) })
		})
		at.ReadOnly, at.Guarded = needs.ReadOnly, needs.Guarded
		s.protectProgramFiles(&at)
	case s.UserTree == nil && dir == s.Dir:
		needs := s.Git.WithIncluded(ctx, guarded.Folder(dir), dir)
		at.ReadOnly, at.Guarded = needs.ReadOnly, needs.Guarded
		s.protectProgramFiles(&at)
	}
	return at
}

// protectProgramFiles makes ralph's files in the user's folder read-only for the
// sandbox: the run's records and the settings of the next run. Where mounts cannot
// protect the records, the journal repairs itself.
func (s *trees) protectProgramFiles(at *confine.Access) {
	top := filepath.Dir(s.Folder.Path)
	at.Ours = []string{s.Folder.Path}
	at.Keep(top)
	if s.SettingsDir != "" && s.SettingsDir != top {
		at.Keep(s.SettingsDir)
	}
}

// gitRunner runs git as the sandbox's user and without a network. nil: as everywhere else.
func (s *trees) gitRunner(dir string) git.Run {
	if s.Sandbox == nil {
		return nil
	}
	read := []string{s.Git.Home}
	if s.trusted != nil {
		read = append(read, s.trusted.Lent()...)
	}
	return git.Run(s.Sandbox.Around(confine.Access{Write: []string{dir}, Read: read, Alone: true}))
}

func (s *trees) makeEmptyDir(ctx context.Context, dir string) error {
	if err := errors.Join(untrusted.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return fmt.Errorf("clear %s: %w", dir, err)
	}
	return s.Sandbox.Lend(ctx, dir, ".")
}

func (s *activeRun) allowPackageHosts(ctx context.Context) error {
	if s.trusted == nil {
		return nil
	}
	notes, err := s.Sandbox.AllowPackages(ctx, s.CheckEnv, func() ([]string, error) { return s.trusted.Files(ctx, s.Run().Base) })
	for _, note := range notes {
		err = errors.Join(err, s.Append(journal.Noted{What: note}))
	}
	return err
}

// MovedAside is the error of a project whose own repository was moved aside.
func MovedAside(own string) error {
	return fault.Usage(own+" was moved aside: it changed after a command in the sandbox began here or in a folder above",
		"end that command, or run one in its folder, which ends its search; then restore what was renamed to .moved-by-ralph, and go on", nil)
}

// watchRun watches the user's folder for the whole run. The watches of its commands share what was found now, so
// nothing that one command left counts as the user's own in the next.
func (s *activeRun) watchRun(ctx context.Context) (settle func() error, err error) {
	if s.watchesNothing() {
		return func() error { return nil }, nil
	}
	top := s.userFolder()
	at, err := s.access(ctx, top)
	if err != nil {
		return nil, err
	}
	own := filepath.Join(top, ".git")
	_, missing := os.Lstat(own)
	var failed error
	found := s.watch(ctx, top, at, func(note journal.Event) { failed = errors.Join(failed, s.Append(note)) })
	if _, gone := os.Lstat(own); missing == nil && gone != nil {
		failed = errors.Join(failed, MovedAside(own))
	}
	settle = func() error {
		found()
		return failed
	}
	if failed != nil {
		return nil, settle()
	}
	return settle, nil
}

// reportNestedRepos settles other repositories in the user's folder that change until the
// returned function runs, because the user's own git may run their hooks.
func (s *trees) reportNestedRepos(ctx context.Context, emit emit) func() {
	if s.watchesNothing() {
		return func() {}
	}
	at, err := s.access(ctx, s.userFolder())
	outer := s.watched
	s.watched = func() (confine.Access, error) { return at, err }
	settle := s.watch(ctx, s.userFolder(), at, emit)
	return func() {
		s.watched = outer
		settle()
	}
}

// watchesNothing reports whether the agent can do all that the user can, or works in a clone of its own.
func (s *trees) watchesNothing() bool {
	return s.Sandbox == nil || s.trusted != nil && s.UserTree == nil
}

func (s *records) watch(ctx context.Context, top string, at confine.Access, emit emit) (settle func()) {
	tell := func(note journal.Event) {
		if s.isAborted() { // nothing is recorded any more
			s.Log(strings.TrimSpace(view.Line(s.Run(), note)))
		} else {
			emit(note)
		}
	}
	found := NestedRepos{s.Git, s.Sandbox, top, at, tell}.Watch(ctx)
	if ctx.Err() != nil {
		return func() {} // nothing runs any more, and the search is incomplete
	}
	return func() {
		ctx := ctx
		if ctx.Err() != nil || s.isAborted() { // agents worked until now
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), finalSaveTimeout)
			defer cancel()
		}
		found(ctx)
	}
}

// NestedRepos are repositories where the sandbox may write.
type NestedRepos struct {
	Git     git.Git
	Sandbox *confine.Sandbox
	Top     string
	Access  confine.Access
	Tell    func(journal.Event) // is given notes for people
}

// Watch looks for them. The returned function looks again and moves aside what git would run or
// follow of new and changed ones.
func (n NestedRepos) Watch(ctx context.Context) (settle func(context.Context)) {
	needs := guarded.Needs{Write: slices.Concat(n.Access.Write, n.Sandbox.AgentPaths()), ReadOnly: n.Access.ReadOnly, Guarded: n.Access.Guarded}
	n.Git.Run = new(process.Runner).Run // also once the user has ended what runs
	early, found := nested.Watch(ctx, n.Git, n.Top, needs, n.Sandbox.Marks())
	note := func(moved []string, err error) {
		for _, note := range confine.SearchNotes("the agent", moved, err) {
			n.Tell(note)
		}
	}
	note(early, nil)
	return func(ctx context.Context) { note(found(ctx)) }
}
