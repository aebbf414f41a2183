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
		journal.IterationBegan{Number: 1, Story: text},
		journal.AgentEnded{Failed: true, Why: text, Words: text, Promises: []string{text}},
		journal.PlanRead{Plan: began.Plan, Claimed: []string{text}, Undone: []string{text}},
		check(journal.AtWork, true),
		journal.CommitsTaken{
			From: "b0", To: "c1", Tree: "t1", Work: "t1", Commits: []journal.Commit{{SHA: "c1", Subject: text}},
			Files: []string{text}, Dropped: []string{text}, Refused: []journal.Finding{{Path: text, Why: text}, {Why: text}},
		},
		check(journal.AtHead, false),
		redCheck(journal.AtHead, text+" too"),
		journal.CheckEnded{Where: journal.AtHead, Name: "flaky " + text, Passed: true, Flaky: true, First: &journal.Try{Exit: 1}},
		journal.ProofEnded{Base: "b0", Commit: "c1", Tree: "t1", Result: journal.Failed, Why: text},
		journal.IterationEnded{Number: 1, Story: text, Rejected: []journal.Rejection{{Claim: text, Why: text}}},
		journal.SCMEnded{Task: "commit", Message: text},
		journal.SCMEnded{Task: "commit", Failed: true, Why: text},
		journal.PublishFailed{Act: "push", Head: "c1", Why: text, Fix: text},
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
