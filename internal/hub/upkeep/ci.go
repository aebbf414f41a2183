package upkeep

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/trigger"
)

// answer returns the report about a red check, and whether its workflow is run again. It returns
// nothing where the change broke the check. base are the names of what is red on the base branch.
func answer(c trigger.Check, base []string) (text string, again bool) {
	switch {
	case c.Conclusion == "action_required":
		return "waits for approval on the pull request's page.", false
	case slices.Contains(base, c.Name):
		return "is red on the base branch, too: ralph leaves it alone.", false
	case c.Run != 0 && c.Attempt <= 1:
		return "failed: ralph asked for one re-run, which shows whether it is flaky.", true
	case slices.Contains(unfinished, c.Conclusion):
		return "did not run to its end: run it again.", false
	}
	return "", false
}

// unfinished are the conclusions of checks that say nothing about the change.
var unfinished = []string{"cancelled", "startup_failure", "stale"}

// Move is what follows from all that is red: work, or re-runs, or only words.
type Move struct {
	Work  []trigger.Check // that the change broke
	Rerun []int64         // workflow runs
	Line  string          // for people; empty where there is work
}

// Decide takes what is red on the head of a pull request, and on its base.
func Decide(red []trigger.Check, base []string) Move {
	var move Move
	var texts []string
	byText := map[string][]trigger.Check{}
	for _, c := range red {
		text, again := answer(c, base)
		if text == "" {
			move.Work = append(move.Work, c)
			continue
		}
		if len(byText[text]) == 0 {
			texts = append(texts, text)
		}
		byText[text] = append(byText[text], c)
		if again && !slices.Contains(move.Rerun, c.Run) {
			move.Rerun = append(move.Rerun, c.Run)
		}
	}
	if len(move.Work) > 0 {
		return Move{Work: move.Work}
	}
	for i, text := range texts {
		texts[i] = names(byText[text]) + " " + text
	}
	move.Line = strings.Join(texts, " ")
	return move
}

func names(checks []trigger.Check) string {
	var all []string
	for _, c := range checks {
		all = append(all, "`"+strings.ReplaceAll(c.Name, "`", "'")+"`")
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), ", ")
}

// Question returns what a person is asked where there were enough attempts.
func Question(red []trigger.Check) string {
	which := ""
	if len(red) > 0 { // a run that goes on did not look
		which = ": " + names(red)
	}
	const text = "**ralph asks:** CI is still red after the attempts that are allowed " +
		"(%d a head, %d a pull request)%s. What is missing?\n\n" +
		"**Next:** comment `/ralph -- <hint>`."
	return fmt.Sprintf(text, plan.MaxOfHead, plan.MaxOfPull, which)
}

// noteBegins begins the paragraph of the progress comment that is about CI.
const noteBegins = "**CI:** "

// Note replaces the line about CI above a progress comment. The first line holds its marks.
func Note(comment, line string) string {
	_, rest, _ := strings.Cut(strings.ReplaceAll(comment, "\r\n", "\n"), "\n")
	rest = strings.TrimSpace(rest)
	if strings.HasPrefix(rest, noteBegins) {
		_, rest, _ = strings.Cut(rest, "\n\n")
	}
	return strings.TrimSpace(noteBegins + line + "\n\n" + rest)
}

// Relevant returns a job's log up to its last marked error. The rest is cleaning up.
func Relevant(log string) string {
	at := strings.LastIndex(log, "##[error]")
	if at < 0 {
		return log
	}
	end, _, _ := strings.Cut(log[at:], "\n")
	return log[:at] + end
}
