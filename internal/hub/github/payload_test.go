package github_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/trigger"
	"github.com/ralph-loop/ralph/internal/hub/github"
	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

var helloWorld = trigger.Repo{
	Owner: "Codertocat", Name: "Hello-World", DefaultBranch: "master",
}

func example(tb testing.TB, name string) []byte {
	tb.Helper()
	body, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		tb.Fatal(err)
	}
	return body
}

func read(t *testing.T, event string, body []byte) trigger.Trigger {
	t.Helper()
	got, err := github.ReadTrigger(event, body)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestReadALabel(t *testing.T) {
	want := trigger.Trigger{
		Event: "issues", Action: "labeled", Repo: helloWorld, At: time.Date(2019, 5, 15, 15, 20, 18, 0, time.UTC),
		Issue: trigger.Issue{
			Number: 1, Title: "Spelling error in the README file",
			Body:   "It looks like you accidently spelled 'commit' with two 't's.", //nolint:misspell // as the example has it
			Author: "Codertocat", URL: "https://github.com/Codertocat/Hello-World/issues/1", State: "open",
		},
		Label:  "bug",
		Sender: trigger.Sender{Login: "Codertocat", ID: 21031067},
	}
	if diff := cmp.Diff(want, read(t, "issues", example(t, "issues-labeled.json"))); diff != "" {
		t.Errorf("trigger (-want +got):\n%s", diff)
	}
}

func TestReadAComment(t *testing.T) {
	got := read(t, "issue_comment", example(t, "comment-created.json"))
	want := trigger.Comment{
		ID: 492700400, Body: "You are totally right! I'll get this fixed right away.", Author: "Codertocat", AuthorID: 21031067,
	}
	if diff := cmp.Diff(want, got.Comment); diff != "" {
		t.Errorf("comment (-want +got):\n%s", diff)
	}
	if got.Action != "created" || got.Repo != helloWorld || got.Issue.Number != 1 {
		t.Errorf("trigger = %+v", got)
	}
}

func TestReadAPullRequestAndAClosedIssue(t *testing.T) {
	if got := read(t, "issues", example(t, "issues-pull.json")); !got.Issue.IsPull || got.Issue.Number != 2 {
		t.Errorf("issue = %+v, want a pull request", got.Issue)
	}
	if got := read(t, "issues", example(t, "issues-closed.json")); got.Issue.IsPull || got.Issue.State != "closed" {
		t.Errorf("issue = %+v, want a closed issue", got.Issue)
	}
}

// What the stand-in sends is what a run in a test is started by.
func TestReadWhatTheStandInSends(t *testing.T) {
	server := stand(t, nil)
	server.AddLabel(shop, 1, "ralph")
	label, err := server.LabelEvent(githubtest.Event{Repo: shop, Issue: 1, Sender: "mia"}, "ralph")
	if err != nil {
		t.Fatal(err)
	}
	got := read(t, "issues", label)
	if cmd, why := trigger.CommandOf(got, trigger.Rules{}); why != "" || cmd.Verb != trigger.Run {
		t.Errorf("Want = %+v, %q for %+v", cmd, why, got)
	}
	if got.Asker().Login != "mia" || got.Issue.Author != "otto" || got.Repo.String() != shop {
		t.Errorf("trigger = %+v", got)
	}
	said := server.AddComment(shop, githubtest.Comment{Issue: 1, Author: "deploy[bot]", Body: "/ralph"})
	comment, err := server.CommentEvent(githubtest.Event{Repo: shop, Issue: 1, Sender: "deploy[bot]"}, said.ID)
	if err != nil {
		t.Fatal(err)
	}
	if got := read(t, "issue_comment", comment).Asker(); got.Login != "deploy[bot]" || !got.IsBot || got.ID == 0 {
		t.Errorf("Asker = %+v, want a bot", got)
	}
}

func TestTextsComeInAsTheyAre(t *testing.T) {
	body := `{"action":"created",
		"issue":{"number":1,"title":"Fix\u200b it","body":"Do this.<!-- and that -->","state":"open","user":null},
		"comment":{"id":5,"body":"/ralph\r\n<!-- ralph:progress -->","user":{"login":"mia","type":"User"},"created_at":7},
		"repository":{"name":"shop","owner":{"login":"acme"}},
		"sender":{"login":"mia\n::error::","type":"User"}}`
	got := read(t, "issue_comment", []byte(body))
	if got.Issue.Title != "Fix it" || got.Issue.Body != "Do this.<!-- and that -->" {
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

func TestTitlesAreCapped(t *testing.T) {
	body := `{"action":"labeled","issue":{"number":1,"title":"` + strings.Repeat("t", 400) + `"},"repository":{"name":"shop","owner":{"login":"acme"}}}`
	got := read(t, "issues", []byte(body))
	if len(got.Issue.Title) != 300 {
		t.Errorf("title %d, want 300", len(got.Issue.Title))
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
