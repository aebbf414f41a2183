package prompt

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/verdict"
	"github.com/ralph-loop/ralph/internal/lib/clean"
	"github.com/ralph-loop/ralph/templates"
)

// Turn is the iteration to write a prompt for, with texts that are not in the journal.
type Turn struct {
	Number   int
	Story    string
	Base     string // what was asked, as its file says now; for stories the project's own prompt, if any
	Diff     string // what has changed since the run began
	Progress string // the iterations so far, for people and agents
}

// ForTurn returns the prompt of an iteration, as the run's policy requires.
func ForTurn(run journal.Run, turn Turn) (string, error) {
	switch run.Policy.Done {
	case policy.ByResponse:
		return guardrailPrompt(run, turn), nil
	case policy.ByTag:
		return checksPrompt(run, turn), nil
	case policy.ByStories, policy.ByFile, policy.ByPromise:
	}
	story, found := run.Plan.Find(turn.Story)
	switch {
	case !found:
		return "", fmt.Errorf("write prompt: no story %q in the plan", turn.Story)
	case turn.Base != "":
		return customPrompt(run, turn, story), nil
	}
	return render("stories.md", templateData{
		Memory:    memoryDir(run),
		Iteration: turn.Number,
		Of:        lastIteration(run),
		Story:     quoteStory(story),
		Checks:    checkCommands(run),
		Word:      run.Policy.Word,
		Guarded:   run.Policy.Publish,
		Answer:    run.Task.CanBeAnswered(story),
		Feedback:  feedback(run),
		Said:      fenceAll(run.Words),
		Task:      fencedTask(run.Task),
		Others:    fencedContext(run.Task),
	}), nil
}

// customPrompt returns the project's own prompt, filled in, with the story and the feedback.
func customPrompt(run journal.Run, turn Turn, story plan.Story) string {
	text := strings.NewReplacer(
		"$RALPH_ITERATION", strconv.Itoa(turn.Number),
		"$RALPH_MAX_ITERATIONS", strconv.Itoa(lastIteration(run)),
	).Replace(strings.Trim(turn.Base, "\n"))
	parts := []string{text, "## Your story: " + clean.Inline(story.ID+" "+story.Title, 300)}
	if notes := feedback(run); len(notes) > 0 {
		parts = append(parts, "## What the program found after the last iteration", strings.Join(notes, "\n\n"))
	}
	return strings.Join(parts, "\n\n") + "\n"
}

// guardrailPrompt returns the prompt with failed guardrails before it, after it or in its place.
func guardrailPrompt(run journal.Run, turn Turn) string {
	before, instead, after := guardrails(run)
	if len(instead) == 0 {
		instead = []string{turn.Base}
	}
	parts := append(append(before, instead...), after...)
	if run.Policy.ShowCount {
		parts = append([]string{iterationCount(run, turn.Number)}, parts...)
	}
	return strings.Join(parts, "\n\n")
}

func iterationCount(run journal.Run, number int) string {
	last := lastIteration(run)
	if last == 0 {
		return fmt.Sprintf("Iteration %d.", number)
	}
	return fmt.Sprintf("Iteration %d of %d, %d remaining.", number, last, max(last-number, 0))
}

// guardrails returns the texts about failed guardrails that go before the prompt, in its place, and after it.
func guardrails(run journal.Run) ([]string, []string, []string) {
	it, found := run.LastJudged()
	if !found {
		return nil, nil, nil
	}
	var before, instead, after []string
	for _, check := range it.Checks {
		if !verdict.BlocksStory(run, check) {
			continue
		}
		rule := run.Policy.CheckNamed(check.Name)
		text := guardrailFailure(check, rule.Hint)
		switch rule.FailAction {
		case policy.Prepend:
			before = append(before, text)
		case policy.Replace:
			instead = append(instead, text)
		case policy.Append, "":
			after = append(after, text)
		}
	}
	return before, instead, append(after, rejections(it)...)
}

// guardrailFailure describes a failed guardrail. People's prompts rely on these words.
func guardrailFailure(check journal.CheckEnded, hint string) string {
	lines := []string{fmt.Sprintf("Guardrail %q failed with exit code %d.", check.Command, check.Exit)}
	if hint != "" {
		lines = append(lines, "Hint: "+hint)
	}
	return strings.Join(append(lines, "Output file: "+check.Log, "Output (truncated):", check.Excerpt), "\n")
}

