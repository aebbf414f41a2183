package github_test

import (
	"compress/gzip"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/core/trigger"
	"github.com/ralph-loop/ralph/internal/hub/github"
)

// kind is an event with examples of its payload.
type kind struct {
	Name     string
	Examples []json.RawMessage
}

// published returns all the examples that GitHub has; see testdata/README.md.
func published(tb testing.TB) []kind {
	tb.Helper()
	file, err := os.Open("testdata/webhooks.json.gz")
	if err != nil {
		tb.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		tb.Fatal(err)
	}
	var all []kind
	if err := json.NewDecoder(unzipped).Decode(&all); err != nil {
		tb.Fatal(err)
	}
	return all
}

// All that GitHub is known to send is read, and is for us or is not, with a
// reason that a person can read.
func TestAllThatGitHubSends(t *testing.T) {
	rules := trigger.Rules{Label: "bug", BranchPrefix: "changes"}
	seen, wanted := 0, map[string]int{}
	for _, event := range published(t) {
		for i, body := range event.Examples {
			seen++
			got, err := github.ReadTrigger(event.Name, body)
			if err != nil {
				t.Errorf("%s %d: %v", event.Name, i, err)
				continue
			}
			_, why := trigger.CommandOf(got, rules)
			if why == "" {
				wanted[event.Name+"."+got.Action]++
				continue
			}
			if got.Event != event.Name || strings.ContainsAny(why, "\r\n") || !utf8.ValidString(why) {
				t.Errorf("%s %d: %+v is not for us as %q", event.Name, i, got, why)
			}
		}
	}
	if seen != 329 {
		t.Errorf("read %d examples, want 329", seen)
	}
	// The labels are on issues of 2019. A branch may be ralph's.
	if wanted["issues.labeled"] == 0 || wanted["pull_request.ready_for_review"] == 0 || len(wanted) != 2 {
		t.Errorf("for us are %v", wanted)
	}
}

// spoken are the events that say something, in the order in which the fuzzer
// counts them.
var spoken = []string{"issues", "issue_comment", "pull_request_review", "pull_request_review_comment", "push"}

func FuzzReadTrigger(f *testing.F) {
	for _, event := range published(f) {
		if which := slices.Index(spoken, event.Name); which >= 0 {
			f.Add(uint8(which), []byte(event.Examples[0]))
		}
	}
	f.Add(uint8(0), []byte(`{"action":"x","issue":{"number":1,"title":"<!--","pull_request":null},"repository":{"name":"a","owner":{"login":"b"}}}`))
	f.Add(uint8(3), said(`{"action":"created",%s,"comment":{"id":5,"path":"a","diff_hunk":"@@","body":"/ralph","user":%s},%s,"sender":%s}`, ofFork, mia, acme, mia))
	f.Fuzz(func(t *testing.T, which uint8, body []byte) {
		got, err := github.ReadTrigger(spoken[int(which)%len(spoken)], body)
		if err != nil {
			if got != (trigger.Trigger{}) {
				t.Errorf("an error (%v) and %+v", err, got)
			}
			return
		}
		for _, text := range []string{got.Issue.Title, got.Comment.Thread.Path, got.Comment.Thread.Hunk} {
			if !utf8.ValidString(text) || utf8.RuneCountInString(text) > 60_000 {
				t.Errorf("not clean: %q", text)
			}
		}
		// Nothing that was read may break what comes next.
		rules := trigger.Rules{}
		cmd, _ := trigger.CommandOf(got, rules)
		trigger.Accept(got, cmd, rules, trigger.RequestFacts{Permission: trigger.Write})
	})
}

// What other events tell of is refused, or clean.
func FuzzReadOtherEvents(f *testing.F) {
	for _, event := range published(f) {
		f.Add([]byte(event.Examples[0]))
	}
	f.Add([]byte(`{"inputs":{"delivery":"{\"ID\":\"1\",\"Trigger\":{\"Event\":\"issues\"}}"}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		_, _ = github.ReadProved(body)
		_, _, _ = github.ReadRelayed(body)
		if got, err := github.ReadProposal(body); err == nil && (!utf8.ValidString(got.Title) || utf8.RuneCountInString(got.Title) > 60_000) {
			t.Errorf("not clean: %q", got.Title)
		}
	})
}
