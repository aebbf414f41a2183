package view_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/show/view"
)

// later puts text into all other places with foreign text: branch names, answers,
// authors, saved state, refusals of the sandbox, grades, reviews and the end.
func later(text string, end journal.RunStopped) journal.Run {
	_, entries := run(text)
	var r journal.Run
	var events []journal.Event
	for _, entry := range entries[:len(entries)-2] {
		events = append(events, entry.Event)
	}
	events = append(events,
		journal.Resumed{Why: text, Words: text, Approved: text, Context: []plan.Comment{{Author: text, Where: text, Hunk: text, Text: text}}},
		journal.PlanDrafted{By: text, Left: []string{text}, Question: text, Why: text},
		journal.EgressRefused{What: text, Why: text, Input: text},
		journal.EgressPassed{Hosts: []journal.Passage{{Host: text, Times: 1, Up: 1, Down: 1}}},
		journal.StoryReviewed{Story: "US-001", Commit: "c1", By: text, Why: text},
		proofWith(text, "US-001", journal.Proven), proofWith(text, text, journal.NoNewFailingTest), proofWith(text, "", journal.NeedsReview),
		journal.Packed{Path: text, Head: "c1"},
		journal.PullOpened{Number: 34, URL: text, Draft: true},
		journal.PublishFailed{Act: "open", Why: text, Fix: text}, journal.PublishFailed{Act: "push", Head: "c1", Why: text, Fix: text},
		journal.Shelved{Ref: text, Commit: text},
		journal.Delivered{Branch: text, Left: []journal.Left{{Path: text, Why: text}}, Patch: text},
		end,
	)
	for i, event := range events {
		r = journal.Fold(r, journal.Entry{Seq: i + 1, At: time.Unix(int64(i), 0).UTC(), Event: event})
	}
	r.Branch, r.Links.Repo = "ralph/"+text, "https://github.example/acme/shop"
	return r
}

// proofWith returns a proof with text in all its places.
func proofWith(text, story string, result journal.Result) journal.ProofEnded {
	return journal.ProofEnded{
		Story: story, Base: "b0", Commit: "c1", Tree: "t1", Passed: true, Result: result, Why: text, Files: []string{text}, Tests: []string{text}, Restored: []string{text},
		Look: []journal.Look{{Kind: "skipped", File: text, Why: text, Tests: []string{text}}}, Untested: []journal.Lines{{File: text, From: 1, To: 2}},
	}
}

// Hostile text in these places does not change the structure of the page.
func TestWhatCameLaterChangesNoShape(t *testing.T) {
	for _, reason := range []policy.Reason{policy.NeedsInput, policy.NothingToDo, policy.Stalled} {
		want := view.Of(later("word", journal.RunStopped{Reason: reason, Why: "word"}))
		for _, text := range nasty {
			got := view.Of(later(text, journal.RunStopped{Reason: reason, Why: text}))
			keepsShape(t, fmt.Sprintf("%s with %.60q", reason, text), want, got)
		}
	}
}

// Only a valid commit is shown as the saved state of a run.
func TestTheMarkOfWhatIsKept(t *testing.T) {
	sha := strings.Repeat("0a", 20)
	for commit, want := range map[string]string{
		sha: "<!-- ralph:progress --><!-- ralph:kept " + sha + " -->", "": "<!-- ralph:progress -->",
		sha[1:]: "<!-- ralph:progress -->", sha + " -->@ada": "<!-- ralph:progress -->", "\n" + sha: "<!-- ralph:progress -->",
	} {
		r, _ := run("word")
		r.Published.Shelved = &journal.Shelved{Commit: commit}
		if got, _, _ := strings.Cut(view.Of(r).Comment, "\n"); got != want {
			t.Errorf("kept %q: %q, want %q", commit, got, want)
		}
	}
}

// Of many stories with long hostile texts whole rows are left out, with their number, and no element is cut.
func TestTheLimitTearsNothing(t *testing.T) {
	long := strings.Repeat("@ada|<b>`<!-- ```~~~ fixes #7 ", 10)
	cut := regexp.MustCompile(`\n\| … and \d+ more \| \| \|\n`)
	for _, count := range []int{0, 1, 150} {
		large := big(long, count)
		large.Branch, large.Task.Kind = "ralph/"+long, plan.KindIssue
		large.Level = "notify"
		large.Stop = &journal.RunStopped{Reason: policy.FatalError, Why: long}
		for i := range count {
			word := fmt.Sprintf("%d %s", i, long)
			large.Notes = append(large.Notes, journal.Noted{What: word, Hint: word})
			large.Box.Refused = append(large.Box.Refused, journal.EgressRefused{What: word, Why: word, Input: word})
			large.Published.Failures = append(large.Published.Failures, journal.PublishFailed{Act: word, Why: word, Fix: word})
		}
		board := view.Of(large)
		for name, text := range map[string]string{"comment": board.Comment, "pull": board.Pull.Body} {
			if n := utf8.RuneCountInString(text); n > view.Limit {
				t.Errorf("%s of %d stories has %d characters", name, count, n)
			}
			if found := calling.FindString(visibleText(renderMarkdown(t, text))); found != "" {
				t.Errorf("%s of %d stories calls or closes with %q", name, count, found)
			}
			if count > 100 && !cut.MatchString(text) {
				t.Errorf("%s of %d stories does not say how many it leaves out", name, count)
			}
			whole(t, name, text)
			if n := strings.Count(text, "<!--"); n != 1 && name != "pull" {
				t.Errorf("%s of %d stories has %d comments, want the mark alone", name, count, n)
			}
		}
		if count > 0 && !regexp.MustCompile(`\*\*Next:\*\* fix the cause; then comment `).MatchString(board.Comment) {
			t.Errorf("the comment of %d stories does not say what to do next", count)
		}
	}
}

// An agent's names that fill the page remove no warning from it.
func TestNamesRemoveNoWarning(t *testing.T) {
	names := make([]string, 100)
	found := make([]journal.Look, 50)
	lines := make([]journal.Lines, 50)
	proposed := make([]journal.Proposal, 40)
	for i := range names {
		names[i] = fmt.Sprint(i) + strings.Repeat("`", 200)
	}
	for i := range found {
		found[i] = journal.Look{File: names[i], Kind: "skipped", Why: names[i], Tests: names[:30]}
		lines[i] = journal.Lines{File: names[i], From: 1, To: 2}
	}
	for i := range proposed {
		proposed[i] = journal.Proposal{Path: names[i], Patch: strings.Repeat(fmt.Sprintf("+%d\n", i), 160)}
	}
	_, entries := run("word")
	var r journal.Run
	for _, entry := range entries[:9] {
		r = journal.Fold(r, entry)
	}
	for _, event := range []journal.Event{
		journal.CommitsTaken{From: "b0", To: "c1", Tree: "t1", Work: "t1", Files: names, Dropped: names, Proposed: proposed},
		journal.ProofEnded{
			Base: "b0", Commit: "c1", Tree: "t1", Passed: true, Result: journal.NeedsReview, Why: strings.Join(names, " "), Restored: names, Look: found, Untested: lines,
		},
		journal.PullOpened{Number: 3, Draft: true},
	} {
		r = journal.Fold(r, journal.Entry{Seq: 99, At: time.Unix(99, 0).UTC(), Event: event})
	}
	text := view.Of(r).Pull.Body
	for _, warning := range []string{"Needs review", "Protected files are changed here"} {
		if !strings.Contains(text, warning) {
			t.Errorf("of %d characters none say %q", len(text), warning)
		}
	}
	if len(text) > view.Limit {
		t.Errorf("the page has %d characters", len(text))
	}
}
