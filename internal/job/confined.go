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
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/git/guarded"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/sandbox"
	"github.com/ralph-loop/ralph/internal/untrusted"
)

type confined struct {
	Machine
	Code
	*programRepo
}

func (s *activeRun) confined() confined { return confined{s.Machine, s.Code, s.programRepo} }

func (c confined) commandRunner(dir string) sandbox.Exec {
	if c.Sandbox == nil {
		return c.Exec
	}
	return c.Sandbox.Around(c.access(dir))
}

func (c confined) access(dir string) confine.Access {
	at := confine.Access{Write: []string{dir}}
	if c.trusted != nil {
		at.Read = c.trusted.Lent()
	}
	switch {
	case c.UserTree != nil && dir == c.UserTree.Dir:
		needs := c.UserTree.Needs()
		at.Write, at.Read = append(at.Write, needs.Write...), append(at.Read, needs.Read...)
		// Commits go to the user's own object store.
		at.Read = slices.DeleteFunc(at.Read, func(path string) bool {
			return slices.ContainsFunc(at.Write, func(dir string) bool { return confine.Under(dir, path) })
		})
		at.ReadOnly, at.Guarded = needs.ReadOnly, needs.Guarded
		c.protectProgramFiles(&at)
	case c.UserTree == nil && dir == c.Dir:
		needs := guarded.Folder(dir)
		at.ReadOnly, at.Guarded = needs.ReadOnly, needs.Guarded
		c.protectProgramFiles(&at)
	}
	return at
}

// protectProgramFiles makes ralph's files in the user's folder read-only for the
// sandbox: the run's records and the settings of the next run. Where mounts cannot
// protect the records, the journal repairs itself.
func (c confined) protectProgramFiles(at *confine.Access) {
	top := filepath.Dir(c.Folder.Path)
	at.Ours = []string{c.Folder.Path}
	at.Keep(top)
	if c.SettingsDir != "" && c.SettingsDir != top {
		at.Keep(c.SettingsDir)
	}
}

// gitRunner runs git as the sandbox's user and without a network. nil: as everywhere else.
func (c confined) gitRunner(dir string) git.Run {
	if c.Sandbox == nil {
		return nil
	}
	read := []string{c.Git.Home}
	if c.trusted != nil {
		read = append(read, c.trusted.Lent()...)
	}
	return git.Run(c.Sandbox.Around(confine.Access{Write: []string{dir}, Read: read, Alone: true}))
}

func (c confined) makeEmptyDir(ctx context.Context, dir string) error {
	if err := errors.Join(untrusted.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return fmt.Errorf("clear %s: %w", dir, err)
	}
	return c.Sandbox.Lend(ctx, dir, ".")
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

// reportNestedRepos finds other repositories in the user's folder that change until the
// returned function runs, because the user's own git may run their hooks. It disarms and
// reports each of them.
func (c confined) reportNestedRepos(ctx context.Context, emit emit) func() {
	if c.Sandbox == nil || c.trusted != nil && c.UserTree == nil {
		return func() {}
	}
	top := c.Dir
	if c.UserTree != nil {
		top = c.UserTree.Dir
	}
	news := WatchNestedRepos(ctx, c.Git, top, c.access(top))
	if ctx.Err() != nil {
		return func() {} // nothing runs any more, and the search is incomplete
	}
	return func() {
		ctx := ctx
		if ctx.Err() != nil { // agents worked until now
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), finalSaveTimeout)
			defer cancel()
		}
		for _, noted := range news(ctx) {
			emit(noted)
		}
	}
}

// WatchNestedRepos looks for repositories in the tree at top and in the git folders that
// the sandbox may write to. The returned function looks again, removes new pipes, moves aside
// what git would run in repositories that are new or changed, and returns notes for people.
func WatchNestedRepos(ctx context.Context, tool git.Git, top string, at confine.Access) func(context.Context) []journal.Noted {
	where := guarded.Searches(top, at.Write, tool.Includes(context.WithoutCancel(ctx)))
	before := make([]guarded.Found, len(where))
	for i, search := range where {
		before[i] = search.Look(ctx)
	}
	return func(ctx context.Context) (news []journal.Noted) {
		for i, search := range where {
			now := search.Look(ctx)
			search.RemovePipes(now.Pipes.Since(before[i].Pipes))
			news = append(news, disarmRepos(ctx, tool, search, now.Since(before[i].Nested))...)
			news = append(news, disarmIndexes(ctx, tool, search, now.Indexes.Since(before[i].Indexes))...)
		}
		return news
	}
}

func disarmRepos(ctx context.Context, tool git.Git, where guarded.Search, names []string) (news []journal.Noted) {
	if i := slices.Index(names, guarded.NotAll); i >= 0 {
		names = slices.Delete(names, i, i+1)
		news = append(news, journal.Noted{
			What: "not all of " + where.Name() + " could be searched for repositories that were made inside: it has too many entries, or the time was up",
			Hint: "look for folders with a .git or a HEAD in it before you run git in them",
		})
	}
	if len(names) == 0 {
		return news
	}
	moved, err := tool.Disarm(ctx, where, names)
	if !where.All { // outside of the reader's folder
		moved, names = joinAll(where.Top, moved), joinAll(where.Top, names)
	}
	for i, name := range names {
		names[i] = strings.TrimSuffix(name, "/.git")
	}
	names = slices.Compact(names)
	if len(moved) > 0 {
		news = append(news, journal.Noted{
			What: "moved aside what git would run in a repository that the agent made or changed: " + journal.ShortList(moved),
			Hint: "inspect it; to restore it, remove " + guarded.Aside + " from its name",
		})
	}
	if err != nil {
		news = append(news, journal.Noted{What: "could not move aside all that git would run in a nested repository: " + err.Error()})
	}
	return append(news, journal.Noted{
		What: "the agent made or changed a nested repository: " + journal.ShortList(names), Hint: "inspect its configuration and hooks before you run git there",
	})
}

func joinAll(dir string, names []string) (paths []string) {
	for _, name := range names {
		paths = append(paths, filepath.Join(dir, name))
	}
	return paths
}

func disarmIndexes(ctx context.Context, tool git.Git, where guarded.Search, names []string) (news []journal.Noted) {
	if len(names) == 0 {
		return nil
	}
	moved, err := tool.DisarmIndexes(ctx, where, names)
	if !where.All {
		moved = joinAll(where.Top, moved)
	}
	if len(moved) > 0 {
		news = append(news, journal.Noted{
			What: "moved aside an index with names outside of the project or in a git folder, which git checkout would write: " + journal.ShortList(moved),
			Hint: "stage again what you had staged",
		})
	}
	if err != nil {
		news = append(news, journal.Noted{What: "not every index that was changed inside could be looked at or moved aside: " + err.Error(), Hint: "look at git ls-files before you run git checkout or git restore"})
	}
	return news
}
