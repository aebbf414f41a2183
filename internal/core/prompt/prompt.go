// Package prompt writes the text that an agent reads in an iteration. It is a function of the journal.
package prompt

import (
	"cmp"
	"fmt"
	"strings"
	"sync"
	"text/template"
	"time"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/verdict"
	"github.com/ralph-loop/ralph/internal/lib/clean"
	"github.com/ralph-loop/ralph/templates"
)

// allTemplates reads the templates when the first is needed: hooks write no prompt.
var allTemplates = sync.OnceValue(func() *template.Template {
	return template.Must(template.ParseFS(templates.Files, "prompt/*.md", "start/progress.md"))
})

type templateData struct {
	Memory    string
	Base      string
	Word      string
	Diff      string
	Progress  string
	Iteration int
	Of        int
	Story     plan.Story
	Checks    []string
	Guarded   bool // protected files are put back
	Answer    bool // the story can be answered
	Feedback  []string
	Said      []string
	Task      string
	Others    []string
	Wrong     string // why the last plan was unusable
}

// render panics like template.Must: what a template lacks, no run can mend.
func render(name string, data any) string {
	var text strings.Builder
	if err := allTemplates().ExecuteTemplate(&text, name, data); err != nil {
		panic(err)
	}
	return strings.TrimRight(text.String(), " \n") + "\n"
}

