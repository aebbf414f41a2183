package git_test

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/remote"
)

const shelf = "refs/ralph/issue-7"

// store returns a repository for deposits, as on a new machine.
func store(t *testing.T, l *lab) *git.Trusted {
	t.Helper()
	made, err := l.git.Init(t.Context(), filepath.Join(t.TempDir(), "store.git"), "sha1")
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// One machine collects the deposits of another, and each deposit is a child of the
// one before.
func TestDepositsAreCollected(t *testing.T) {
	l := newLab(t)
	to, first, second := remote.Repository{URL: l.remote}, store(t, l), store(t, l)
	if at, err := to.FetchRef(t.Context(), second, shelf); at != "" || err != nil {
		t.Fatalf("before anything was there Collect = %q, %v", at, err)
	}
	put := remote.Files{Ref: shelf, Files: map[string][]byte{"journal.jsonl": []byte("one\n"), "old": {}}, Subject: "begun", At: time.Unix(1, 0)}
	one, err := to.PushFiles(t.Context(), first, put)
	if err != nil {
		t.Fatal(err)
	}
	put.Parent, put.Files, put.Subject = one, map[string][]byte{"journal.jsonl": []byte("one\ntwo \x00\n"), "prompt_1.md": []byte("no line end")}, "a\nline break"
	two, err := to.PushFiles(t.Context(), first, put)
	if err != nil {
		t.Fatal(err)
	}
	at, err := to.FetchRef(t.Context(), second, shelf)
	if err != nil || at != two {
		t.Fatalf("Collect = %q, %v, want %s", at, err, two)
	}
	got := map[string]string{}
	files, err := remote.ReadFiles(t.Context(), second, at)
	for name, text := range files {
		got[name] = string(text)
	}
	want := map[string]string{"journal.jsonl": "one\ntwo \x00\n", "prompt_1.md": "no line end"}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("what was kept (-want +got), %v:\n%s", err, diff)
	}
	if says := l.sh(l.remote, "git", "log", "--format=%H %an %s", shelf); says != two+" ralph a line break\n"+one+" ralph begun" {
		t.Errorf("the ref's history is %q", says)
	}
	for older, want := range map[string]bool{one: true, two: true, l.base: false, "0123456789012345678901234567890123456789": false} {
		if is, err := second.IsAncestor(t.Context(), older, two); is != want || err != nil {
			t.Errorf("Follows(%s) = %t, %v, want %t", older, is, err, want)
		}
	}
}

// Of two simultaneous deposits, the second fails and changes nothing.
func TestDepositsDoNotGoOverEachOther(t *testing.T) {
	l := newLab(t)
	to, first, second := remote.Repository{URL: l.remote}, store(t, l), store(t, l)
	put := remote.Files{Ref: shelf, Files: map[string][]byte{"journal.jsonl": []byte("first")}, Subject: "first", At: time.Unix(1, 0)}
	one, err := to.PushFiles(t.Context(), first, put)
	if err != nil {
		t.Fatal(err)
	}
	put.Files, put.Subject = map[string][]byte{"journal.jsonl": []byte("second")}, "second"
	if _, err := to.PushFiles(t.Context(), second, put); !errors.Is(err, remote.ErrNonFastForward) {
		t.Errorf("a second one at the beginning: %v", err)
	}
	if _, err := to.FetchRef(t.Context(), second, shelf); err != nil {
		t.Fatal(err)
	}
	put.Parent = one
	two, err := to.PushFiles(t.Context(), second, put)
	if err != nil {
		t.Fatal(err)
	}
	put.Subject = "too late"
	if _, err := to.PushFiles(t.Context(), first, put); !errors.Is(err, remote.ErrNonFastForward) {
		t.Errorf("onto what is no longer there: %v", err)
	}
	if stands := l.sh(l.remote, "git", "rev-parse", shelf); stands != two {
		t.Errorf("the ref stands at %s, want %s", stands, two)
	}
}

func TestDepositsGoNowhereElse(t *testing.T) {
	l := newLab(t)
	to, s := remote.Repository{URL: l.remote}, store(t, l)
	for name, put := range map[string]remote.Files{
		"a branch":             {Ref: "refs/heads/main"},
		"a folder above":       {Ref: "refs/ralph/../heads/main"},
		"an option":            {Ref: shelf, Files: map[string][]byte{"-x": nil}},
		"a path":               {Ref: shelf, Files: map[string][]byte{"a/b": nil}},
		"a line of the stream": {Ref: shelf, Files: map[string][]byte{"a\nfrom x": nil}},
		"onto no commit":       {Ref: shelf, Parent: "main"},
	} {
		if _, err := to.PushFiles(t.Context(), s, put); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if at, err := to.FetchRef(t.Context(), s, "refs/heads/main"); err == nil {
		t.Errorf("Collect of a branch = %q", at)
	}
	if refs := l.sh(l.remote, "git", "for-each-ref", "--format=%(refname)", "refs/ralph"); refs != "" {
		t.Errorf("there is %q", refs)
	}
}
