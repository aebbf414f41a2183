// Package nested watches version control folders in a project that are not the
// project's own. One that a command made is moved aside, unless it is a worktree
// or submodule of the project. What a command changed in another stays only as
// git makes it, because git runs or follows it later, outside of the sandbox.
package nested

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/git/guarded"
	"github.com/ralph-loop/ralph/internal/pattern"
	"github.com/ralph-loop/ralph/internal/process"
	"github.com/ralph-loop/ralph/internal/untrusted"
)

// Settle searches again, moves aside what may not stay, and returns the new paths.
type Settle = func(context.Context) (moved []string, err error)

// Watch searches for version control folders in the tree at top and in the git folders to which
// commands in it write. Until Settle ends, a file in marks, where no command can write, keeps the
// result: if ralph is killed, the next Watch moves aside what may not stay, and returns it as early.
func Watch(ctx context.Context, tool git.Git, top string, needs guarded.Needs, marks string) (early []string, settle Settle) {
	searches := searches(tool, untrusted.Place(top), needs)
	var unmarked error
	for i := range searches {
		names, failed := searches[i].begin(ctx, marks)
		early, unmarked = append(early, searches[i].named(i, names)...), errors.Join(unmarked, failed)
	}
	if ctx.Err() != nil { // of what was not seen, the user's own would count as new
		for _, search := range searches {
			_ = search.mark.Close(!search.stood)
		}
		return early, func(context.Context) ([]string, error) { return nil, ErrNotAll }
	}
	ignore(ctx, tool, searches[0].top, early)
	return early, func(ctx context.Context) ([]string, error) {
		moved, err := settleAll(ctx, searches)
		ignore(ctx, tool, searches[0].top, moved)
		return moved, errors.Join(unmarked, err)
	}
}

// ignore keeps what was moved out of commits. It fails in a folder without a repository.
func ignore(ctx context.Context, tool git.Git, top string, moved []string) {
	if len(moved) > 0 {
		ctx, cancel := context.WithTimeout(ctx, forGit)
		defer cancel()
		_ = tool.Exclude(ctx, git.Place{Top: top}, "*"+Aside)
	}
}

func settleAll(ctx context.Context, searches []search) (moved []string, err error) {
	for i, search := range searches {
		names, all, failed := search.settle(ctx)
		failed = errors.Join(failed, search.mark.Close(all || search.before.End != ""))
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", search.name(), failed))
		}
		moved = append(moved, search.named(i, names)...)
	}
	return moved, err
}

// named returns paths as the user knows them.
func (s search) named(number int, names []string) []string {
	for i, name := range names {
		if number > 0 { // outside of the reader's folder
			names[i] = filepath.Join(s.top, name)
		}
	}
	return names
}

func searches(tool git.Git, top string, needs guarded.Needs) []search {
	first := search{git: tool, top: top, start: ".", write: needs.Write, kept: map[string]bool{}, links: new(untrusted.Patience)}
	for _, path := range needs.Kept() {
		first.kept[filepath.Join(untrusted.Place(filepath.Dir(path)), filepath.Base(path))] = true
	}
	all := []search{first}
	for _, dir := range needs.Write {
		dir = untrusted.Place(dir)
		if !slices.ContainsFunc(all, func(s search) bool { return s.holds(dir) }) {
			other := first
			other.top, other.start = filepath.Dir(dir), filepath.Base(dir)
			all = append(all, other)
		}
	}
	return all
}

// forGit limits the time of git in each search after a command. What it did not read by then is moved.
const forGit = 30 * time.Second

const (
	mostListed = 512 << 20
	longest    = 1 << 20 // of a name in an index; no kernel opens a path of such a length
)

func (s search) onIndex(index string, args ...string) git.Call {
	return git.Call{
		Args: args, Dir: s.top, Limit: mostListed, Memory: git.MaxMemory,
		Env: []string{"GIT_DIR=" + filepath.Dir(index), "GIT_WORK_TREE=" + s.top, "GIT_INDEX_FILE=" + index},
	}
}

// lists reports whether an index has only names in its tree and in no git folder. git does not check
// the names that it reads there, and git checkout would write these files.
func (s search) lists(ctx context.Context, index string) bool {
	escapes := false
	names := &process.Lines{Max: longest, NUL: true, Each: func(name []byte, cut bool) {
		escapes = escapes || cut || guarded.Escapes(string(name))
	}}
	call := s.onIndex(index, "ls-files", "-z")
	call.Stdout = names
	_, err := s.git.Do(ctx, call)
	return errors.Join(err, names.Close()) == nil && !escapes
}

