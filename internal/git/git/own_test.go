package git_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
)

// project returns a user's repository with one commit.
func project(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a"), "1")
	sh(t, dir, "", "git", "init", "-q", "-b", "trunk")
	sh(t, dir, "", "git", "add", "-A")
	sh(t, dir, "", "git", "commit", "-q", "-m", "begin")
	return dir
}

func own(t *testing.T, g git.Git, dir string) *git.Tree {
	t.Helper()
	return must.Get(g.Own(t.Context(), must.Get(g.Inspect(t.Context(), dir))(t)))(t)
}

// In their own tree, users commit under the name in any of their configurations,
// and without files that they ignore.
func TestOwnIsTheUsers(t *testing.T) {
	config := "[user]\n\tname = Ada\n\temail = ada@example.com\n"
	for name, c := range map[string]struct {
		home  map[string]string
		local []string // of git config
		who   string
	}{
		"home": {
			home: map[string]string{".gitconfig": config + "[core]\n\texcludesFile = ~/mine\n", "mine": "*.idea\n"},
			who:  "Ada <ada@example.com>",
		},
		"the repository first": {
			home:  map[string]string{".gitconfig": config, ".config/git/ignore": "*.idea\n"},
			local: []string{"user.email", "ada@work.example"}, who: "Ada <ada@work.example>",
		},
		"no author": {
			home: map[string]string{".config/git/ignore": "*.idea\n"},
			who:  "ralph <ralph-loop@users.noreply.github.com>",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g, _ := newGit(t)
			dir, home := project(t), t.TempDir()
			for name, text := range c.home {
				write(t, filepath.Join(home, name), text)
			}
			if c.local != nil {
				sh(t, dir, "", append([]string{"git", "config"}, c.local...)...)
			}
			g.User = []string{"HOME=" + home}
			tree := own(t, g, dir)
			before := must.Get(tree.Look(t.Context()))(t).Work
			write(t, filepath.Join(dir, "x.idea"), "ignored")
			if s := must.Get(tree.Inspect(t.Context()))(t); s.Dirty {
				t.Error("what is ignored makes it dirty")
			}
			if after := must.Get(tree.Look(t.Context()))(t).Work; after != before {
				t.Error("what is ignored is in the snapshot")
			}
			write(t, filepath.Join(dir, "b.go"), "1")
			must.Get(must.Get(tree.Inspect(t.Context()))(t).CommitAll(t.Context(), git.Message{Subject: "work"}))(t)
			want := c.who + "\n\nb.go"
			if diff := cmp.Diff(want, sh(t, dir, "", "git", "show", "--format=%an <%ae>", "--name-only")); diff != "" {
				t.Errorf("the commit (-want +got):\n%s", diff)
			}
		})
	}
}

// A linked worktree works like any other, even with locks of a killed git.
func TestOwnLinkedWorktree(t *testing.T) {
	g, _ := newGit(t)
	dir, linked := project(t), filepath.Join(t.TempDir(), "linked")
	sh(t, dir, "", "git", "worktree", "add", "-q", "-b", "side", linked)
	tree := own(t, g, linked)
	write(t, filepath.Join(linked, "b"), "1")
	must.Get(tree.Look(t.Context()))(t)
	for _, lock := range []string{"worktrees/linked/index.lock", "worktrees/linked/HEAD.lock", "refs/heads/side.lock"} {
		write(t, filepath.Join(dir, ".git", lock), "")
	}
	sha := must.Get(must.Get(tree.Inspect(t.Context()))(t).CommitAll(t.Context(), git.Message{Subject: "work"}))(t)
	if head := sh(t, dir, "", "git", "rev-parse", "side"); head != sha {
		t.Errorf("side stands at %s, want %s", head, sha)
	}
	for _, at := range []string{dir, linked} {
		if s := sh(t, at, "", "git", "status", "--porcelain"); s != "" {
			t.Errorf("status of %s = %q", at, s)
		}
	}
}

// An agent cannot redirect ralph's git by a file in place of .git.
func TestTreeFollowsNoFile(t *testing.T) {
	l := newLab(t)
	elsewhere := project(t)
	git := filepath.Join(l.tree.Dir, ".git")
	must.Do(t, os.RemoveAll(git))
	write(t, git, "gitdir: "+filepath.Join(elsewhere, ".git")+"\n")
	if head, err := l.tree.Head(t.Context()); err == nil {
		t.Errorf("Head = %s", head)
	}
	if got := l.take(l.terms()); len(got.Refused) == 0 {
		t.Errorf("Take = %+v, want refused", got)
	}
}
