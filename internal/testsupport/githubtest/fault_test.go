package githubtest_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

func TestFaults(t *testing.T) {
	s := start(t)
	issue := s.AddIssue(shop, githubtest.Issue{Title: "t"}).Number
	c := client(t, s, jobToken)
	get := func() error { return last(c.Issues.Get(t.Context(), "acme", "shop", issue)) }
	comment := func() error {
		return last(c.Issues.CreateComment(t.Context(), "acme", "shop", issue, &github.IssueComment{Body: new("once")}))
	}

	s.Inject(githubtest.ServerError(http.StatusInternalServerError))
	if status, _ := refused(t, get()); status != 500 {
		t.Errorf("status = %d, want 500", status)
	}
	want(t, get(), "")

	gateway := githubtest.BadGateway()
	gateway.Skip, gateway.Times, gateway.Method, gateway.Path = 1, 2, "GET", "/repos/*/*/issues/*"
	s.Inject(gateway)
	want(t, comment(), "")
	want(t, get(), "")
	want(t, get(), "502")
	want(t, get(), "502")
	want(t, get(), "")

	s.Inject(githubtest.SecondaryLimit(7 * time.Second))
	var abuse *github.AbuseRateLimitError
	if err := comment(); !errors.As(err, &abuse) || abuse.GetRetryAfter() != 7*time.Second {
		t.Errorf("err = %v, want to be told to wait 7 s", err)
	}
	// The client waits by itself from now on; a new one does not know.
	c = client(t, s, jobToken)

	lost := githubtest.BadGateway()
	lost.Done, lost.Method = true, "POST"
	s.Inject(lost)
	before := len(s.Comments(shop, issue))
	want(t, comment(), "502")
	if got := len(s.Comments(shop, issue)); got != before+1 {
		t.Errorf("%d comments after a lost answer, want %d", got, before+1)
	}

	s.Inject(githubtest.Fault{CutAfter: 20})
	want(t, get(), "unexpected EOF")
	s.Inject(githubtest.Fault{Times: -1, Match: func(r *http.Request) bool { return r.Header.Get("Authorization") != "" }, Status: 401})
	want(t, get(), "401")
	want(t, get(), "401")
	s.Heal()
	want(t, get(), "")
}

// A stalled answer ends with the client's patience, or with the server.
func TestStall(t *testing.T) {
	s := start(t)
	s.AddIssue(shop, githubtest.Issue{Title: "t"})
	s.Inject(githubtest.Fault{Hang: true, Times: 2})
	asked := func(ctx context.Context) <-chan error {
		done := make(chan error, 1)
		go func() { done <- last(client(t, s, jobToken).Issues.Get(ctx, "acme", "shop", 1)) }()
		return done
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	one := asked(ctx)
	waitFor(t, func() bool { return len(s.Requests()) == 1 })
	cancel()
	want(t, <-one, "context canceled")
	other := asked(t.Context())
	waitFor(t, func() bool { return len(s.Requests()) == 2 })
	want(t, s.Close(), "")
	want(t, <-other, "EOF")
	want(t, s.Close(), "")
}

func TestRequests(t *testing.T) {
	s := start(t)
	s.AddIssue(shop, githubtest.Issue{Title: "t"})
	c := client(t, s, jobToken)
	want(t, last(c.Issues.Get(t.Context(), "acme", "shop", 1)), "")
	want(t, last(c.Issues.Get(t.Context(), "acme", "shop", 2)), "404")
	want(t, last(c.Issues.AddLabelsToIssue(t.Context(), "acme", "shop", 1, []string{"ralph"})), "")
	bot := "github-actions[bot]"
	expected := []githubtest.Call{
		{Method: "GET", Path: "/repos/acme/shop/issues/1", Actor: bot, Status: 200},
		{Method: "GET", Path: "/repos/acme/shop/issues/2", Actor: bot, Status: 404},
		{Method: "POST", Path: "/repos/acme/shop/issues/1/labels", Actor: bot, Status: 200, Body: "[\"ralph\"]\n"},
	}
	if diff := cmp.Diff(expected, s.Requests()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestUnknown(t *testing.T) {
	s := start(t)
	for path, status := range map[string]int{
		"/api/v3/repos/acme/shop/milestones": 404, "/api/v3/nothing": 404, "/acme/shop/issues/1": 404, "/": 404,
		"/api/v3/repos/acme/shop/issues/comments/comments": 404,
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
		if response.StatusCode != status {
			t.Errorf("GET %s = %d, want %d", path, response.StatusCode, status)
		}
	}
	http.DefaultClient.CloseIdleConnections()
}

// A closed server leaves nothing: not a goroutine of its own, not a child.
func TestNothingIsLeft(t *testing.T) {
	s := start(t)
	dir := clone(t, s, map[string]string{"new": "new\n"})
	git(t, dir, "push", "-q", "origin", "HEAD")
	s.Inject(githubtest.Fault{Path: "/acme/shop.git/git-upload-pack", Hang: true})
	done := make(chan error, 1)
	go func() {
		_, err := tryGit(t.Context(), dir, "fetch", "origin")
		done <- err
	}()
	waitFor(t, func() bool {
		calls := s.Requests()
		return calls[len(calls)-1] == githubtest.Call{Method: "POST", Path: "/acme/shop.git/git-upload-pack"}
	})
	want(t, s.Close(), "")
	want(t, <-done, "fatal")
	// The runtime ends a goroutine a moment after its last statement.
	waitFor(t, func() bool { return !strings.Contains(goroutines(t), "githubtest.(*Server)") })
	if left := children(t); len(left) > 0 {
		t.Errorf("children left: %v", left)
	}
}

func goroutines(t *testing.T) string {
	t.Helper()
	var text strings.Builder
	if err := pprof.Lookup("goroutine").WriteTo(&text, 2); err != nil {
		t.Fatal(err)
	}
	stacks := strings.Split(text.String(), "\n\n")
	stacks = slices.DeleteFunc(stacks, func(stack string) bool { return strings.Contains(stack, "goroutines(") })
	return strings.Join(stacks, "\n\n")
}

// children returns the processes below this one, no matter which of its threads began
// them, where there is a /proc.
func children(t *testing.T) (pids []string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		return nil
	}
	threads, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil || len(threads) == 0 {
		t.Fatalf("this kernel does not tell its children: %v", err)
	}
	for _, thread := range threads {
		listed, err := os.ReadFile(thread)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ESRCH) { // a thread may end meanwhile
			t.Fatal(err)
		}
		pids = append(pids, strings.Fields(string(listed))...)
	}
	return pids
}
