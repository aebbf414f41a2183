// Package prompt writes the text that an agent reads in an iteration. It is a
// function of the journal.
package prompt

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"sync"
	"text/template"
	"time"

	"github.com/ralph-loop/ralph/internal/clean"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/verdict"
	"github.com/ralph-loop/ralph/templates"
)

// texts are read when the first is needed: hooks write no prompt.
var texts = sync.OnceValue(func() *template.Template {
	return template.Must(template.ParseFS(templates.Files, "prompt/*.md", "start/progress.md"))
})

// page is what the template is filled in with.
type page struct {
	Memory    string
	Base      string
	Word      string
	Diff      string
	Progress  string
	Iteration int
	Of        int
	Story     plan.Story
	Checks    []string
	Promise   string
	Guarded   bool // protected files are put back
	Answer    bool // the story can be answered
	Feedback  []string
	Said      []string
	Task      string
	Others    []string
}

// Write is the prompt for iteration number of run, on the story named id.
func Write(run journal.Run, number int, id string) (string, error) {
	story, err := storyOf(run, id)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	err = texts().ExecuteTemplate(&text, "stories.md", page{
		Memory:    memory(run),
		Iteration: number,
		Of:        of(run),
		Story:     told(story),
		Checks:    commands(run),
		Promise:   run.Policy.Promise,
		Guarded:   run.Policy.Publish,
		Answer:    run.Task.CanBeAnswered(story),
		Feedback:  feedback(run),
		Said:      said(run.Said),
		Task:      task(run.Task),
		Others:    others(run.Task),
	})
	if err != nil {
		return "", fmt.Errorf("write prompt: %w", err)
	}
	return strings.TrimSpace(text.String()) + "\n", nil
}

func storyOf(run journal.Run, id string) (plan.Story, error) {
	story, found := run.Plan.Find(id)
	if !found {
		return story, fmt.Errorf("write prompt: no story %q in the plan", id)
	}
	return story, nil
}

// told is story in a form in which nothing people wrote can pass for a heading
// or a rule of ours.
func told(story plan.Story) plan.Story {
	story.Title = line(story.Title)
	if story.Description != "" {
		story.Description = "> " + strings.ReplaceAll(strings.TrimSpace(story.Description), "\n", "\n> ")
	}
	criteria := make([]string, 0, len(story.AcceptanceCriteria))
	for _, criterion := range story.AcceptanceCriteria {
		criteria = append(criteria, line(criterion))
	}
	story.AcceptanceCriteria = criteria
	return story
}

// line is text on one line.
func line(text string) string { return strings.Join(strings.Fields(text), " ") }

// Progress is the log that the iterations of run keep, as it begins.
func Progress(run journal.Run) ([]byte, error) {
	project := run.Plan.Project
	if project == "" {
		project = run.Task.Title
	}
	var text bytes.Buffer
	err := texts().ExecuteTemplate(&text, "progress.md", map[string]string{
		"Date":    run.Began.UTC().Format(time.DateOnly),
		"Project": clean.Inline(project, 200),
	})
	if err != nil {
		return nil, fmt.Errorf("write progress log: %w", err)
	}
	return text.Bytes(), nil
}

func commands(run journal.Run) []string {
	var all []string
	for _, check := range run.Policy.Checks {
		all = append(all, check.Command)
	}
	return all
}

// task is what people wrote, fenced so that it cannot be taken for ours.
func task(t plan.Task) string {
	if strings.TrimSpace(t.Title+t.Body) == "" {
		return ""
	}
	return clean.Fence(strings.TrimSpace(t.Title + "\n\n" + t.Body))
}

// said is what people added later, fenced as well.
func said(all []string) []string {
	fenced := make([]string, 0, len(all))
	for _, words := range all {
		fenced = append(fenced, clean.Fence(strings.TrimSpace(words)))
	}
	return fenced
}

// feedback is what the program has to say of the iteration before: failures
// first, then claims that were not believed, then what it undid.
func feedback(run journal.Run) []string {
	it, found := run.LastJudged()
	if !found {
		return nil
	}
	var said []string
	if it.Agent != nil && it.Agent.Failed {
		said = append(said, "The agent did not end well: "+line(it.Agent.Why)+".")
	}
	said = append(said, failures(run, journal.AtWork, it.Checks)...)
	if it.Proof != nil {
		said = append(said, unready(it.Proof.Setup)...)
		said = append(said, failures(run, journal.AtProof, it.Proof.Checks)...)
	}
	for _, rejected := range it.Ended.Rejected {
		said = append(said, fmt.Sprintf("Your claim `%s` was rejected: %s.", line(rejected.Claim), line(rejected.Why)))
	}
	if unclaimed(it) && it.Story == "" {
		said = append(said, fmt.Sprintf("The checks are green, but you did not say `<promise>%s</promise>`. If the task is complete, say it; if not, go on with it.", run.Policy.Word))
	} else if unclaimed(it) {
		said = append(said, fmt.Sprintf("The checks are green, but %s is not marked as passed in `%s/prd.json`. If all its criteria hold, mark it; if not, go on with it.", it.Story, memory(run)))
	}
	return append(said, undone(run, it)...)
}

