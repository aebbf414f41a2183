package main_test

import (
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

// mishap is what goes wrong on GitHub with a push or a pull request, for a while.
type mishap struct {
	name  string
	befal func(*scene)
}

// mishaps returns those that are mixed with kills.
func mishaps() []mishap {
	const pack, pulls = "/octo/greeter.git/git-receive-pack", "/repos/octo/greeter/pulls"
	fault := func(path string, f githubtest.Fault) func(*scene) {
		f.Method, f.Path = http.MethodPost, path
		return func(s *scene) { s.Inject(f) }
	}
	return []mishap{
		{"a push is refused", func(s *scene) { s.refusePush(1, "not on a Friday") }},
		{"two pushes are refused", func(s *scene) { s.refusePush(2, "not on a Friday") }},
		{"the answer to a push is lost", fault(pack, githubtest.Fault{Done: true, CutAfter: -1, Status: http.StatusOK})},
		{"a push meets a broken gateway", fault(pack, githubtest.BadGateway())},
		{"pushes are forbidden", fault(pack, githubtest.ServerError(http.StatusForbidden))},
		{"no pull request can be made", fault(pulls, githubtest.ServerError(http.StatusInternalServerError))},
		{"the answer with the pull request is lost", fault(pulls, githubtest.Fault{Done: true, CutAfter: -1, Status: http.StatusOK})},
		{"too many pull requests", fault(pulls, githubtest.SecondaryLimit(0))},
		{"the pull request cannot be made ready", fault("/api/graphql", githubtest.ServerError(http.StatusBadGateway))},
	}
}

// TestLostWork kills the program at events of each type while pushes and pull
// requests go wrong, and has it go on. What it took over from the agent is
// there in the end; there is one pull request, one comment, and no process left.
// With KILL each event meets each mishap, else they are dealt out.
func TestLostWork(t *testing.T) {
	t.Parallel()
	first := newScene(t, steady)
	first.well()
	events, bad := slices.Sorted(func(yield func(string) bool) {
		for name := range count(first.entries()) {
			if name != journal.Type(journal.RunStopped{}) && !yield(name) {
				return
			}
		}
	}), mishaps()
	for i, event := range events {
		for j, m := range bad {
			if os.Getenv("KILL") == "" && (i%3 != 0 || j != i/3%len(bad)) {
				continue
			}
			t.Run(event+", and "+m.name, func(t *testing.T) {
				t.Parallel()
				s := newScene(t, steady)
				m.befal(s)
				s.dies(death{Event: event, Nth: 1, Late: j%2 == 0})
				taken := s.taken()
				s.well()
				s.holds(taken)
			})
		}
	}
}

// dies lives a life to the violent end it was told, or to its own where that
// event does not come about any more.
func (s *scene) dies(d death) {
	s.t.Helper()
	_ = s.end(s.begin(d.env()))
}

// taken returns the commits that were taken over from the agent so far.
func (s *scene) taken() []string {
	s.t.Helper()
	var all []string
	for _, entry := range s.entries() {
		if e, is := entry.Event.(journal.CommitsTaken); is && e.To != e.From {
			all = append(all, e.To)
		}
	}
	return all
}

// holds wants commits to be on the branch.
func (s *scene) holds(commits []string) {
	s.t.Helper()
	branch := strings.Split(s.must("rev-list", s.run().Branch), "\n")
	for _, sha := range commits {
		if !slices.Contains(branch, sha) {
			s.t.Errorf("%s was taken over from the agent, and is not on the branch", sha)
		}
	}
}
