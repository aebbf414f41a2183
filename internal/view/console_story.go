package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/policy"
)

// verdict is what an iteration came to, with the titles of the stories that
// passed, which stories are others than they were, and what all this took so far.
func (c *Console) verdict(run journal.Run, e journal.IterationEnded, rows []row) []row {
	for i, id := range e.Passed[:min(len(e.Passed), len(rows))] {
		if story, found := run.Plan.Find(id); found {
			rows[i].text += c.Look.ours(" · ") + lineOf(story.Title)
			c.note(story)
		}
	}
	rows = append(rows, c.stories(run)...)
	return append(rows, row{lead: "  💰 ", text: soFar(run), tone: faint})
}

// stories are those that are not as they were shown last.
func (c *Console) stories(run journal.Run) []row {
	var rows []row
	for _, story := range run.Plan.UserStories {
		if !c.note(story) {
			continue
		}
		rows = append(rows, row{lead: "  " + pick(story.Passes, goodSign, openSign) + " ", text: lineOf(story.ID + " " + story.Title)})
	}
	if left := len(rows) - most; left > 0 {
		rows = append(slices.Clip(rows[:most]), row{lead: "  ", text: c.Look.ours(fmt.Sprintf("… and %d more", left)), tone: faint})
	}
	return rows
}

// note remembers how story stands, and says whether that is new.
func (c *Console) note(story plan.Story) bool {
	now := fmt.Sprint(story.Passes, story.Title)
	if before, known := c.told[story.ID]; known && before == now {
		return false
	}
	if c.told == nil {
		c.told = map[string]string{}
	}
	c.told[story.ID] = now
	return true
}

// soFar is what was used of the limits since they were granted.
func soFar(run journal.Run) string {
	limits := run.Policy.Limits
	cost := spent(run.Spent(), run.CostKnown)
	if limits.CostUSD > 0 && (run.CostKnown || run.Spent() > 0) {
		cost += " of " + money(limits.CostUSD, true)
	}
	took := policy.Short(run.Elapsed())
	if limits.Run > 0 {
		took += " of " + limits.Run.String()
	}
	return strings.TrimSuffix("so far: "+cost+", "+took+", "+passing(run), ", ")
}

// sum is what the whole run took.
func sum(run journal.Run) string {
	text := plural(len(run.Iterations), "iteration") + ", " + spent(run.CostUSD, run.CostKnown) + ", " + policy.Short(run.Now.Sub(run.Began))
	return strings.TrimPrefix(passing(run)+", "+text, ", ")
}

// passing is how many stories passed, where there are any.
func passing(run journal.Run) string {
	if len(run.Plan.UserStories) == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %s passed", run.Passed(), plural(len(run.Plan.UserStories), "story"))
}