// unready is why a clean checkout could not be made ready for the checks.
func unready(setup []journal.SetupEnded) []string {
	var said []string
	for _, command := range setup {
		if command.Passed {
			continue
		}
		text := fmt.Sprintf("On a clean checkout of your commit the %s, so that no check could be run there.", line(command.Failure()))
		if strings.TrimSpace(command.Excerpt) != "" {
			text += "\n\n" + clean.Fence(command.Excerpt)
		}
		said = append(said, text)
	}
	return said
}

// trees are the trees on which an iteration's checks run, as the agent reads them.
var trees = map[journal.Where]string{journal.AtWork: "your tree", journal.AtProof: "a clean checkout of your commit"}

// failures are the checks that hold the work back, of those that ran on a tree.
func failures(run journal.Run, where journal.Where, checks []journal.CheckEnded) []string {
	var said []string
	for _, check := range checks {
		if check.Where != where || !verdict.BlocksStory(run, check) {
			continue
		}
		how := fmt.Sprintf("failed with exit code %d", check.Exit)
		if check.TimedOut {
			how = "ran out of time"
		}
		what := " It printed nothing."
		if strings.TrimSpace(check.Excerpt) != "" {
			what = "\n\n" + clean.Fence(check.Excerpt)
		}
		if fresh := verdict.NewFailures(run, check); len(fresh) > 0 {
			what += "\n\nIt was red before the work began, and what failed then does not hold it back. This is new:\n\n" + clean.Fence(strings.Join(fresh, "\n"))
		}
		said = append(said, fmt.Sprintf("The check `%s` %s on %s.%s", check.Command, how, trees[where], what))
	}
	return said
}

// unclaimed tells of green work that the agent did not call done.
func unclaimed(it journal.Iteration) bool {
	return it.Ended.Green && it.Ended.Worked && len(it.Ended.Passed) == 0 && !it.Ended.Done && len(it.Ended.Rejected) == 0
}

func undone(run journal.Run, it journal.Iteration) []string {
	var said []string
	if it.Read != nil {
		for _, what := range it.Read.Undone {
			said = append(said, "Put back in `"+memory(run)+"/prd.json`: "+what+".")
		}
		if it.Read.Cut {
			said = append(said, "Put back in `"+memory(run)+"/progress.txt`: what earlier iterations wrote below its line. Append to that, and shorten nothing.")
		}
	}
	if it.Taken == nil {
		return said
	}
	if len(it.Taken.Dropped) > 0 {
		said = append(said, "These files are protected and were put back: `"+line(strings.Join(it.Taken.Dropped, "`, `"))+"`. Leave them as they are."+shown(it.Taken.Proposed))
	}
	if len(it.Taken.Huge) > 0 {
		said = append(said, "These files are larger than 100 MiB and are not part of the work: "+line(journal.ShortList(it.Taken.Huge))+". Delete them, or have `.gitignore` name them.")
	}
	for _, finding := range it.Taken.Refused {
		said = append(said, fmt.Sprintf("Your commits were not taken over: %s. Fix that; rewrite those commits if needed.", line(finding.Commit+" "+finding.Path+" "+finding.Why)))
	}
	return said
}

// shown says that what an agent would change is not lost.
func shown(proposed []journal.Proposal) string {
	if len(proposed) == 0 {
		return ""
	}
	return " People are shown your changes as a patch; do not make them again."
}

// memory is the folder of the plan and the progress log, from where the agent stands.
func memory(run journal.Run) string {
	return strings.TrimPrefix(cmp.Or(run.Policy.Memory, "ralph"), run.Policy.Within+"/")
}

// of is the number of the last iteration there can be, 0 where nothing limits
// them. A resumed run counts on from what it had used.
func of(run journal.Run) int {
	if run.Policy.Limits.Iterations == 0 {
		return 0
	}
	return run.Granted.Iterations + run.Policy.Limits.Iterations
}

// others is what people said of the task, each fenced, under a line that says
// whose it is.
func others(t plan.Task) []string {
	var all []string
	for _, said := range t.Context {
		var head []string
		if said.Author != "" {
			head = append(head, clean.Inline(said.Author, 60))
		}
		if !said.At.IsZero() {
			head = append(head, said.At.UTC().Format(time.DateTime))
		}
		if said.Where != "" {
			head = append(head, "`"+strings.ReplaceAll(line(said.Where), "`", "'")+"`")
		}
		parts := []string{strings.Join(head, ", ") + ":"}
		if said.Hunk != "" {
			parts = append(parts, clean.Fence(said.Hunk))
		}
		all = append(all, strings.Join(append(parts, clean.Fence(said.Text)), "\n\n"))
	}
	return all
}
