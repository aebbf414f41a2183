package report_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/stream"
	"github.com/ralph-loop/ralph/internal/lib/redact"
	"github.com/ralph-loop/ralph/internal/show/report"
)

// pagesDir is the folder in which make report-check wants the pages for a browser.
var pagesDir = flag.String("pages", "", "a folder to write pages into")

// nasty has hostile texts, and how each is shown on a page.
var nasty = []struct{ text, shows string }{
	{`<script>owned = 1; document.title = 'owned'</script>`, `<script>owned = 1; document.title = 'owned'</script>`},
	{`</pre></details></main><img src=x onerror="owned=1">`, `</pre></details></main><img src=x onerror="owned=1">`},
	{`</title><style>*{display:none}</style><svg onload=owned=1>`, `</title><style>*{display:none}</style><svg onload=owned=1>`},
	{`{{.Run}} {{template "words"}}`, `{{.Run}} {{template "words"}}`},
	{"right\u202Eleft", `right\u{202e}left`},
	{"zero\u200Bwidth", `zero\u{200b}width`},
	{"esc\x1b[2Jape", `esc\x1b[2Jape`},
	{"nul\x00byte", "nul\uFFFDbyte"},
	{"line\u2028end", `line\u{2028}end`},
}

// horror returns all of them, each on a line.
func horror() string {
	var text strings.Builder
	for _, n := range nasty {
		text.WriteString(n.text + "\n")
	}
	return text.String()
}

// longRun returns a run of many iterations with text in all places for foreign text, in
// the journal and the files beside it.
func longRun(t *testing.T, iterations int, text string) report.Source {
	t.Helper()
	check := func(where journal.Where, passed bool) journal.Event {
		return journal.CheckEnded{Where: where, Name: "test", Command: text, Passed: passed, Exit: 1, Excerpt: text, Log: "log", TookMS: 9000, Commit: "c"}
	}
	p := policy.ForPreset(policy.ByStories)
	p.Agent, p.Checks = "scripted", []policy.Check{{Name: "test", Command: text}}
	asked := plan.Plan{Project: text}
	for i := range 40 {
		asked.UserStories = append(asked.UserStories, plan.Story{ID: fmt.Sprintf("US-%03d", i), Title: text, AcceptanceCriteria: []string{text, text, text}})
	}
	events := []journal.Event{
		journal.RunBegan{Run: "r1", Policy: p, Task: plan.Task{Title: text}, Plan: asked, Branch: "b", Base: "b0", Start: "b0", Level: "none"},
		journal.Noted{What: text, Hint: text},
		check(journal.AtBase, true),
		journal.BaselineEnded{Usable: true, Why: text},
	}
	for n := 1; n <= iterations; n++ {
		story := asked.UserStories[n%40].ID
		events = append(events,
			journal.IterationBegan{Number: n, Story: story, Prompt: journal.Attachment{Path: "prompt", Digest: "d"}},
			journal.AgentEnded{Tools: 9, Failed: n%7 == 0, Why: text, Words: text, Cost: stream.Cost{USD: 0.1 * float64(min(n%5, 1)), Known: n%5 > 0}, Transcript: journal.Attachment{Path: "transcript", Digest: "d"}},
			journal.PlanRead{Plan: asked, Claimed: []string{story}, Undone: []string{text}},
			check(journal.AtWork, n%3 > 0),
			journal.CommitsTaken{From: "c0", To: "c1", Tree: fmt.Sprint("t", n), Commits: slices.Repeat([]journal.Commit{{SHA: "c1", Subject: text}}, 30), Dropped: []string{text}},
			check(journal.AtHead, n%3 > 0), journal.ProofEnded{
				Story: story, Commit: "c1", Tree: fmt.Sprint("t", n), Passed: n%3 > 0, Result: journal.NeedsReview, Why: text, Files: []string{text}, Tests: []string{text}, Restored: []string{text},
				Look: slices.Repeat([]journal.Look{{File: text, Kind: "k", Why: text, Tests: []string{text}}}, 50), Untested: slices.Repeat([]journal.Lines{{File: text, From: 1, To: 2}}, 50),
			},
			journal.IterationEnded{Number: n, Story: story, Rejected: []journal.Rejection{{Claim: text, Why: text}}},
		)
	}
	events = append(events, journal.PublishFailed{Act: text, Why: text, Fix: text}, journal.RunStopped{Reason: policy.MaxIterations, Why: text})
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	s := report.Source{
		Hide: asIs,
		Read: func(string, string) (string, error) { return strings.Repeat(text, 1+50_000/len(text)), nil },
		Diff: func(string, string) (string, bool, error) {
			return strings.Repeat("+\n-\n@@ "+text, 1+50_000/len(text)), true, nil
		},
		Items: func(string) []stream.Item {
			return slices.Repeat([]stream.Item{stream.Text{Text: text}, stream.ToolStart{ID: "1", Name: text, Input: text}, stream.ToolEnd{ID: "1", Output: text, Failed: true}, stream.ToolStart{Name: text}}, 100)
		},
	}
	for i, event := range events {
		at = at.Add(7 * time.Second)
		s.Entries = append(s.Entries, journal.Entry{Seq: i + 1, At: at, Event: event})
	}
	return s
}

