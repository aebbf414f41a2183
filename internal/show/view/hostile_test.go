package view_test

import (
	"bytes"
	"fmt"
	htmlcode "html"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/lib/clean"
	"github.com/ralph-loop/ralph/internal/show/view"
)

// nasty has hostile texts of people and agents.
var nasty = []string{
	"@ada", "fixes #7", "closes acme/shop#7", "GH-7", "https://github.com/acme/shop/issues/7",
	"<!-- ralph:progress -->", "`<!-- ralph:kept -->`", "<!-- never closed", "</details>", "</sub></td></tr>", "<img src=x onerror=y>",
	"a | b | c", `a \| b`, "``` open", "`@ada`", "a ` b | c ` d", "~~~", "line\n\n# heading\n\n- [x] item", "cr\rlf",
	"line\n| a | b |\n|---|---|\n| c | d |", "**", "[x](https://evil.example)", "![x](https://evil.example/pixel.png)",
	"::warning::boo", "\n/ralph stop", "> quote", "1. one", "\u202Eright to left", "\x1b[31mred", "nul\x00", `\** x`, "&#64;ada", "$`1`$",
	"ends with \\", strings.Repeat("long ", 2000),
}

// run puts text into all places with foreign text.
func run(text string) (journal.Run, []journal.Entry) {
	began := journal.RunBegan{
		Run: "r1", Base: "b0", Start: "b0", Branch: "ralph/issue-12-x", Level: "none",
		Policy: policy.Policy{Agent: "claude", Word: "COMPLETE", Publish: true, Checks: policy.NewChecks([]string{"make test", text}, 0)},
		Task:   plan.Task{Kind: plan.KindIssue, Number: 12, Title: text, Body: text},
		Plan: plan.Plan{Project: text, UserStories: []plan.Story{
			{ID: "US-001", Title: text, Description: text, AcceptanceCriteria: []string{text, text}, Notes: text},
			{ID: text, Title: text, AcceptanceCriteria: []string{text}},
		}},
	}
	check := func(where journal.Where, passed bool) journal.CheckEnded {
		return journal.CheckEnded{Where: where, Name: text, Command: text, Passed: passed, Exit: 1, Excerpt: text, Log: text}
	}
	events := []journal.Event{
		began,
		journal.Noted{What: text, Hint: text},
		check(journal.AtBase, true),
		redCheck(journal.AtBase, text),
		journal.BaselineEnded{Usable: true, Why: text},
		journal.PlanDrafted{By: text, Left: []string{text}, Question: text, Why: text},
		journal.Resumed{Why: text, Words: text, Approved: text, Context: []plan.Comment{{Author: text, Where: text, Hunk: text, Text: text}}},
		journal.IterationBegan{Number: 1, Story: text},
		journal.EgressRefused{What: text, Why: text, Input: text},
		journal.EgressPassed{Hosts: []journal.Passage{{Host: text, Times: 1, Up: 1, Down: 1}}},
		journal.StoryReviewed{Story: "US-001", Commit: "c1", By: text, Why: text},
		journal.AgentEnded{Failed: true, Why: text, Words: text, Promises: []string{text}},
		journal.PlanRead{Plan: began.Plan, Claimed: []string{text}, Undone: []string{text}},
		check(journal.AtWork, true),
		journal.CommitsTaken{
			From: "b0", To: "c1", Tree: "t1", Work: "t1", Commits: []journal.Commit{{SHA: "c1", Subject: text}},
			Files: []string{text}, Dropped: []string{text}, Refused: []journal.Finding{{Path: text, Why: text}, {Why: text}},
		},
		proofWith(text, "US-001", journal.Proven), proofWith(text, text, journal.NoNewFailingTest), proofWith(text, "", journal.NeedsReview),
		journal.Packed{Path: text, Head: "c1"},
		journal.Shelved{Ref: text, Commit: text},
		journal.Delivered{Branch: text, Left: []journal.Left{{Path: text, Why: text}}, Patch: text},
		check(journal.AtHead, false),
		redCheck(journal.AtHead, text+" too"),
		journal.CheckEnded{Where: journal.AtHead, Name: "flaky " + text, Passed: true, Flaky: true, First: &journal.Try{Exit: 1}},
		journal.ProofEnded{Base: "b0", Commit: "c1", Tree: "t1", Result: journal.Failed, Why: text},
		journal.IterationEnded{Number: 1, Story: text, Rejected: []journal.Rejection{{Claim: text, Why: text}}},
		journal.SCMEnded{Task: "commit", Message: text},
		journal.SCMEnded{Task: "commit", Failed: true, Why: text},
		journal.PublishFailed{Act: "push", Head: "c1", Why: text, Fix: text},
		journal.PublishFailed{Act: "open", Why: text, Fix: text},
		journal.PullOpened{Number: 34, URL: "u", Draft: true},
		journal.CancelAsked{Why: text},
		journal.RunStopped{Reason: policy.Cancelled, Why: text},
	}
	var folded journal.Run
	var entries []journal.Entry
	for i, event := range events {
		entry := journal.Entry{Seq: i + 1, At: time.Unix(int64(i), 0).UTC(), Event: event}
		entries = append(entries, entry)
		folded = journal.Fold(folded, entry)
	}
	return folded, entries
}

