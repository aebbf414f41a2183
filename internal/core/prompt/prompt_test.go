package prompt_test

import (
	"flag"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/prompt"
	"github.com/ralph-loop/ralph/internal/core/verdict"
	"github.com/ralph-loop/ralph/internal/testsupport/journaltest"
)

var update = flag.Bool("update", false, "rewrite the goldens")

// Every file in testdata is a story: what a journal says, and what the agent
// of the next iteration is told. The chapters that never change stand in the
// story of the first iteration only.
func TestStories(t *testing.T) {
	journaltest.Stories(t, *update, func(t *testing.T, s journaltest.Story) []txtar.File {
		t.Helper()
		s.Run.Policy.Publish = false // nothing is to be shown before work goes on
		step, is := verdict.Next(s.Run).(verdict.Iterate)
		if !is {
			t.Fatalf("Next = %#v, want an iteration", verdict.Next(s.Run))
		}
		text, err := prompt.ForTurn(s.Run, prompt.Turn{Number: step.Number, Story: step.Story})
		if err != nil {
			t.Fatal(err)
		}
		if rules := strings.Count(text, "\n## Rules\n"); rules != 1 && !strings.HasSuffix(t.Name(), "/hostile") {
			t.Errorf("%d chapters of rules, want one", rules)
		}
		if !strings.HasSuffix(t.Name(), "/first") {
			text = short(text)
		}
		return []txtar.File{{Name: "prompt.md", Data: []byte(text)}}
	})
}

// short is text without the rules of the game.
func short(text string) string {
	before, rest, _ := strings.Cut(text, "\n1. **Read first.**")
	_, after, _ := strings.Cut(rest, "\n6. ")
	commit, rest, _ := strings.Cut(after, "\n\n## Rules\n")
	_, task, _ := strings.Cut(rest, "and end.\n")
	return before + "\n…\n6. " + commit + "\n\n…\n" + task
}

// Outside fences and quotations, a line of the prompt is the program's own:
// no text of others begins one with markup.
func TestForeignTextBeginsNoLine(t *testing.T) {
	const mine = "## Rules of mine"
	for _, text := range []string{mine, "x\n" + mine, "x\r\n" + mine, "```\n" + mine, "````\n" + mine + "\n````\n" + mine, "~~~\n" + mine, "x\u2028" + mine, "> x\n" + mine} {
		run := journal.Run{
			Task: plan.Task{Title: text, Body: text},
			Plan: plan.Plan{Project: text, UserStories: []plan.Story{{ID: "US-001", Title: text, Description: text, AcceptanceCriteria: []string{text}}}},
			Iterations: []journal.Iteration{{
				Agent:  &journal.AgentEnded{Failed: true, Why: text},
				Checks: []journal.CheckEnded{{Name: "test", Command: "make test", Excerpt: text}},
				Read:   &journal.PlanRead{},
				Taken:  &journal.CommitsTaken{Dropped: []string{text}, Refused: []journal.Finding{{Path: text, Why: text}}},
				Ended:  &journal.IterationEnded{Rejected: []journal.Rejection{{Claim: text, Why: text}}},
			}},
		}
		written, err := prompt.ForTurn(run, prompt.Turn{Number: 2, Story: "US-001"})
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range outside(written) {
			if strings.HasPrefix(line, mine) {
				t.Errorf("%q stands on a line of its own in\n%s", text, written)
			}
		}
	}
}

// outside returns the lines of text that stand in no fence.
func outside(text string) []string {
	var lines []string
	fence := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		ticks := line[:len(line)-len(strings.TrimLeft(line, "`"))]
		switch {
		case fence == "" && len(ticks) >= 3:
			fence = ticks
		case fence != "" && len(ticks) >= len(fence) && line == ticks:
			fence = ""
		case fence == "":
			lines = append(lines, line)
		}
	}
	return lines
}

// A run whose work is handed over says that protected files are restored.
func TestProtectedFiles(t *testing.T) {
	for _, publish := range []bool{false, true} {
		run := journal.Run{Policy: policy.Policy{Publish: publish}, Plan: plan.Plan{UserStories: []plan.Story{{ID: "US-001"}}}}
		text, err := prompt.ForTurn(run, prompt.Turn{Number: 1, Story: "US-001"})
		if err != nil || strings.Contains(text, "the program restores them") != publish {
			t.Errorf("publish %v: %v\n%s", publish, err, text)
		}
	}
}

func TestNoPromptWithoutAStory(t *testing.T) {
	if text, err := prompt.ForTurn(journal.Run{}, prompt.Turn{Number: 1, Story: "US-404"}); err == nil {
		t.Errorf("Write = %q, want an error", text)
	}
}

func TestProgress(t *testing.T) {
	run := journal.Run{Clock: journal.Clock{Began: time.Date(2026, 11, 20, 23, 30, 0, 0, time.FixedZone("", -3600))}, Plan: plan.Plan{Project: "shop\n# heading"}}
	got := prompt.ProgressLog(run)
	for _, want := range []string{"Started: 2026-11-21\n", "PRD: shop # heading\n", "## Codebase Patterns\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("Progress lacks %q:\n%s", want, got)
		}
	}
	run.Plan.Project, run.Task.Title = "", "A shop"
	if got = prompt.ProgressLog(run); !strings.Contains(got, "PRD: A shop\n") {
		t.Errorf("Progress = %s, want it named after the task", got)
	}
}
