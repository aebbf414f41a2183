package action_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/entry/action"
	"github.com/ralph-loop/ralph/internal/hub/github"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/show/view"
	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

// A push that came after the proof is seen before the pull request is made ready.
func TestReadyPullIsOfTheProvenHead(t *testing.T) {
	const branch, token = "ralph/issue-1-add-a-cart", "ghs_job"
	proven, later := strings.Repeat("a", 40), strings.Repeat("b", 40)
	heads := filepath.Join(t.TempDir(), "refs", "heads")
	push := func(name, sha string) {
		path := filepath.Join(heads, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(sha+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	push("main", strings.Repeat("0", 40))
	push(branch, proven)
	server := &githubtest.Server{Now: time.Now}
	server.AddRepo(githubtest.Repo{Owner: "octo", Name: "greeter", Dir: filepath.Dir(filepath.Dir(heads))})
	server.AddToken(token, githubtest.Token{
		Login: "ralph[bot]", Kind: githubtest.Job, Repos: []string{"octo/greeter"}, Permissions: githubtest.WriteAll(),
	})
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	client, err := github.Connect(github.Access{Owner: "octo", Repo: "greeter", BaseURL: server.URL + "/api/v3", Token: token})
	if err != nil {
		t.Fatal(err)
	}
	pulls, run := action.PullsOf(client), journal.Run{Branch: branch, BaseRef: "main", Head: proven}
	opened, err := pulls.OpenPull(t.Context(), run, view.Pull{Title: "Add a cart", Body: "It is missing."})
	if err != nil {
		t.Fatal(err)
	}
	run.Published.Pull = &opened

	// GitHub shows a push late.
	push(branch, later)
	asked := len(server.Requests())
	done := make(chan error)
	go func() { done <- pulls.ReadyPull(t.Context(), run) }()
	for len(server.Requests()) == asked {
		runtime.Gosched()
	}
	push(branch, proven)
	if err := <-done; err != nil {
		t.Errorf("with a head that GitHub shows late: %v", err)
	}
	if _, err := pulls.OpenPull(t.Context(), run, view.Pull{}); err != nil { // a draft again
		t.Fatal(err)
	}

	push(branch, later)
	err = pulls.ReadyPull(t.Context(), run)
	if want := "bbbbbbb was pushed to " + branch + " after aaaaaaa was proven"; err == nil || err.Error() != want ||
		!strings.Contains(fault.Hint(err), "/ralph resume") {
		t.Errorf("after a later push: %v (%s), want %s", err, fault.Hint(err), want)
	}
	if pull, _, err := client.FindPull(t.Context(), branch, opened.Number); err != nil || !pull.Draft {
		t.Errorf("the pull request is no draft any more (%v)", err)
	}

	push(branch, proven)
	if err := pulls.ReadyPull(t.Context(), run); err != nil {
		t.Errorf("at the proven head: %v", err)
	}
	if pull, _, err := client.FindPull(t.Context(), branch, opened.Number); err != nil || pull.Draft {
		t.Errorf("the pull request is a draft still (%v)", err)
	}
}