// quoteStory keeps the story's texts from passing for a heading or a rule of ralph's.
func quoteStory(story plan.Story) plan.Story {
	story.Title = oneLine(story.Title)
	if story.Description != "" {
		story.Description = "> " + strings.ReplaceAll(strings.TrimSpace(story.Description), "\n", "\n> ")
	}
	criteria := make([]string, 0, len(story.AcceptanceCriteria))
	for _, criterion := range story.AcceptanceCriteria {
		criteria = append(criteria, oneLine(criterion))
	}
	story.AcceptanceCriteria = criteria
	return story
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// ProgressLog returns the empty progress log of a run.
func ProgressLog(run journal.Run) string {
	return render("progress.md", map[string]string{
		"Date":    run.Clock.Began.UTC().Format(time.DateOnly),
		"Project": clean.Inline(cmp.Or(run.Plan.Project, run.Task.Title), 200),
	})
}

func checkCommands(run journal.Run) []string {
	var all []string
	for _, check := range run.Policy.Checks {
		all = append(all, check.Command)
	}
	return all
}

// fencedTask returns people's text as it is, in a fence, so that it cannot pass for ralph's.
func fencedTask(t plan.Task) string {
	text := t.Body
	if !strings.HasPrefix(strings.TrimSpace(text), t.Title) { // a prompt begins with its title
		text = strings.TrimSpace(t.Title + "\n\n" + text)
	}
	if strings.TrimSpace(text) == "" {
		return ""
	}
	return clean.Fenced(text)
}

func fenceAll(all []string) []string {
	fences := make([]string, 0, len(all))
	for _, text := range all {
		fences = append(fences, clean.Fence(strings.TrimSpace(text)))
	}
	return fences
}

// feedback is about the iteration before: failures, rejected claims, undone changes.
func feedback(run journal.Run) []string {
	it, found := run.LastJudged()
	if !found {
		return nil
	}
	var notes []string
	if it.Agent != nil && it.Agent.Failed {
		notes = append(notes, "The agent did not end well: "+sentence(oneLine(it.Agent.Why)))
	}
	notes = append(notes, failedChecks(run, journal.AtWork, it.Checks)...)
	if it.Proof != nil {
		notes = append(notes, setupFailures(it.Proof.Checks.Setup)...)
		notes = append(notes, failedChecks(run, journal.AtHead, it.Proof.Checks.Head)...)
	}
	for _, rejected := range it.Ended.Rejected {
		claim, why := oneLine(rejected.Claim), sentence(oneLine(rejected.Why))
		notes = append(notes, fmt.Sprintf("Your claim `%s` was rejected: %s", claim, why))
	}
	if isUnclaimed(it) {
		notes = append(notes, askForClaim(run, it))
	}
	return append(notes, undoneChanges(run, it)...)
}

func askForClaim(run journal.Run, it journal.Iteration) string {
	if it.Story == "" {
		return fmt.Sprintf("The checks are green, but you did not say `<promise>%s</promise>`. "+
			"If the task is complete, say it; if not, go on with it.", run.Policy.Word)
	}
	return fmt.Sprintf("The checks are green, but %s is not marked as passed in `%s/prd.json`. "+
		"If all its criteria hold, mark it; if not, go on with it.", it.Story, memoryDir(run))
}

// sentence ends a text with one full stop: the command `go test ./...` at its end keeps its three.
func sentence(text string) string { return strings.TrimSuffix(text, ".") + "." }

func setupFailures(setup []journal.SetupEnded) []string {
	var notes []string
	for _, command := range setup {
		if command.Passed {
			continue
		}
		text := fmt.Sprintf("On a clean checkout of your commit the %s, so that no check could be run there.",
			oneLine(command.Failure()))
		if strings.TrimSpace(command.Excerpt) != "" {
			text += "\n\n" + clean.Fence(command.Excerpt)
		}
		notes = append(notes, text)
	}
	return notes
}

var treeNames = map[journal.Where]string{journal.AtWork: "your tree", journal.AtHead: "a clean checkout of your commit"}

func failedChecks(run journal.Run, where journal.Where, checks []journal.CheckEnded) []string {
	var notes []string
	for _, check := range checks {
		if check.Where != where || !verdict.BlocksStory(run, check) {
			continue
		}
		how := fmt.Sprintf("failed with exit code %d", check.Exit)
		if check.TimedOut {
			how = "ran out of time"
		}
		notes = append(notes, fmt.Sprintf("The check `%s` %s on %s.%s",
			check.Command, how, treeNames[where], failureDetails(run, check)))
	}
	return notes
}

// failureDetails returns what a failed check printed, and what the agent has to know about it.
func failureDetails(run journal.Run, check journal.CheckEnded) string {
	text := " It printed nothing."
	if strings.TrimSpace(check.Excerpt) != "" {
		text = failedTests(run, check) + "\n\n" + clean.Fence(check.Excerpt)
	}
	if check.Log != "" && !run.Policy.Publish && !run.Policy.Boxed { // else the agent's tree has no such file
		text += "\n\nThe whole output is in `" + oneLine(check.Log) + "`."
	}
	if fresh := verdict.NewFailures(run, check); len(fresh) > 0 {
		text += "\n\nIt was red before the work began, and what failed then does not hold it back. This is new:\n\n" +
			clean.Fence(strings.Join(fresh, "\n"))
	}
	return text
}

// failedTests names the failed tests of a check, if its output names them and none failed before the work.
func failedTests(run journal.Run, check journal.CheckEnded) string {
	names := check.Tests.Failing()
	if len(names) == 0 || len(verdict.NewFailures(run, check)) > 0 {
		return ""
	}
	return " Failed tests:\n\n" + clean.Fence(strings.Join(names[:min(len(names), maxFailedTests)], "\n"))
}

const maxFailedTests = 30

// isUnclaimed reports whether an iteration left green work that the agent did not claim.
func isUnclaimed(it journal.Iteration) bool {
	if !it.Ended.Green || !it.Ended.Worked {
		return false
	}
	if len(it.Ended.Passed) > 0 || it.Ended.Done {
		return false
	}
	return len(it.Ended.Rejected) == 0
}

// undoneChanges describes what ralph restored of the agent's changes, and what it did not take over.
func undoneChanges(run journal.Run, it journal.Iteration) []string {
	var notes []string
	if it.Read != nil {
		for _, what := range it.Read.Undone {
			notes = append(notes, "Put back in `"+memoryDir(run)+"/prd.json`: "+what+".")
		}
		if it.Read.Cut {
			notes = append(notes, "Put back in `"+memoryDir(run)+"/progress.txt`: "+
				"what earlier iterations wrote below its line. Append to that, and shorten nothing.")
		}
	}
	if it.Taken == nil {
		return notes
	}
	if len(it.Taken.Dropped) > 0 {
		names := oneLine(strings.Join(it.Taken.Dropped, "`, `"))
		text := "These files are protected and were put back: `" + names + "`. Leave them as they are."
		if len(it.Taken.Proposed) > 0 {
			text += " People are shown your changes as a patch; do not make them again."
		}
		notes = append(notes, text)
	}
	if len(it.Taken.Huge) > 0 {
		names := oneLine(journal.ShortList(it.Taken.Huge))
		notes = append(notes, "These files are larger than 100 MiB and are not part of the work: "+names+
			". Delete them, or have `.gitignore` name them.")
	}
	for _, finding := range it.Taken.Refused {
		why := oneLine(finding.Commit + " " + finding.Path + " " + finding.Why)
		notes = append(notes, fmt.Sprintf("Your commits were not taken over: %s. "+
			"Fix that; rewrite those commits if needed.", why))
	}
	return notes
}

// memoryDir returns the folder of plan and progress log, from the agent's working directory.
func memoryDir(run journal.Run) string {
	return strings.TrimPrefix(cmp.Or(run.Policy.Memory, "ralph"), run.Policy.Subfolder+"/")
}

// lastIteration returns the highest possible number of an iteration, or 0 without a limit.
func lastIteration(run journal.Run) int {
	if run.Policy.Limits.Iterations == 0 {
		return 0
	}
	return run.Clock.Granted.Iterations + run.Policy.Limits.Iterations
}

// fencedContext returns others' comments, each in a fence under a line with its author.
func fencedContext(t plan.Task) []string {
	var all []string
	for _, comment := range t.Context {
		var head []string
		if comment.Author != "" {
			head = append(head, clean.Inline(comment.Author, 60))
		}
		if !comment.At.IsZero() {
			head = append(head, comment.At.UTC().Format(time.DateTime))
		}
		if comment.Where != "" {
			head = append(head, "`"+strings.ReplaceAll(oneLine(comment.Where), "`", "'")+"`")
		}
		parts := []string{strings.Join(head, ", ") + ":"}
		if comment.Hunk != "" {
			parts = append(parts, clean.Fence(comment.Hunk))
		}
		all = append(all, strings.Join(append(parts, clean.Fence(comment.Text)), "\n\n"))
	}
	return all
}
