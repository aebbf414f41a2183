package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/view/ending"
)

// Event is the text of an event, in Line's words, without a newline at its end;
// empty if it is no news. Run is the run after it.
func (c *Console) Event(run journal.Run, event journal.Event) string {
	at := run.Now
	if c.Now != nil {
		at = at.In(c.Now().Location())
	}
	return c.write(at, c.news(run, event))
}

func (c *Console) news(run journal.Run, event journal.Event) []row {
	rows := c.Look.rows(say(run, event))
	switch e := event.(type) { //nolint:gochecksumtype // of the others the lines say all
	case journal.RunBegan, journal.Resumed:
		return c.set(run, rows)
	case journal.CheckEnded:
		return c.lastWords(rows, mark(run, e) != badSign, e.Excerpt)
	case journal.SetupEnded:
		return c.lastWords(rows, e.Passed, e.Excerpt)
	case journal.IterationBegan:
		return c.iteration(run, e)
	case journal.AgentEnded:
		if c.ended && !e.Failed { // its closing line said it already
			return nil
		}
	case journal.IterationEnded:
		return c.verdict(run, e, rows)
	case journal.RunStopped:
		return c.stop(run, e, rows)
	case journal.TaskSettled: // a supervised command has the terminal to itself
		return nil
	}
	return rows
}

// rows are lines about an event behind their signs.
func (l Look) rows(all []saying) []row {
	var rows []row
	for _, said := range all {
		rows = append(rows, l.say(said.indent+said.sign+" ", l.ours(said.text), plain)...)
	}
	return rows
}

func pick(is bool, yes, no string) string {
	if is {
		return yes
	}
	return no
}

// set is how a run sets out, with all its stories.
func (c *Console) set(run journal.Run, rows []row) []row {
	c.told = nil
	for i := range rows {
		rows[i].gap = true
	}
	return append(rows, c.stories(run)...)
}

// Checking is a line for a check that is about to run.
func (c *Console) Checking(check policy.Check) string {
	return c.write(c.now(), c.Look.say("  "+waitSign+" ", "check "+check.Name+c.Look.ours(" …"), plain))
}

// lastWords are rows with the end of what a command said beneath, unless all is well.
func (c *Console) lastWords(rows []row, well bool, excerpt string) []row {
	if well {
		return rows
	}
	for _, quoted := range c.Look.quote(strings.Join(Tail(excerpt), "\n"), faint) {
		quoted.lead = "   " + quoted.lead
		rows = append(rows, quoted)
	}
	return rows
}

// Tail are the last lines with text that a command printed, at most three.
func Tail(excerpt string) []string {
	said := strings.Split(strings.Trim(scrub(excerpt), " \n"), "\n")
	said = slices.DeleteFunc(said, func(s string) bool { return strings.TrimSpace(s) == "" })
	return said[max(len(said)-3, 0):]
}

// iteration is the header of an iteration.
func (c *Console) iteration(run journal.Run, e journal.IterationBegan) []row {
	c.rest()
	c.began = c.now()
	title := fmt.Sprintf("Iteration %d", e.Number)
	if most := run.Policy.Limits.Iterations; most > 0 {
		title += fmt.Sprintf(" of %d", run.Granted.Iterations+most)
	}
	if about := named(run, e.Story); about != "" {
		title += c.Look.ours(" · ") + about
	}
	return []row{{gap: true, text: c.Look.rule(title), tone: bold, clip: true}}
}

// named is a story by its id and title.
func named(run journal.Run, id string) string {
	for _, story := range run.Plan.UserStories {
		if story.ID == id {
			return lineOf(id + " " + story.Title)
		}
	}
	return lineOf(id)
}

// rule is title in a line across the terminal.
func (l Look) rule(title string) string {
	const widest = 80
	room := l.room("")
	if room == 0 || room > widest {
		room = widest
	}
	// A line on both sides, and a space.
	text := l.ours("── ") + l.clip(title, room-5) + " "
	return text + strings.Repeat(l.ours("─"), max(room-width(text), 1))
}

// stop is the end of a run: why it stopped, its result, and what to do next.
func (c *Console) stop(run journal.Run, e journal.RunStopped, rows []row) []row {
	for i := range rows {
		rows[i].gap, rows[i].tone = true, bold
	}
	for _, text := range c.left(run, e) {
		rows = append(rows, c.Look.say("   ", c.Look.ours(text), plain)...)
	}
	return rows
}

func (c *Console) left(run journal.Run, e journal.RunStopped) []string {
	var texts []string
	switch end := ending.Of(run); {
	case end.Cause != "" && strings.HasPrefix(e.Why, end.Headline): // it was just said
	case e.Reason == policy.AllStoriesPassed || end.Cause != "" && end.Why != e.Why:
		texts = append(texts, spoken(Headline(run)))
	case end.Cause != "":
		texts = append(texts, end.Headline)
	}
	texts = append(texts, Sum(run))
	switch {
	case run.Pull != nil:
		texts = append(texts, fmt.Sprintf("pull request #%d: %s", run.Pull.Number, run.Pull.URL))
	case run.Branch != "" && run.Head != run.Start:
		texts = append(texts, "branch: "+run.Branch)
	}
	if what := Next(run); what != "" {
		texts = append(texts, "next: "+what)
	}
	return texts
}

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
	cost := Spent(run.Spent(), run.CostKnown)
	if limits.CostUSD > 0 && (run.CostKnown || run.Spent() > 0) {
		cost += " of " + money(limits.CostUSD, true)
	}
	took := policy.Short(run.Elapsed())
	if limits.Run > 0 {
		took += " of " + limits.Run.String()
	}
	return strings.TrimSuffix("so far: "+cost+", "+took+", "+passing(run), ", ")
}

// Sum is what the whole run took.
func Sum(run journal.Run) string {
	text := plural(len(run.Iterations), "iteration") + ", " + Spent(run.CostUSD, run.CostKnown) + ", " + policy.Short(run.Now.Sub(run.Began))
	return strings.TrimPrefix(passing(run)+", "+text, ", ")
}

// passing is how many stories passed, where there are any.
func passing(run journal.Run) string {
	if len(run.Plan.UserStories) == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %s passed", run.Passed(), plural(len(run.Plan.UserStories), "story"))
}