// proofWith returns a proof with text in all its places.
func proofWith(text, story string, result journal.Result) journal.ProofEnded {
	return journal.ProofEnded{
		Story: story, Base: "b0", Commit: "c1", Tree: "t1", Passed: true, Result: result, Why: text, Files: []string{text}, Tests: []string{text}, Restored: []string{text},
		Look: []journal.Look{{Kind: "skipped", File: text, Why: text, Tests: []string{text}}}, Untested: []journal.Lines{{File: text, From: 1, To: 2}},
	}
}

// redCheck returns a failed check with a failed test of that name.
func redCheck(where journal.Where, name string) journal.CheckEnded {
	tests := &journal.Tests{Failed: 1, Red: []string{name}}
	return journal.CheckEnded{Where: where, Name: "make test", Command: "make test", Exit: 1, Tests: tests}
}

// Foreign text does not change the structure of a page at any moment of a run: its markup has no effect,
// ralph's markup stays whole, and it mentions no user and closes no issue.
func TestForeignTextChangesNoShape(t *testing.T) {
	_, plain := run("word")
	for _, text := range nasty {
		_, hostile := run(text)
		var before, after journal.Run
		for i := range plain {
			before, after = journal.Fold(before, plain[i]), journal.Fold(after, hostile[i])
			keepsShape(t, fmt.Sprintf("%T with %.60q", plain[i].Event, text), view.Of(before), view.Of(after))
		}
		for _, reason := range []policy.Reason{policy.NeedsInput, policy.NothingToDo, policy.Stalled} {
			before.Stop, after.Stop = &journal.RunStopped{Reason: reason, Why: "word"}, &journal.RunStopped{Reason: reason, Why: text}
			before.Branch, after.Branch = "ralph/word", "ralph/"+text
			before.Links.Repo, after.Links.Repo = "https://github.example/acme/shop", "https://github.example/acme/shop"
			keepsShape(t, fmt.Sprintf("%s with %.60q", reason, text), view.Of(before), view.Of(after))
		}
	}
}

func keepsShape(t *testing.T, what string, want, got view.Texts) {
	t.Helper()
	for name, pages := range map[string][2]string{"comment": {want.Comment, got.Comment}, "pull": {want.Pull.Body, got.Pull.Body}} {
		before, after := renderMarkdown(t, pages[0]), renderMarkdown(t, pages[1])
		if diff := cmp.Diff(shape(before), shape(after)); diff != "" {
			t.Errorf("%s, %s (-plain +hostile):\n%s\n%s", what, name, diff, pages[1])
		}
		if found := calling.FindString(visibleText(after)); found != "" {
			t.Errorf("%s, %s calls or closes with %q:\n%s", what, name, found, pages[1])
		}
		if n, m := strings.Count(pages[1], "<!--"), strings.Count(pages[0], "<!--"); n != m {
			t.Errorf("%s, %s has %d comments, want %d", what, name, n, m)
		}
	}
}

// A command is shown unchanged in a single cell.
func TestCommandsAreShownAsTheyAre(t *testing.T) {
	row := regexp.MustCompile(`<td>(.*)</td>\n<td>❌ failed</td>\n<td>0s</td>`)
	for _, text := range nasty {
		hostile, _ := run(text)
		rendered := renderMarkdown(t, view.Of(hostile).Pull.Body)
		found := row.FindStringSubmatch(rendered)
		if found == nil {
			t.Errorf("the row of %.60q is torn:\n%s", text, rendered)
			continue
		}
		want, _ := clean.Plain(text, 160)
		if got := htmlcode.UnescapeString(tag.ReplaceAllString(found[1], "")); strings.TrimSuffix(got, "…") != want {
			t.Errorf("%.60q is shown as %q", text, got)
		}
		if !strings.HasPrefix(found[1], "<code>") || !strings.HasSuffix(found[1], "</code>") || strings.Count(found[1], "<") != 2 {
			t.Errorf("%.60q is not all code: %s", text, found[1])
		}
	}
}