// rejections returns claims rejected for lack of work, unless failed guardrails say so already.
func rejections(it journal.Iteration) []string {
	if !it.Ended.Green {
		return nil
	}
	var notes []string
	for _, rejected := range it.Ended.Rejected {
		notes = append(notes, fmt.Sprintf("Your answer %q was rejected: %s", rejected.Claim, sentence(rejected.Why)))
	}
	return notes
}

func checksPrompt(run journal.Run, turn Turn) string {
	return render("checks.md", templateData{
		Base:      strings.Trim(turn.Base, "\n"),
		Iteration: turn.Number,
		Of:        lastIteration(run),
		Checks:    checkCommands(run),
		Word:      run.Policy.Word,
		Feedback:  feedback(run),
		Diff:      fenced(turn.Diff),
		Progress:  strings.TrimSpace(turn.Progress),
	})
}

func fenced(text string) string {
	if strings.TrimSpace(text) == "" {
		return ""
	}
	return clean.Fence(text)
}

// Review asks another agent for its opinion of a story, by its diff, which may be cut.
func Review(story plan.Story, diff string, cut bool) string {
	story = quoteStory(story)
	var criteria []string
	for i, criterion := range story.AcceptanceCriteria {
		criteria = append(criteria, fmt.Sprintf("%d. %s", i+1, criterion))
	}
	return render("review.md", struct {
		Story    plan.Story
		Criteria []string
		Diff     string
		Cut      bool
	}{story, criteria, clean.Fence(diff), cut})
}

// Plan asks an agent to plan the task. It says why the last plan was unusable.
func Plan(run journal.Run) string {
	data := templateData{
		Checks: checkCommands(run),
		Said:   fenceAll(run.Words),
		Task:   fencedTask(run.Task),
		Others: fencedContext(run.Task),
	}
	if n := len(run.Planning.Misplans); n > 0 {
		data.Wrong = clean.Fence(run.Planning.Misplans[n-1])
	}
	return render("plan.md", data)
}

// SessionStart returns what an agent reads when a loop in its session begins or continues.
func SessionStart(run journal.Run) string {
	work := ""
	if calls := run.Policy.Session.MinTools; calls > 0 {
		work = Fill("session/start-work.md", "{calls}", plural(calls, "tool call")) + "\n"
	}
	if commands := checkCommands(run); len(commands) > 0 {
		work += Fill("session/start-checks.md", "{checks}", "`"+strings.Join(commands, "`, `")+"`")
	}
	return Fill(
		"session/start.md",
		"{task}", run.Task.Body,
		"{marker}", run.Policy.PromiseTag(),
		"{times}", plural(run.Policy.Limits.Iterations, "time"),
		"{work}", work,
	)
}

// SessionContinue returns what an agent reads that wanted to end too early.
func SessionContinue(run journal.Run) string {
	var parts []string
	if run.Policy.Session.Ultra {
		parts = append(parts, Fill("session/ultrawork.md"))
	}
	name, why := whyContinue(run)
	parts = append(parts, Fill(name, "{marker}", run.Policy.PromiseTag(), "{why}", why))
	parts = append(parts, Fill(
		"session/task.md",
		"{task}", run.Task.Body,
		"{number}", strconv.Itoa(run.UsedIterations()-1),
		"{limit}", strconv.Itoa(run.Policy.Limits.Iterations),
	))
	return strings.Join(parts, "\n\n")
}

// whyContinue returns why the session continues, and the template that says so.
func whyContinue(run journal.Run) (name, why string) {
	last, found := run.LastJudged()
	if !found || len(last.Ended.Rejected) == 0 {
		return "session/continue.md", ""
	}
	if failed := failedChecks(run, journal.AtWork, last.Checks); len(failed) > 0 {
		return "session/red.md", strings.Join(failed, "\n\n")
	}
	return "session/rejected.md", last.Ended.Rejected[0].Why
}

// Fill replaces a template's placeholders in one pass: the values may contain some.
func Fill(name string, pairs ...string) string {
	return strings.TrimSpace(strings.NewReplacer(pairs...).Replace(templates.Text(name)))
}

func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + one + "s"
}