// isOwnIndex reports whether an index is of the user's own repository.
func (s search) isOwnIndex(name string) bool {
	return path.Base(name) == "index" && s.kept[filepath.Join(s.top, path.Dir(name))]
}

// renew makes a new index for the user's own repository from its HEAD, after one was moved aside.
func (s search) renew(ctx context.Context, moved string) {
	if s.isOwnIndex(moved) {
		ctx, cancel := context.WithTimeout(ctx, forGit)
		defer cancel()
		_ = s.git.RenewIndex(ctx, s.top, filepath.Join(s.top, path.Dir(moved))) // without a commit there is nothing to read
	}
}

var plainKey = pattern.Of(`^(?:core\.(?:repositoryformatversion|filemode|bare|logallrefupdates|worktree|ignorecase|precomposeunicode|symlinks|autocrlf|eol|sparsecheckout(?:cone)?)` +
	`|extensions\.(?:objectformat|refstorage|worktreeconfig)|remote\..+\.(?:url|pushurl|fetch|mirror|prune|tagopt)|branch\..+\.(?:remote|merge|rebase)` +
	`|submodule\..+\.(?:url|active|branch)|user\.(?:name|email)|init\.defaultbranch|pull\.(?:rebase|ff)|push\.default|advice\..+)$`)

// plain reports whether a configuration has only plain settings. Only a submodule of the project may name its work tree.
func (s search) plain(ctx context.Context, folder string, config []byte) bool {
	list, err := s.git.Do(ctx, git.Call{Args: []string{"config", "--file", "-", "--list", "-z"}, Dir: s.git.Home, Stdin: bytes.NewReader(config), Memory: git.MaxMemory})
	for setting := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		key, value, _ := strings.Cut(setting, "\n")
		elsewhere := key == "extensions.refstorage" && strings.Contains(value, "://") // git would write refs there
		if elsewhere || key != "" && !plainKey.MatchString(key) || key == "core.worktree" && !s.worksIn(folder, guarded.Worktree(folder, value)) {
			return false
		}
	}
	return err == nil
}

func (s search) worksIn(folder, tree string) bool {
	return s.isModule(folder) && s.isLed(folder) && tree == s.tree(folder)
}

// isLed reports whether the work tree of a worktree or submodule leads back to its git folder. None does once
// following paths took too long.
func (s search) isLed(folder string) (led bool) {
	s.links.Spend(func() {
		tree := s.tree(folder)
		text, err := untrusted.ReadFile(filepath.Join(tree, ".git"), 1<<12)
		led = err == nil && tree != "" && guarded.Leads(text, tree) == folder
	})
	return led
}

// tree returns the work tree that the git folder of a worktree or submodule names, or "". It does not
// run git, as agents can leave many such folders.
func (s search) tree(folder string) (tree string) {
	if s.isWorktree(folder) {
		if text, err := untrusted.ReadFile(filepath.Join(folder, "gitdir"), 1<<12); err == nil {
			tree = filepath.Dir(guarded.Absolute(guarded.Line(text), folder))
		}
		return tree
	}
	config, _ := untrusted.ReadFile(filepath.Join(folder, "config"), mostNested) // without one it names none
	for line := range strings.Lines(string(config)) {
		key, value, _ := strings.Cut(line, "=")
		if strings.EqualFold(strings.TrimSpace(key), "worktree") {
			value = strings.TrimSpace(value)
			if plain, err := strconv.Unquote(value); err == nil {
				value = plain
			}
			tree = guarded.Worktree(folder, value)
		}
	}
	if !s.isWork(tree) {
		return ""
	}
	return tree
}

// isWork reports whether a folder is in the tree and in no git folder.
func (s search) isWork(dir string) bool {
	return within(s.top, dir) && !slices.Contains(strings.Split(strings.TrimPrefix(dir, s.top), "/"), ".git")
}

// isModule looks up only folders that hold one of modules: each may have a long path, and many above it. What was moved
// aside is none: nothing guards it.
func (s search) isModule(folder string) bool {
	way := strings.Split(folder, "/")
	end := 0 // of the path to the names so far
	for i, name := range way {
		ofModules := name == "modules" && i+1 < len(way)
		ofWorktrees := name == "worktrees" && i+3 < len(way) && way[i+2] == "modules"
		if (ofModules || ofWorktrees) && s.kept[strings.TrimSuffix(folder[:end], "/")] {
			return !slices.ContainsFunc(way[i+1:], func(name string) bool { return strings.HasSuffix(name, Aside) })
		}
		end += len(name) + 1
	}
	return false
}

func (s search) isWorktree(folder string) bool {
	at := filepath.Dir(folder)
	return filepath.Base(at) == "worktrees" && s.kept[filepath.Dir(at)] && !strings.HasSuffix(folder, Aside)
}
