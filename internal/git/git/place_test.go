package git_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
)

func TestInspect(t *testing.T) {
	g, _ := newGit(t)
	dir := t.TempDir()
	sh(t, dir, "", "git", "init", "-q", "-b", "trunk")
	write(t, filepath.Join(dir, "sub/a.txt"), "1")
	write(t, filepath.Join(dir, ".gitignore"), "*.log\n")
	sh(t, dir, "", "git", "add", "-A")
	sh(t, dir, "", "git", "commit", "-q", "-m", "begin")
	sh(t, dir, "", "git", "remote", "add", "origin", "https://example.com/x")
	sh(t, dir, "", "git", "remote", "add", "other", "https://example.com/y")
	clean := must.Get(g.Inspect(t.Context(), filepath.Join(dir, "sub")))(t)
	want := git.Place{Top: dir, Head: sh(t, dir, "", "git", "rev-parse", "HEAD"), Branch: "trunk", Remote: "origin"}
	if diff := cmp.Diff(want, clean, cmpopts.IgnoreUnexported(git.Place{})); diff != "" {
		t.Errorf("Inspect (-want +got):\n%s", diff)
	}
	if err := clean.Clean(); err != nil {
		t.Errorf("Clean = %v", err)
	}
	for _, name := range []string{"sub/a.txt", "b", "c", "new/d", "x.log", ".ralph/runs/1", ".ralph-active", "mine.idea"} {
		write(t, filepath.Join(dir, name), "2")
	}
	config := t.TempDir()
	write(t, filepath.Join(config, "git/ignore"), "*.idea\n")
	g.User = []string{"XDG_CONFIG_HOME=" + config}
	dirty := must.Get(g.Inspect(t.Context(), dir))(t)
	if diff := cmp.Diff([]string{"sub/a.txt", "b", "c", "new/"}, dirty.Dirty); diff != "" {
		t.Errorf("Dirty (-want +got):\n%s", diff)
	}
	err := dirty.Clean()
	if got, want := fmt.Sprint(err), "uncommitted changes in "+dir+": sub/a.txt, b, c, new/"; got != want || fault.Exit(err) != fault.ExitUsage {
		t.Errorf("Clean = %q, want %q", got, want)
	}
}

func TestInspectFaults(t *testing.T) {
	commit := "commit -q --allow-empty -m x"
	for name, c := range map[string]struct {
		script    []string // of git
		at        string
		what, fix string
	}{
		"missing":       {nil, "none", "no such folder: ", "-d"},
		"a file":        {nil, "file", "not a folder: ", "-d"},
		"no repository": {nil, "", "not a git repository: ", "git init"},
		"bad settings":  {[]string{"init -q", "config core.repositoryformatversion 9"}, "", "git cannot read the repository in ", "git status"},
		"bad value":     {[]string{"init -q -b x", commit, "config core.bare x"}, "", "git cannot read the repository in ", "git status"},
		"bad HEAD":      {[]string{"init -q -b x", commit, "archive -o .git/HEAD x"}, "", "git cannot read the repository in ", "git status"},
		"no commit":     {[]string{"init -q"}, "", "no commit yet in ", "git commit"},
		"bare":          {[]string{"init -q --bare"}, "", "no work tree: ", "-d"},
		"in .git":       {[]string{"init -q", commit}, ".git", "no work tree: ", "-d"},
		"no branch":     {[]string{"init -q", commit, "switch -q --detach"}, "", "no branch is checked out in ", "git switch"},
	} {
		t.Run(name, func(t *testing.T) {
			g, _ := newGit(t)
			dir := t.TempDir()
			write(t, filepath.Join(dir, "file"), "")
			for _, line := range c.script {
				sh(t, dir, "", append([]string{"git"}, strings.Fields(line)...)...)
			}
			dir = filepath.Join(dir, c.at)
			_, err := g.Inspect(t.Context(), dir)
			var f *fault.Fault
			if !errors.As(err, &f) || !strings.Contains(f.What, c.what) || !strings.Contains(f.What, dir) || !strings.Contains(f.Fix, c.fix) {
				t.Errorf("Inspect = %v (hint %q), want %s%s (hint with %s)", err, fault.Hint(err), c.what, dir, c.fix)
			}
		})
	}
}

func TestVersion(t *testing.T) {
	g, _ := newGit(t)
	if v, err := g.Version(t.Context()); err != nil || !strings.Contains(v, ".") {
		t.Errorf("Version = %q, %v", v, err)
	}
	g.Path = t.TempDir()
	if _, err := g.Version(t.Context()); fault.Hint(err) != "install git 2.38 or later and see that it is on PATH" {
		t.Errorf("without git Version = %v", err)
	}
}