// A title is not Markdown: it has the text of people on one line. As the subject of a
// commit it mentions no user.
func TestTitles(t *testing.T) {
	for text, want := range map[string]string{
		"Vec<String> & more":     "Vec<String> & more",
		"costs $5 | 6 €":         "costs $5 | 6 €",
		"a [draft] of **it**":    "a [draft] of **it**",
		"fixes #7 for @ada":      "fixes `#`7 for `@`ada",
		"line\nbreak":            "line break",
		"&lt;b&gt; [skip ci]":    "&lt;b&gt; (skip ci)",
		"mend `@ada` and `#7`":   "mend ``@`ada` and ``#`7`",
		"Signed-off-by: Ada":     "ralph/issue-12-x",
		"see acme/shop@deadbeef": "see acme/shop`@`deadbeef",
	} {
		r, _ := run(text)
		if got := view.Of(r).Pull.Title; got != want {
			t.Errorf("title of %q = %q, want %q", text, got, want)
		}
	}
	for _, text := range nasty {
		r, _ := run(text)
		title := view.Of(r).Pull.Title
		if strings.TrimSpace(title) == "" && strings.TrimSpace(text) != "" || strings.ContainsAny(title, "\r\n") || utf8.RuneCountInString(title) > 256 {
			t.Errorf("title of %.60q = %q", text, title)
		}
		if found := calling.FindString(spans.ReplaceAllString(title, "")); found != "" {
			t.Errorf("title %q calls or closes with %q", title, found)
		}
	}
}

// GitHub can use the text of a pull request as a commit message.
func TestPullsSkipNoChecks(t *testing.T) {
	hostile, _ := run("[skip ci] `[CI skip]` ***NO_CI***")
	if found := skipping.FindAllString(view.Of(hostile).Pull.Body, -1); found != nil {
		t.Errorf("the pull request says %q", found)
	}
}

var skipping = regexp.MustCompile(`(?i)\[(?:skip ci|ci skip)\]|\*\*\*NO_CI\*\*\*`)

// In the log, foreign text does not begin a line, so that it cannot imitate ralph.
func TestForeignTextKeepsToItsLine(t *testing.T) {
	_, plain := run("word")
	for _, text := range nasty {
		_, hostile := run(text)
		if n, m := strings.Count(logLines(hostile), "\n"), strings.Count(logLines(plain), "\n"); n != m {
			t.Errorf("log with %.60q has %d lines, want %d:\n%s", text, n, m, logLines(hostile))
		}
	}
}

// big returns a run of many stories, each with an iteration.
func big(title string, count int) journal.Run {
	r := journal.Run{ID: "r1", Task: plan.Task{Title: title}, Policy: policy.Policy{Publish: true}, Spent: journal.Spent{CostKnown: true}}
	for i := range count {
		id := fmt.Sprintf("US-%03d", i)
		r.Plan.UserStories = append(r.Plan.UserStories, plan.Story{ID: id, Title: title, AcceptanceCriteria: []string{title, title}})
		r.Iterations = append(r.Iterations, journal.Iteration{Number: i + 1, Story: id, Ended: &journal.IterationEnded{}})
	}
	return r
}

// whole checks that every row of a table has its cells, and every element is closed.
func whole(t *testing.T, name, text string) {
	t.Helper()
	rendered := renderMarkdown(t, text)
	for _, tag := range []string{"details", "sub", "table", "tr", "td", "li", "strong", "code"} {
		opened, closed := strings.Count(rendered, "<"+tag+">"), strings.Count(rendered, "</"+tag+">")
		if opened != closed {
			t.Errorf("%s: <%s> is opened %d times and closed %d times", name, tag, opened, closed)
		}
	}
	if n := strings.Count(rendered, "<td></td>"); n > 10 {
		t.Errorf("%s: %d cells are empty", name, n)
	}
}

// renderMarkdown returns Markdown as GitHub renders it.
func renderMarkdown(t *testing.T, markdown string) string {
	t.Helper()
	var out bytes.Buffer
	if err := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe())).Convert([]byte(markdown), &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

var (
	tag   = regexp.MustCompile(`<!--.*?-->|</?([a-z0-9]+)[^>]*>`)
	spans = regexp.MustCompile("(`+)[^`].*?(`+)|<code>.*?</code>")
	// calling matches a mention, or a reference to anything but the run's own issue.
	calling = regexp.MustCompile(`(?:^|[^\w/])@\w|(?:^|[^&\w])#(?:7|x)\b|GH-\d|\w#\d`)
	inline  = map[string]bool{"code": true, "a": true, "em": true, "strong": true, "del": true, "br": true}
)

// shape returns the tags of a page in order, without code, emphasis and plain links,
// which people may use.
func shape(rendered string) []string {
	var all []string
	for _, m := range tag.FindAllStringSubmatch(rendered, -1) {
		if !inline[m[1]] {
			all = append(all, m[0])
		}
	}
	return all
}

// visibleText returns the text of a page without code and addresses.
func visibleText(rendered string) string {
	rendered = regexp.MustCompile(`(?s)<code>.*?</code>`).ReplaceAllString(rendered, "")
	return tag.ReplaceAllString(rendered, "")
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
