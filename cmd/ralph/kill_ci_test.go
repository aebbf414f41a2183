package main_test

import (
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

// newRedScene returns a scene after the pull request was opened, whose head is red in CI
// outside GitHub, and the job that this starts.
func newRedScene(t *testing.T) *scene {
	t.Helper()
	s := newOpenScene(t)
	s.red()
	return s
}

// newOpenScene returns a scene after the pull request was opened, on a machine that has
// nothing of the job that did.
func newOpenScene(t *testing.T) *scene {
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
	s.env = append(s.env, "SET_proof=unbroken", "INPUT_CHECKS=true")
	if code := s.end(s.begin()); code != 0 {
		t.Fatalf("exit %d, want 0", code)
	}
	s.issue = lastOf(s.Pulls(shop))[0].Number
	s.anew()
	return s
}

// newReviewScene returns a scene whose pull request got a review, and the job that this starts.
func newReviewScene(t *testing.T) *scene {
	t.Helper()
	s := newOpenScene(t)
	review := s.AddReview(shop, s.issue, githubtest.Review{Author: maintainer, State: "CHANGES_REQUESTED"},
		githubtest.ReviewComment{Path: "work", Line: 1, DiffHunk: "@@ -0,0 +1 @@\n+work", Body: "Mend it."})
	payload, err := s.ReviewEvent(githubtest.Event{Repo: shop, Issue: s.issue, Sender: maintainer}, review.ID)
	s.starts("pull_request_review", payload, err)
	return s
}

// newBehindScene returns a scene whose pull request is behind its base, and the job that updates it.
func newBehindScene(t *testing.T) *scene {
	t.Helper()
	s := newOpenScene(t)
	s.must("update-ref", "refs/heads/main", s.must("commit-tree", "-m", "by hand", "-p", "main", "main^{tree}"))
	s.says("/ralph update")
	return s
}

// anew is another machine, which has nothing of the job before.
func (s *scene) anew() {
	s.t.Helper()
	err := os.RemoveAll(s.path("workspace"))
	if err == nil {
		err = os.MkdirAll(s.path("workspace"), 0o755)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// red has CI fail on the head of the pull request, and starts a new job on a machine
// that has nothing of the one before.
func (s *scene) red() {
	s.t.Helper()
	s.anew()
	pull, _ := s.Pull(shop, s.issue)
	s.SetStatus(shop, githubtest.Status{SHA: pull.HeadSHA, Context: "ci/outside", State: "failure", Description: "it does not work"})
	s.tells("status", pull.HeadSHA, "failure")
}

// tended is what people see once a red head was worked on, no matter what came between.
func (s *scene) tended() {
	t := s.t
	t.Helper()
	pulls := s.Pulls(shop)
	head := s.must("rev-parse", pulls[0].Head)
	if len(pulls) != 1 || pulls[0].Draft || pulls[0].HeadSHA != head || !strings.Contains(pulls[0].Body, "clean checkout of `"+head[:7]+"`") {
		t.Errorf("pull requests %+v, want one that is ready and proven at %s", pulls, head)
	}
	if ours := s.progress(s.issue); s.besideCommands() != 1 || len(ours) != 1 {
		t.Errorf("comments %+v, want one of the progress", s.Comments(shop, s.issue))
	}
	commits := strings.Split(s.must("log", "--format=%s", "main.."+pulls[0].Head), "\n")
	if len(commits) != 2 {
		t.Errorf("commits %q, want one of the issue and one of red CI", commits)
	}
}

// besideCommands counts the comments, without a maintainer's commands.
func (s *scene) besideCommands() int {
	n := 0
	for _, comment := range s.Comments(shop, s.issue) {
		if !strings.HasPrefix(comment.Body, "/ralph") {
			n++
		}
	}
	return n
}

// answered is what people see once a review was answered, no matter what came between.
func (s *scene) answered() {
	s.t.Helper()
	s.tended()
	remarks := s.Remarks(shop, s.issue)
	if len(remarks) != 2 || !remarks[0].Resolved || !strings.Contains(remarks[1].Body, "**ralph:** done in ") {
		s.t.Errorf("the thread is %+v, want one answer, and resolved", remarks)
	}
}

// updated is what people see once the base was merged, no matter what came between.
func (s *scene) updated() {
	s.t.Helper()
	pull, _ := s.Pull(shop, s.issue)
	if pull.Draft || s.must("rev-list", "--count", pull.Head+"..main") != "0" || s.must("rev-list", "--count", "--merges", "main.."+pull.Head) != "1" {
		s.t.Errorf("the pull request is %+v with\n%s, want it ready with one merge of the base", pull, s.must("log", "--oneline", "--graph", pull.Head))
	}
	if ours := s.progress(s.issue); s.besideCommands() != len(ours) || len(ours) > 1 {
		s.t.Errorf("comments %+v, want at most one of the progress", s.Comments(shop, s.issue))
	}
}

// killedAlong kills the program at events of each type of its work, and has a job start
// again: people see what they see without that.
func killedAlong(t *testing.T, fresh func(*testing.T) *scene, again, seen func(*scene)) {
	t.Helper()
	plain := fresh(t)
	if code := plain.end(plain.begin()); code != 0 {
		t.Fatalf("exit %d, want 0", code)
	}
	seen(plain)
	events := count(plain.entries())
	if len(events) < 7 {
		t.Fatalf("events %v, want a run that works", events)
	}
	for _, name := range slices.Sorted(maps.Keys(events)) {
		if name == journal.Type(journal.RunStopped{}) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := fresh(t)
			last := events[name]
			if name == journal.Type(journal.Shelved{}) {
				last-- // after the last of these the clock is not looked at
			}
			if last == 0 {
				return
			}
			s.killed(death{Event: name, Nth: last, Late: true})
			again(s)
			if code := s.end(s.begin()); code != 0 {
				t.Errorf("exit %d, want 0", code)
			}
			seen(s)
		})
	}
}

// resumed has a maintainer ask for the rest: no event of CI takes up a draft.
func (s *scene) resumed() { s.says("/ralph resume") }

// says starts the job of a maintainer's comment.
func (s *scene) says(command string) {
	s.t.Helper()
	comment := s.AddComment(shop, githubtest.Comment{Issue: s.issue, Author: maintainer, Body: command})
	payload, err := s.CommentEvent(githubtest.Event{Repo: shop, Issue: s.issue, Sender: maintainer}, comment.ID)
	s.starts("issue_comment", payload, err)
}

// TestKillOfCI kills the program at events of each type of its work on red CI: the same
// head is worked on, once as far as people can see.
func TestKillOfCI(t *testing.T) {
	t.Parallel()
	killedAlong(t, newRedScene, (*scene).resumed, (*scene).tended)
}

// TestKillOfAReview does so at work on a review: its thread gets one answer.
func TestKillOfAReview(t *testing.T) {
	t.Parallel()
	killedAlong(t, newReviewScene, func(*scene) {}, (*scene).answered)
}

// TestKillOfAnUpdate does so while the base is merged, which happens once.
func TestKillOfAnUpdate(t *testing.T) {
	t.Parallel()
	killedAlong(t, newBehindScene, (*scene).resumed, (*scene).updated)
}

// A job that failed before its run began keeps no later job from the red checks.
func TestAFailedStartIsTriedAgain(t *testing.T) {
	t.Parallel()
	s := newRedScene(t)
	if code := s.end(s.begin("INPUT_AGENT=claude")); code != 2 {
		t.Fatalf("exit %d, want 2: the agent is not installed", code)
	}
	s.red()
	if code := s.end(s.begin()); code != 0 {
		t.Errorf("exit %d, want 0", code)
	}
	s.tended()
}

// A resolved conflict whose machine was lost after the push is ready in the end: no person made the draft.
func TestALostResolutionIsResumed(t *testing.T) {
	t.Parallel()
	s := newOpenScene(t)
	resolution := "-- 1/run --\nls\n-- 2/run --\nif grep -q '^<' work; then echo both >work; git commit -qam 'merge: both'; fi\n-- 2/claim --\nUS-002: done\n"
	if err := write(s.path("script.txtar"), []byte(resolution)); err != nil {
		t.Fatal(err)
	}
	err := write(s.path("by-hand", "work"), []byte("theirs\n"))
	if err = errors.Join(err, (&visitOf{town: s.town}).pushByHand("by-hand", "main", false)); err != nil {
		t.Fatal(err)
	}
	s.says("/ralph update")
	s.killed(death{Event: "pushed", Nth: 1, Late: true})
	s.anew()
	s.says("/ralph resume")
	if code := s.end(s.begin()); code != 0 {
		t.Errorf("exit %d, want 0", code)
	}
	if pull, _ := s.Pull(shop, s.issue); pull.Draft || pull.HeadSHA != s.run().Head {
		t.Errorf("the pull request is %+v, want it ready with the proven head", pull)
	}
}

// A run on a review that is cancelled answers the threads whose stories are done.
func TestACancelledReviewIsAnswered(t *testing.T) {
	t.Parallel()
	s := newOpenScene(t)
	script := "-- 1/run --\necho mended >work\ngit commit -qam 'feat: mended'\n-- 1/claim --\nUS-001: done\n" +
		"-- 2/run --\ntouch \"$HOME/hung\"\n-- 2/hang --\n"
	if err := write(s.path("script.txtar"), []byte(script)); err != nil {
		t.Fatal(err)
	}
	review := s.AddReview(shop, s.issue, githubtest.Review{Author: maintainer, State: "CHANGES_REQUESTED"},
		githubtest.ReviewComment{Path: "work", Line: 1, DiffHunk: "@@ -0,0 +1 @@\n+work", Body: "Mend it."},
		githubtest.ReviewComment{Path: "x", Line: 1, DiffHunk: "@@ -0,0 +1 @@\n+x", Body: "And this."})
	payload, err := s.ReviewEvent(githubtest.Event{Repo: shop, Issue: s.issue, Sender: maintainer}, review.ID)
	s.starts("pull_request_review", payload, err)
	l := s.begin()
	s.until("the agent is at work", s.hung)
	if err := l.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if code := s.end(l); code != 130 {
		t.Errorf("exit %d, want 130", code)
	}
	remarks := s.Remarks(shop, s.issue)
	if len(remarks) != 3 || remarks[2].ReplyTo != remarks[0].ID || !strings.Contains(remarks[2].Body, "**ralph:** done in ") {
		t.Errorf("the threads are %+v, want an answer in the first alone", remarks)
	}
}

// The end of a pull request is entered once, wherever its job is killed.
func TestKillOfTheEnd(t *testing.T) {
	t.Parallel()
	for name, kill := range map[string]func(*scene){
		"before the ledger is written": func(s *scene) { s.killedAtPush(pushKill{nth: 1}) },
		"once the ledger is written":   func(s *scene) { s.killedAtPush(pushKill{nth: 1, done: true}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newOpenScene(t)
			said := len(s.Comments(shop, s.issue))
			s.EditIssue(shop, s.issue, func(i *githubtest.Issue) { i.State, i.MergedAt = "closed", time.Now() })
			s.pulled("closed")
			kill(s)
			if code := s.end(s.begin()); code != 0 {
				t.Errorf("exit %d, want 0", code)
			}
			book := s.must("show", "refs/ralph/ledger:ledger.json")
			if strings.Count(book, `"number": `) != 1 || strings.Count(book, `"end": "merged"`) != 1 || len(s.Comments(shop, s.issue)) != said {
				t.Errorf("the ledger is\n%s\nand there are %d comments, want one end and %d", book, len(s.Comments(shop, s.issue)), said)
			}
		})
	}
}
