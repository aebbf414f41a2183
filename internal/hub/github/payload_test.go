package github_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/trigger"
	"github.com/ralph-loop/ralph/internal/hub/github"
)

func read(t *testing.T, event string, body []byte) trigger.Trigger {
	t.Helper()
	got, err := github.ReadTrigger(event, body)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestReadALabel(t *testing.T) {
	body, err := os.ReadFile("testdata/issues-labeled.json")
	if err != nil {
		t.Fatal(err)
	}
	want := trigger.Trigger{
		Event: "issues", Action: "labeled", At: time.Date(2019, 5, 15, 15, 20, 18, 0, time.UTC),
		Repo: trigger.Repo{Owner: "Codertocat", Name: "Hello-World", DefaultBranch: "master"},
		Issue: trigger.Issue{
			Number: 1, Title: "Spelling error in the README file",
			Body:   "It looks like you accidently spelled 'commit' with two 't's.", //nolint:misspell // as the example has it
			Author: "Codertocat", URL: "https://github.com/Codertocat/Hello-World/issues/1", State: "open",
		},
		Label:  "bug",
		Sender: trigger.Sender{Login: "Codertocat", ID: 21031067},
	}
	if diff := cmp.Diff(want, read(t, "issues", body)); diff != "" {
		t.Errorf("trigger (-want +got):\n%s", diff)
	}
}

func TestTextsComeInAsTheyAre(t *testing.T) {
	body := `{"action":"created",
		"issue":{"number":1,"title":"Fix\u200b it` + strings.Repeat("t", 400) + `","body":"Do this.<!-- and that -->","state":"open","user":null},
		"comment":{"id":5,"body":"/ralph\r\n<!-- ralph:progress -->","user":{"login":"mia","type":"User"},"created_at":7},
		"repository":{"name":"shop","owner":{"login":"acme"}},
		"sender":{"login":"mia\n::error::","type":"User"}}`
	got := read(t, "issue_comment", []byte(body))
	if len(got.Issue.Title) > 300 || !strings.HasPrefix(got.Issue.Title, "Fix ittt") || got.Issue.Body != "Do this.<!-- and that -->" {
		t.Errorf("title %q, body %q", got.Issue.Title, got.Issue.Body)
	}
	if !got.Comment.Ours {
		t.Errorf("comment = %+v, want it known as ours", got.Comment)
	}
	if got.Issue.Author != "" || got.Sender.Login != "" {
		t.Errorf("author %q, sender %q, want none", got.Issue.Author, got.Sender.Login)
	}
	if !got.At.IsZero() {
		t.Error("a time that is none was read")
	}
}

func TestEventsThatStartNothingNeedNotBeRead(t *testing.T) {
	for _, event := range []string{"push", "ping", "pull_request", ""} {
		if got := read(t, event, []byte("{")); !cmp.Equal(got, trigger.Trigger{Event: event}) {
			t.Errorf("ReadTrigger(%q) = %+v", event, got)
		}
	}
}

func TestPayloadsThatAreNone(t *testing.T) {
	const repo = `"repository":{"name":"shop","owner":{"login":"acme"}}`
	for body, want := range map[string]string{
		"":                       "read the payload of issue_comment: unexpected end of JSON input",
		"[]":                     "cannot unmarshal array",
		`{"action":"created"`:    "unexpected end",
		`{"issue":{"number":1}}`: "it has no action",
		`{"action":"created"}`:   "it has no issue with a number",
		`{"action":"created","issue":{"number":"7"}}`:            "number",
		`{"action":"created","issue":{"number":7}}`:              "it has no repository",
		`{"action":"created","issue":{"number":7},` + repo + `}`: "it has no comment with an id",
	} {
		_, err := github.ReadTrigger("issue_comment", []byte(body))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ReadTrigger(%s): %v, want %q", body, err, want)
		}
	}
}

// What GitHub's own examples lack: a fork, and changes that are asked for.
const (
	acme   = `"repository":{"name":"shop","full_name":"acme/shop","owner":{"login":"acme"},"default_branch":"main"}`
	mia    = `{"login":"mia","type":"User"}`
	opened = `"number":12,"title":"Add a cart","body":"Please","state":"open","html_url":"https://github.com/acme/shop/pull/12","user":` + mia
	ofFork = `"pull_request":{` + opened + `,"head":{"ref":"cart","sha":"abc","repo":{"full_name":"otto/shop"}},"base":{"ref":"main","sha":"def","repo":{"full_name":"acme/shop"}}}`
	gone   = `"pull_request":{` + opened + `,"head":{"ref":"cart","sha":"abc","repo":null},"base":{"ref":"main"}}`
)

func said(format string, args ...any) []byte { return fmt.Appendf(nil, format, args...) }

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
