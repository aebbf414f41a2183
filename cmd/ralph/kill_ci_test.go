package main_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

// newOpenJob returns a job after the pull request was opened, on a machine that has
// nothing of the job that did.
func newOpenJob(t *testing.T) *issueJob {
	t.Helper()
	s := newIssueJob(t, func(s *issueJob) {
		// What an agent did that was killed, the next one does not do again.
		const work = "f=work; [ ! -f work ] || f=mended; echo $f >$f\ngit add $f\n" +
			"git diff --cached --quiet || git commit -qm 'feat: work'\n"
		s.write(s.path("script.txtar"), "-- 1/run --\n"+work+"-- 1/claim --\nUS-001: done\n")
		s.EditIssue(shop, s.issue, func(i *githubtest.Issue) { i.Title, i.Body = "Work", "- [ ] It works\n" })
	})
	s.env = append(s.env, "SET_proof=unbroken", "INPUT_CHECKS=true")
	if code := s.end(s.begin()); code != 0 {
		t.Fatalf("exit %d, want 0", code)
	}
	s.issue = lastOf(s.Pulls(shop))[0].Number
	s.elsewhere()
	return s
}

// newReviewJob returns a job whose pull request got a review, and the job that this starts.
func newReviewJob(t *testing.T) *issueJob {
	t.Helper()
	s := newOpenJob(t)
	review := s.AddReview(shop, s.issue, githubtest.Review{Author: maintainer, State: "CHANGES_REQUESTED"},
		githubtest.ReviewComment{Path: "work", Line: 1, DiffHunk: "@@ -0,0 +1 @@\n+work", Body: "Mend it."})
	payload, err := s.ReviewEvent(githubtest.Event{Repo: shop, Issue: s.issue, Sender: maintainer}, review.ID)
	s.starts("pull_request_review", payload, err)
	return s
}

// newBehindJob returns a job whose pull request is behind its base, and the job that updates it.
func newBehindJob(t *testing.T) *issueJob {
	t.Helper()
	s := newOpenJob(t)
	s.must("update-ref", "refs/heads/main", s.must("commit-tree", "-m", "by hand", "-p", "main", "main^{tree}"))
	s.says("/ralph update")
	return s
}

// tended is what people see once a pull request was worked on, no matter what came between.
func (s *issueJob) tended() {
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
		t.Errorf("commits %q, want one of the issue and one of the review", commits)
	}
}

// besideCommands counts the comments, without a maintainer's commands.
func (s *issueJob) besideCommands() int {
	n := 0
	for _, comment := range s.Comments(shop, s.issue) {
		if !strings.HasPrefix(comment.Body, "/ralph") {
			n++
		}
	}
	return n
}

// answered is what people see once a review was answered, no matter what came between.
func (s *issueJob) answered() {
	s.t.Helper()
	s.tended()
	remarks := s.Remarks(shop, s.issue)
	if len(remarks) != 2 || !remarks[0].Resolved || !strings.Contains(remarks[1].Body, "**ralph:** done in ") {
		s.t.Errorf("the thread is %+v, want one answer, and resolved", remarks)
	}
}

// updated is what people see once the base was merged, no matter what came between.
func (s *issueJob) updated() {
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
func killedAlong(t *testing.T, fresh func(*testing.T) *issueJob, again, seen func(*issueJob)) {
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

// resumed has a maintainer ask for the rest.
func (s *issueJob) resumed() { s.says("/ralph resume") }

// says starts the job of a maintainer's comment.
func (s *issueJob) says(command string) {
	s.t.Helper()
	comment := s.AddComment(shop, githubtest.Comment{Issue: s.issue, Author: maintainer, Body: command})
	payload, err := s.CommentEvent(githubtest.Event{Repo: shop, Issue: s.issue, Sender: maintainer}, comment.ID)
	s.starts("issue_comment", payload, err)
}

// TestKillOfAReview kills the program at events of each type of its work on a review: its thread gets one answer.
func TestKillOfAReview(t *testing.T) {
	t.Parallel()
	killedAlong(t, newReviewJob, func(*issueJob) {}, (*issueJob).answered)
}

// TestKillOfAnUpdate does so while the base is merged, which happens once.
func TestKillOfAnUpdate(t *testing.T) {
	t.Parallel()
	killedAlong(t, newBehindJob, (*issueJob).resumed, (*issueJob).updated)
}

func (s *issueJob) starts(event string, payload []byte, err error) {
	s.t.Helper()
	env, wrong := s.job(event, maintainer, payload)
	if err = errors.Join(err, wrong); err != nil {
		s.t.Fatal(err)
	}
	s.env = append(s.env, env...)
}