// A page of many iterations with hostile text is smaller than a megabyte, and says what it leaves out.
func TestALargePage(t *testing.T) {
	page := html(t, longRun(t, 70, horror()))
	if len(page) >= 1<<20 {
		t.Errorf("%d bytes", len(page))
	}
	if dead := deadLinks(page); len(dead) > 0 {
		t.Errorf("links lead nowhere: %q", dead)
	}
	if !strings.Contains(page, "10 earlier iterations left out") {
		t.Error("the page does not say that it leaves out iterations")
	}
}

var link = regexp.MustCompile(`href="#([^"]*)"`)

func deadLinks(page string) (dead []string) {
	for _, found := range link.FindAllStringSubmatch(page, -1) {
		if !strings.Contains(page, ` id="`+found[1]+`"`) {
			dead = append(dead, found[1])
		}
	}
	return dead
}

// tag matches the beginning of a tag.
var tag = regexp.MustCompile(`<[a-zA-Z!/]`)

// The logs of an iteration's checks share a limit. The last ones can be left out.
func TestManyLogs(t *testing.T) {
	s := longRun(t, 1, "x\n")
	red := journal.CheckEnded{Where: journal.AtWork, Name: "test", Exit: 1, Log: "log"}
	last := s.Entries[len(s.Entries)-1]
	s.Entries = s.Entries[:len(s.Entries)-1]
	for range 30 {
		s.Entries = append(s.Entries, journal.Entry{Seq: len(s.Entries) + 1, At: last.At, Event: red})
	}
	s.Read = func(string, string) (string, error) { return strings.Repeat("a long log\n", 20_000), nil }
	if page := html(t, s); strings.Count(page, "a long log") > 12_000 || strings.Count(page, "failed (exit 1) in the agent") < 15 {
		t.Errorf("%d bytes, %d lines of logs", len(page), strings.Count(page, "a long log"))
	}
}

// Foreign text does not change the tags of a page.
func TestHostileTextStaysText(t *testing.T) {
	harmless := html(t, longRun(t, 3, strings.Repeat("harmless *words* ", 40)+"\n"))
	for _, n := range nasty {
		text := n.text + " " + strings.Repeat("harmless *words* ", 40) + "\n"
		page := html(t, longRun(t, 3, text))
		for _, bad := range []string{"<script", "<img", "<svg o", "javascript:", "<style>*"} {
			if strings.Contains(page, bad+" ") || strings.Contains(page, bad+">") || bad == "javascript:" && strings.Contains(page, `href="`+bad) {
				t.Errorf("%q became %q", n.text, bad)
			}
		}
		if want, got := kinds(harmless), kinds(page); !slices.Equal(want, got) {
			t.Errorf("%q: the page has other tags: %d, want %d", n.text, len(got), len(want))
		}
		if !strings.Contains(n.text, "<") && !strings.Contains(n.text, "{{") && !strings.Contains(page, n.shows) {
			t.Errorf("%q is not told as %q", n.text, n.shows)
		}
		if at := strings.IndexFunc(page, unseen); at >= 0 {
			t.Errorf("%q: a character does not show: %q", n.text, page[at:at+20])
		}
		markdown, err := longRun(t, 3, text).Markdown()
		if err != nil || strings.ContainsFunc(string(markdown), unseen) || strings.Contains(string(markdown), "\n  - <script>") {
			t.Errorf("%q is not harmless in Markdown: %v", n.text, err)
		}
	}
}

// kinds returns the kinds of tags of a page.
func kinds(page string) []string {
	var all []string
	for _, at := range tag.FindAllStringIndex(page, -1) {
		name, _, _ := strings.Cut(page[at[0]+1:], ">")
		name, _, _ = strings.Cut(name, " ")
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// Secrets are hidden, in the journal and the files beside it, also where the page leaves out what parts them.
func TestSecrets(t *testing.T) {
	const token = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	for _, c := range []struct{ secret, text string }{
		{token, token},
		{`hush"<&hush-hush`, `hush"<&hush-hush`},
	} {
		s := longRun(t, 2, "the key is "+c.text+" and no other\n")
		s.Hide = redact.New(c.secret).String
		bare := s // without the files
		bare.Read = noFile
		for _, s := range []report.Source{s, bare} {
			page := html(t, s)
			markdown, err := s.Markdown()
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range []string{page, string(markdown)} {
				if strings.Contains(text, c.secret) || strings.Contains(text, "hush-hush") {
					t.Errorf("%s is told", c.secret)
				}
			}
			if !strings.Contains(page, redact.Mask) {
				t.Errorf("%s is not masked", c.secret)
			}
		}
	}
}

// Writes the pages for the test with a browser, and the texts that a hostile page must
// show.
func TestPages(t *testing.T) {
	dir := *pagesDir
	if dir == "" {
		dir = t.TempDir()
	}
	made := map[string]report.Source{"hostile": longRun(t, 3, horror()), "fifty": longRun(t, 50, "all the work of an honest agent, told at length\n")}
	for _, name := range examples {
		made[name] = example(t, name)
	}
	var shows []string
	for _, n := range nasty {
		shows = append(shows, n.shows)
	}
	err := os.WriteFile(filepath.Join(dir, "hostile.txt"), []byte(strings.Join(shows, "\n")+"\n"), 0o644)
	for name, s := range made {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, name+".html"), []byte(html(t, s)), 0o644))
	}
	if err != nil {
		t.Fatal(err)
	}
}
