package remote_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/remote"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/lib/redact"
	"github.com/ralph-loop/ralph/internal/testsupport/gittest"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
)

var run = gittest.Git

// ground is a remote with three commits on main, and a clone of it.
type ground struct {
	remote.Repository
	*git.Trusted
	git         git.Git
	first, head string
}

func newGround(t *testing.T) ground {
	t.Helper()
	origin := filepath.Join(t.TempDir(), "origin.git")
	run(t, t.TempDir(), "init", "-q", "--bare", "-b", "main", origin)
	work := t.TempDir()
	run(t, work, "init", "-q", "-b", "main")
	run(t, work, "commit", "-q", "--allow-empty", "-m", "one")
	run(t, work, "commit", "-q", "--allow-empty", "-m", "two")
	first := run(t, work, "rev-parse", "HEAD")
	run(t, work, "commit", "-q", "--allow-empty", "-m", "three")
	run(t, work, "tag", "-a", "-m", "v1", "v1")
	run(t, work, "push", "-q", origin, "main", "v1")
	g := ground{Repository: remote.Repository{URL: origin}, first: first, head: run(t, work, "rev-parse", "HEAD")}
	g.git = git.Git{Run: new(process.Runner).Run, Path: os.Getenv("PATH"), Home: t.TempDir()}
	var err error
	if g.Trusted, err = g.Repository.Clone(t.Context(), g.git, filepath.Join(t.TempDir(), "clone.git"), remote.Branches{Base: "main", Work: []string{"work"}}); err != nil {
		t.Fatal(err)
	}
	return g
}

// A branch is brought forward and never forced.
func TestPush(t *testing.T) {
	for name, test := range map[string]struct {
		at, was, to string // where the branch stands before, was known to stand, and is to be: HEAD or one before it
		want        error
	}{
		"a new branch":                          {to: "HEAD"},
		"forward":                               {at: "HEAD~1", to: "HEAD"},
		"where it stands already":               {at: "HEAD", to: "HEAD"},
		"back":                                  {at: "HEAD", to: "HEAD~1", want: remote.ErrNonFastForward},
		"back from where it was known to stand": {at: "HEAD", was: "HEAD", to: "HEAD~1", want: remote.ErrNonFastForward},
		"over a commit that a person dropped":   {at: "HEAD~2", was: "HEAD~1", to: "HEAD", want: remote.ErrNonFastForward},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGround(t)
			commit := func(name string) string {
				if name == "" {
					return ""
				}
				return run(t, g.URL, "rev-parse", name)
			}
			if test.at != "" {
				run(t, g.URL, "update-ref", "refs/heads/work", commit(test.at))
			}
			u := remote.Update{Branch: "work", SHA: commit(test.to), Was: commit(test.was)}
			if err := g.Push(t.Context(), g.Trusted, u); !errors.Is(err, test.want) {
				t.Fatalf("Push = %v, want %v", err, test.want)
			}
			if test.want != nil {
				return
			}
			if at := run(t, g.URL, "rev-parse", "refs/heads/work"); at != u.SHA {
				t.Errorf("the branch stands at %s, want %s", at, u.SHA)
			}
		})
	}
}

// Files are kept on a ref of ours, and of two who write at once one is refused.
func TestFilesOnARef(t *testing.T) {
	g := newGround(t)
	const ref = "refs/ralph/issue-7"
	files := map[string][]byte{"journal.jsonl": []byte("{}\n"), "prd.json": []byte("[]\n")}
	kept := remote.Files{Ref: ref, Files: files, Subject: "keep", At: time.Unix(1_700_000_000, 0)}
	first := must.Get(g.PushFiles(t.Context(), g.Trusted, kept))(t)
	kept.Subject = "another begins at the same time"
	if _, err := g.PushFiles(t.Context(), g.Trusted, kept); !errors.Is(err, remote.ErrNonFastForward) {
		t.Errorf("a second first commit: %v, want %v", err, remote.ErrNonFastForward)
	}
	kept.Parent, kept.Files = first, map[string][]byte{"journal.jsonl": []byte("{}\n{}\n \x00"), "log": []byte("no line end")}
	second := must.Get(g.PushFiles(t.Context(), g.Trusted, kept))(t)
	if at, err := g.FetchRef(t.Context(), g.Trusted, ref); err != nil || at != second {
		t.Errorf("FetchRef = %s, %v, want %s", at, err, second)
	}
	got, err := remote.ReadFiles(t.Context(), g.Trusted, second)
	if diff := cmp.Diff(kept.Files, got); diff != "" || err != nil {
		t.Errorf("ReadFiles: %v (-want +got):\n%s", err, diff)
	}
	run(t, g.URL, "update-ref", "refs/ralph/deep/er", g.head) // neither of these is ralph's
	run(t, g.URL, "update-ref", "refs/ralph/tree", run(t, g.URL, "rev-parse", g.head+"^{tree}"))
	elsewhere := must.Get(g.git.Init(t.Context(), filepath.Join(t.TempDir(), "elsewhere.git"), "sha1"))(t)
	all, err := g.FetchRefs(t.Context(), elsewhere)
	if diff := cmp.Diff([]remote.Ref{{Name: ref, Commit: second, At: kept.At.UTC()}}, all); diff != "" || err != nil {
		t.Errorf("FetchRefs: %v (-want +got):\n%s", err, diff)
	}
	if err := g.Repository.DeleteRef(t.Context(), g.Trusted, remote.Ref{Name: ref, Commit: first}); !errors.Is(err, remote.ErrNonFastForward) {
		t.Errorf("what has moved on is removed: %v", err)
	}
	if err := g.Repository.DeleteRef(t.Context(), g.Trusted, remote.Ref{Name: ref, Commit: second}); err != nil {
		t.Error(err)
	}
	if at, err := g.FetchRef(t.Context(), g.Trusted, ref); err != nil || at != "" {
		t.Errorf("after its removal FetchRef = %q, %v", at, err)
	}
}

