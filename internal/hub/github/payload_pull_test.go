package github_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/trigger"
)

// What GitHub's own examples lack: a comment on a pull request, a fork, a bot,
// changes that are asked for, an edit, a hand that starts it.
const (
	acme   = `"repository":{"name":"shop","full_name":"acme/shop","owner":{"login":"acme"},"default_branch":"main"}`
	mia    = `{"login":"mia","type":"User"}`
	opened = `"number":12,"title":"Add a cart","body":"Please","state":"open","html_url":"https://github.com/acme/shop/pull/12","user":` + mia
	ofFork = `"pull_request":{` + opened + `,"head":{"ref":"cart","sha":"abc","repo":{"full_name":"otto/shop"}},"base":{"ref":"main","sha":"def","repo":{"full_name":"acme/shop"}}}`
	gone   = `"pull_request":{` + opened + `,"head":{"ref":"cart","sha":"abc","repo":null},"base":{"ref":"main"}}`
)

func said(format string, args ...any) []byte { return fmt.Appendf(nil, format, args...) }

func TestReadACommentOnAPullRequest(t *testing.T) {
	got := read(t, "issue_comment", said(`{"action":"created","issue":{%s,"pull_request":{"url":"u"}},"comment":{"id":5,"body":"/ralph","user":%s,"created_at":"2026-05-04T12:00:00Z"},%s,"sender":%s}`, opened, mia, acme, mia))
	if !got.IsOnPull() || got.Issue.Number != 12 || got.Pull != (trigger.Pull{}) || got.Comment.Thread != (trigger.Thread{}) {
		t.Errorf("trigger = %+v, want one on a new pull request", got)
	}
	if want := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC); !got.At.Equal(want) {
		t.Errorf("At = %s, want %s", got.At, want)
	}
}

func TestReadARemark(t *testing.T) {
	got := read(t, "pull_request_review_comment", said(`{"action":"created",%s,"comment":{"id":5,"in_reply_to_id":3,"path":"cart.go","line":null,"original_line":7,`+
		`"side":"RIGHT","diff_hunk":"@@ -1 +1 @@\n+\tx\u200b := 1","body":"/ralph -- use a map","user":%s,"created_at":"soon"},%s,"sender":%s}`, ofFork, mia, acme, mia))
	want := trigger.Thread{ID: 3, Path: "cart.go", Line: 7, Hunk: "@@ -1 +1 @@\n+\tx := 1"}
	if diff := cmp.Diff(want, got.Comment.Thread); diff != "" {
		t.Errorf("thread (-want +got):\n%s", diff)
	}
	pull := trigger.Pull{Number: 12, Author: "mia", HeadRef: "cart", HeadRepo: "otto/shop", HeadSHA: "abc", BaseRef: "main"}
	if diff := cmp.Diff(pull, got.Pull); diff != "" || !got.Pull.IsFork(got.Repo) {
		t.Errorf("pull, from a fork %t (-want +got):\n%s", got.Pull.IsFork(got.Repo), diff)
	}
	if cmd, why := trigger.CommandOf(got, trigger.Rules{}); why != "" || cmd.Words != "use a map" || !got.At.IsZero() {
		t.Errorf("Want = %+v, %q at %s", cmd, why, got.At)
	}
}

func TestReadAReview(t *testing.T) {
	got := read(t, "pull_request_review", said(`{"action":"submitted",%s,"review":{"id":9,"state":"CHANGES_REQUESTED","body":"Not yet.<!-- x -->","submitted_at":"2026-05-04T12:00:00Z","user":%s},%s,"sender":%s}`, gone, mia, acme, mia))
	if diff := cmp.Diff(trigger.Review{ID: 9, State: "changes_requested", Body: "Not yet.<!-- x -->"}, got.Review); diff != "" {
		t.Errorf("review (-want +got):\n%s", diff)
	}
	if !got.Pull.IsFork(got.Repo) || !got.Issue.IsPull || got.Issue.Title != "Add a cart" || got.At.IsZero() {
		t.Errorf("trigger = %+v, want a fork that is gone", got)
	}
	if cmd, why := trigger.CommandOf(got, trigger.Rules{}); why != "" || cmd.Verb != trigger.Run {
		t.Errorf("Want = %+v, %q", cmd, why)
	}
}

func TestReadWhatAHandStarts(t *testing.T) {
	got := read(t, "workflow_dispatch", said(`{"inputs":{"issue":"7"},"ref":"refs/heads/main",%s,"sender":{"login":"ci[bot]","type":"Bot"}}`, acme))
	want := trigger.Trigger{Event: "workflow_dispatch", Repo: trigger.Repo{Owner: "acme", Name: "shop", DefaultBranch: "main"}, Sender: trigger.Sender{Login: "ci[bot]", IsBot: true}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("trigger (-want +got):\n%s", diff)
	}
}
