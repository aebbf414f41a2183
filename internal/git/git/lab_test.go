package git_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/box/handover"
	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/remote"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/testsupport/gittest"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
)

// lab has a remote with a base, ralph's mirror of it, and an agent's tree.
type lab struct {
	*testing.T
	git     git.Git
	seen    *record
	remote  string
	trusted *git.Trusted
	tree    *git.Tree
	base    string
}

// record keeps every command that was run.
type record struct {
	mu   sync.Mutex
	argv [][]string
	env  [][]string
	stop string // a command with this argument does not run
}

func (r *record) run(ctx context.Context, c process.Command) (process.Result, error) {
	r.mu.Lock()
	r.argv, r.env = append(r.argv, c.Argv), append(r.env, c.Env)
	r.mu.Unlock()
	if r.stop != "" && slices.Contains(c.Argv, r.stop) {
		return process.Result{}, errors.New("killed")
	}
	return new(process.Runner).Run(ctx, c)
}

func newGit(t *testing.T) (git.Git, *record) {
	t.Helper()
	seen := &record{}
	return git.Git{Run: seen.run, Path: os.Getenv("PATH"), Home: t.TempDir()}, seen
}

func newLab(t *testing.T) *lab {
	t.Helper()
	l := &lab{T: t, remote: filepath.Join(t.TempDir(), "remote.git")}
	l.git, l.seen = newGit(t)
	sh(t, ".", "", "cp", "-a", filepath.Join(must.Get(origin())(t), "remote.git"), l.remote)
	l.base = sh(t, l.remote, "", "git", "rev-parse", "main")
	l.trusted = must.Get((remote.Repository{URL: l.remote}).Clone(t.Context(), l.git, filepath.Join(t.TempDir(), "trusted.git"), remote.Branches{Base: "main", Work: []string{"work"}}))(t)
	l.tree = must.Get(l.trusted.Clone(t.Context(), git.CloneSpec{Dir: filepath.Join(t.TempDir(), "tree"), Branch: "work", SHA: l.base, Exclude: []string{"/memory/"}}))(t)
	return l
}

// origin is the folder with the remote that each lab copies.
var origin = sync.OnceValues(func() (dir string, err error) {
	dir, err = os.MkdirTemp("", "origin-")
	if err != nil {
		return "", err
	}
	script := `git init -q --bare -b main remote.git && git init -q -b main work && cd work
		mkdir -p src .github/workflows
		echo '# a project' >README.md && echo 'package main' >src/main.go && echo '* @owner' >CODEOWNERS
		echo 'on: push' >.github/workflows/ci.yml && echo '*.log' >.gitignore && echo '*.png binary' >.gitattributes
		git add -A && git commit -q -m begin && git push -q ../remote.git main`
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir = dir
	cmd.Env = gittest.Environment(dir)
	return dir, cmd.Run()
})

var (
	sh    = gittest.Sh
	write = gittest.Write
	read  = gittest.Read
)

// program is the committer of ralph's own commits. Honest agents use their tree's configuration.
const program = "ralph <ralph-loop@users.noreply.github.com>"

// sh runs a program as a person or an agent would, and returns its output.
func (l *lab) sh(dir string, argv ...string) string {
	l.Helper()
	return sh(l.T, dir, "", argv...)
}

// agent runs git in the tree as the agent.
func (l *lab) agent(args ...string) string {
	l.Helper()
	return l.sh(l.tree.Dir, append([]string{"git"}, args...)...)
}

// commit commits some files as the agent; an empty text deletes a file.
func (l *lab) commit(subject string, files map[string]string) string {
	l.Helper()
	for name, text := range files {
		if text == "" {
			l.agent("rm", "-q", name)
			continue
		}
		write(l.T, filepath.Join(l.tree.Dir, name), text)
		l.agent("add", "-f", name)
	}
	l.agent("commit", "-q", "--allow-empty", "-m", subject)
	return l.agent("rev-parse", "HEAD")
}

func (l *lab) terms() handover.Terms {
	return handover.Terms{Base: l.base, Last: l.base, Protect: []string{".github/**", "CODEOWNERS"}, Timeout: time.Minute}
}

func (l *lab) take(terms handover.Terms) journal.CommitsTaken {
	l.Helper()
	taken, err := handover.Take(l.Context(), l.trusted, l.tree, nil, terms)
	if err != nil {
		l.Fatalf("Take: %v", err)
	}
	if _, err := os.Stat(filepath.Join(l.trusted.Dir, "quarantine")); err == nil {
		l.Error("a quarantine was left behind")
	}
	return taken
}

// in runs git in the trusted repository.
func (l *lab) in(args ...string) string {
	l.Helper()
	return l.sh(l.trusted.Dir, append([]string{"git"}, args...)...)
}

// has reports whether the trusted repository contains an object.
func (l *lab) has(id string) bool {
	return exec.CommandContext(l.Context(), "git", "-C", l.trusted.Dir, "cat-file", "-e", id).Run() == nil
}

// borrowed returns a repository that borrows from a project to which others write, and the project's last commit.
func borrowed(t *testing.T, g git.Git, top string) (*git.Trusted, git.Span) {
	t.Helper()
	place := must.Get(g.Inspect(t.Context(), top))(t)
	trusted := must.Get(g.Borrow(t.Context(), place, t.TempDir()))(t)
	return trusted, git.Span{From: sh(t, top, "", "git", "rev-parse", "HEAD~1"), To: place.Head}
}