func TestNamesThatAreNotOurs(t *testing.T) {
	g := newGround(t)
	for _, ref := range []string{"refs/heads/main", "refs/ralph/a/b", "refs/ralph/..", "refs/ralph/-x", "issue-7"} {
		if _, err := g.PushFiles(t.Context(), g.Trusted, remote.Files{Ref: ref}); err == nil {
			t.Errorf("PushFiles takes %q", ref)
		}
		if err := g.PushRef(t.Context(), g.Trusted, ref, g.head); err == nil {
			t.Errorf("PushRef takes %q", ref)
		}
		if err := g.Repository.DeleteRef(t.Context(), g.Trusted, remote.Ref{Name: ref}); err == nil {
			t.Errorf("DeleteRef takes %q", ref)
		}
		if at, err := g.FetchRef(t.Context(), g.Trusted, ref); err == nil {
			t.Errorf("FetchRef of %q = %q", ref, at)
		}
	}
	for _, name := range []string{"a/b", "..", "-x", "", "a b", "a\nfrom x"} {
		kept := remote.Files{Ref: "refs/ralph/issue-7", Files: map[string][]byte{name: nil}}
		if _, err := g.PushFiles(t.Context(), g.Trusted, kept); err == nil {
			t.Errorf("a file named %q is kept", name)
		}
	}
}

// A branch that stands in the way of the work's is told before anything is paid for.
func TestABranchInTheWay(t *testing.T) {
	g := newGround(t)
	want := remote.Branches{Base: "main", Work: []string{"ralph/issue-1/fix"}}
	clone := func() error {
		_, err := g.Repository.Clone(t.Context(), g.git, filepath.Join(t.TempDir(), "clone.git"), want)
		return err
	}
	must.Do(t, clone())
	for _, branch := range []string{"ralph", "ralph/issue-1/fix/it/well"} {
		run(t, g.URL, "update-ref", "refs/heads/"+branch, g.first)
		if err := clone(); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("has a branch %q", branch)) {
			t.Errorf("Clone = %v", err)
		}
		run(t, g.URL, "update-ref", "-d", "refs/heads/"+branch)
	}
}

// A tag stands for its commit, and no tag with the same end of its name does.
func TestTag(t *testing.T) {
	g := newGround(t)
	run(t, g.URL, "tag", "light", g.first)
	run(t, g.URL, "tag", "other/refs/tags/v2", g.first)
	for tag, want := range map[string]string{"v1": g.head, "light": g.first, "v2": ""} {
		if got, err := g.Tag(t.Context(), g.git, tag); err != nil || got != want {
			t.Errorf("Tag %s = %q, %v, want %q", tag, got, err, want)
		}
	}
}

// A commit that is on no branch any more can be fetched.
func TestFetch(t *testing.T) {
	g := newGround(t)
	lost := run(t, g.URL, "commit-tree", "-m", "lost", "-p", g.head, g.head+"^{tree}")
	if err := g.Fetch(t.Context(), g.Trusted, lost); err != nil {
		t.Error(err)
	}
	if at, err := g.Resolve(t.Context(), git.TakenRef); err != nil || at != lost {
		t.Errorf("the ref that keeps it is at %q, %v", at, err)
	}
	if g.Fetch(t.Context(), g.Trusted, strings.Repeat("1", 40)) == nil {
		t.Error("what is nowhere was fetched")
	}
}

// A bundle is a file that git fetches from as from a remote.
func TestBundle(t *testing.T) {
	g := newGround(t)
	var out bytes.Buffer
	must.Do(t, remote.Bundle(t.Context(), g.Trusted, &out, "work", git.Span{From: g.first, To: g.head}))
	dir := t.TempDir()
	path := filepath.Join(dir, "work.bundle")
	must.Do(t, os.WriteFile(path, out.Bytes(), 0o600))
	if got := run(t, g.URL, "bundle", "list-heads", path); got != g.head+" refs/heads/work" {
		t.Errorf("the bundle has %q", got)
	}
}

// What a remote cannot do is told by its kind, and no error shows the token.
func TestRemotesThatFail(t *testing.T) {
	g := newGround(t)
	for url, want := range map[string]string{
		"http://127.0.0.1:1/a/b.git":   "the remote cannot be reached",
		"https://me:word@example.com/": "the remote's address holds a credential",
		"ssh://example.com/a/b.git":    `remotes are reached by https, http or file, not "ssh"`,
		"ext::sh -c touch% x":          "remotes are reached by https, http or file",
	} {
		r := remote.Repository{URL: url, Token: "t0ken"}
		_, err := r.FetchRef(t.Context(), g.Trusted, "refs/ralph/issue-7")
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "t0ken") || strings.Contains(err.Error(), "word") {
			t.Errorf("%s: %v, want %s", url, err, want)
		}
	}
	if _, err := g.Repository.Clone(t.Context(), g.git, filepath.Join(t.TempDir(), "x.git"), remote.Branches{Base: "gone"}); !errors.Is(err, git.ErrNotFound) {
		t.Errorf("Clone of a branch that is gone = %v", err)
	}
	token := redact.Secret("t0ken")
	text, err := json.Marshal(map[string]any{"token": token})
	if said := fmt.Sprintf("%s %v %q %#v %s", token, token, token, token, text); err != nil || strings.Contains(said, "t0ken") {
		t.Errorf("a token is printed: %s, %v", said, err)
	}
}
