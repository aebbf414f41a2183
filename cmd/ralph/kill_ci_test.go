package main_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

// newRedScene is a scene after the pull request was opened, whose head is red in CI
// outside GitHub, and the job that this starts.
func newRedScene(t *testing.T) *scene {
	t.Helper()
	s := newScene(t, func(s *scene) {
		// What an agent did that was killed, the next one does not do again.
		const agents = "-- 1/run --\nf=work; [ ! -f work ] || f=mended; echo $f >$f\ngit add $f\ngit diff --cached --quiet || git commit -qm 'feat: work'\n" +
			"-- 1/claim --\nUS-001: done\n"
		if err := write(s.path("script.txtar"), []byte(agents)); err != nil {
			t.Fatal(err)
		}
		s.EditIssue(shop, s.issue, func(i *githubtest.Issue) { i.Title, i.Body = "Work", "- [ ] It works\n" })
	})
	s.env = append(s.env, "INPUT_PROOF=unbroken", "INPUT_CHECKS=true")
	if code := s.end(s.begin()); code != 0 {
		t.Fatalf("exit %d, want 0", code)
	}
	s.issue = lastOf(s.Pulls(shop))[0].Number
	s.red()
	return s
}

// red has CI fail on the head of the pull request, and starts a new job on a machine
// that has nothing of the one before.
func (s *scene) red() {
	s.t.Helper()
	if err := os.RemoveAll(s.path("workspace")); err != nil {
		s.t.Fatal(err)
	}
	pull, _ := s.Pull(shop, s.issue)
	s.SetStatus(shop, githubtest.Status{SHA: pull.HeadSHA, Context: "ci/outside", State: "failure", Description: "it does not work"})
	payload, err := s.CIEvent(githubtest.Event{Repo: shop, Issue: s.issue, Sender: maintainer}, "status", pull.HeadSHA, "failure")
	if err != nil {
		s.t.Fatal(err)
	}
	env, err := s.job("status", maintainer, payload)
	if err == nil {
		err = os.MkdirAll(s.path("workspace"), 0o755)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.env = append(s.env, env...)
}

// tended is what people see once a red head was worked on, whatever came between.
func (s *scene) tended() {
	t := s.t
	t.Helper()
	pulls := s.Pulls(shop)
	head := s.must("rev-parse", pulls[0].Head)
	if len(pulls) != 1 || pulls[0].Draft || pulls[0].HeadSHA != head || !strings.Contains(pulls[0].Body, "clean checkout of `"+head[:7]+"`") {
		t.Errorf("pull requests %+v, want one that is ready and proven at %s", pulls, head)
	}
	if ours := s.progress(s.issue); len(s.Comments(shop, s.issue)) != 1 || len(ours) != 1 {
		t.Errorf("comments %+v, want one of the progress", s.Comments(shop, s.issue))
	}
	commits := strings.Split(s.must("log", "--format=%s", "main.."+pulls[0].Head), "\n")
	if len(commits) != 2 {
		t.Errorf("commits %q, want one of the issue and one of red CI", commits)
	}
}

// TestKillOfCI kills the program at events of each type of its work on red CI, and has
// the job start again: the same head is worked on, once as far as people can see.
func TestKillOfCI(t *testing.T) {
	t.Parallel()
	plain := newRedScene(t)
	if code := plain.end(plain.begin()); code != 0 {
		t.Fatalf("exit %d, want 0", code)
	}
	plain.tended()
	events := count(plain.entries())
	if len(events) < 10 || plain.run().Task.Attempts.OfPull != 1 {
		t.Fatalf("events %v of attempt %+v, want the first that works", events, plain.run().Task.Attempts)
	}
	for i, name := range slices.Sorted(maps.Keys(events)) {
		if name == journal.Type(journal.RunStopped{}) || os.Getenv("KILL") == "" && !dealt(i, 5) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newRedScene(t)
			last := events[name]
			if name == journal.Type(journal.Shelved{}) {
				last-- // after the last of these the clock is not looked at
			}
			if last == 0 {
				return
			}
			s.killed(death{Event: name, Nth: last, Late: true})
			if code := s.end(s.begin()); code != 0 {
				t.Errorf("exit %d, want 0", code)
			}
			s.tended()
		})
	}
}

// A job that is lost with its machine counts as an attempt, also before its first
// iteration was saved: the cap holds.
func TestALostMachineCounts(t *testing.T) {
	t.Parallel()
	s := newRedScene(t)
	s.killed(death{Event: "iteration_began", Nth: 1, Late: true})
	s.red()
	if code := s.end(s.begin()); code != 0 {
		t.Errorf("exit %d, want 0", code)
	}
	if got := s.run().Task.Attempts; got.OfPull != 2 || got.OfHead != 2 {
		t.Errorf("attempts %+v, want the second", got)
	}
	if n := s.made("/repos/" + shop + "/pulls"); n != 1 {
		t.Errorf("%d pull requests were opened, want one", n)
	}
}
