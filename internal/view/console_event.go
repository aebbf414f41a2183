package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
)

// Event is what there is to show of an event, in Line's words, without a
// newline at its end; empty for what is no news. Run is the run after it.
func (c *Console) Event(run journal.Run, event journal.Event) string {
	at := run.Now
	if c.Now != nil {
		at = at.In(c.Now().Location())
	}
	return c.write(at, c.news(run, event))
}

func (c *Console) news(run journal.Run, event journal.Event) []row {
	switch e := event.(type) {
	case journal.RunBegan, journal.Resumed:
		return c.set(run, e)
	case journal.CheckEnded:
		return c.check(run, e)
	case journal.SetupEnded:
		return c.lastWords(c.Look.line(run, pick(e.Passed, goodSign, badSign), e), e.Passed, e.Excerpt)
	case journal.PlanDrafted:
		return c.Look.line(run, pick(len(e.Stories) > 0, goodSign, warnSign), e)
	case journal.BaselineEnded:
		return c.Look.line(run, pick(e.Usable, goodSign, warnSign), e)
	case journal.IterationBegan:
		return c.iteration(run, e)
	case journal.AgentEnded:
		return c.agent(run, e)
	case journal.PlanRead:
		return c.Look.claims(run, e)
	case journal.CommitsTaken:
		return c.Look.handed(run, e)
	case journal.ProofEnded:
		return c.Look.line(run, pick(!e.Passed, badSign, pick(e.Empty, warnSign, goodSign)), e)
	case journal.ChangeInspected:
		return c.Look.inspected(e)
	case journal.StoryGraded, journal.StoryReviewed:
		return c.Look.line(run, opinionSign(run, e), e)
	case journal.IterationEnded:
		return c.verdict(run, e)
	case journal.SCMEnded:
		return c.Look.line(run, pick(e.Failed, badSign, goodSign), e)
	case journal.RunStopped:
		return c.stop(run, e)
	case journal.Paused:
		return c.Look.line(run, waitSign, e)
	case journal.PullReadied, journal.Joined, journal.PublishFailed, journal.CancelAsked, journal.EgressRefused, journal.Branched,
		journal.Noted, journal.EgressPassed, journal.Pushed, journal.PullOpened, journal.Packed, journal.Signed, journal.CommentPosted:
		if Line(run, e) != "" {
			return c.Look.line(run, signOf(e), e)
		}
	case journal.Shelved: // of no news to people
	case journal.TaskLooked, journal.TaskSettled: // a supervised command has the terminal to itself
	}
	return nil
}

// signOf goes before what has become of the work elsewhere.
func signOf(event journal.Event) string {
	switch e := event.(type) { //nolint:gochecksumtype // the others are no news of that kind
	case journal.PullReadied:
		return goodSign
	case journal.PublishFailed, journal.CancelAsked, journal.EgressRefused, journal.Branched:
		return warnSign
	case journal.Joined:
		return pick(len(e.Conflicts) > 0, warnSign, "· ")
	}
	return "· "
}

// line is Line's word on an event that has one line of it, behind a sign and
// as far in as it is there.
func (l Look) line(run journal.Run, sign string, event journal.Event) []row {
	said := Line(run, event)
	indent := said[:len(said)-len(strings.TrimLeft(said, " "))]
	return l.say(indent+sign+" ", l.ours(said), plain)
}

func pick(is bool, yes, no string) string {
	if is {
		return yes
	}
	return no
}

// set is how a run sets out, with all its stories.
func (c *Console) set(run journal.Run, event journal.Event) []row {
	c.told = nil
	rows := c.Look.line(run, "🚀", event)
	for i := range rows {
		rows[i].gap = true
	}
	return append(rows, c.stories(run)...)
}

// Checking is a line for a check that is about to run.
func (c *Console) Checking(check policy.Check) string {
	return c.write(c.now(), c.Look.say("  "+waitSign+" ", "check "+check.Name+c.Look.ours(" …"), plain))
}

// check is how a check did; of one that holds the work back, also the end of
// what it said.
func (c *Console) check(run journal.Run, e journal.CheckEnded) []row {
	sign := mark(run, e)
	return c.lastWords(c.Look.line(run, sign, e), sign != badSign, e.Excerpt)
}

// lastWords are rows with the end of what a command said beneath, unless all is well.
func (c *Console) lastWords(rows []row, well bool, excerpt string) []row {
	if well {
		return rows
	}
	said := strings.Split(strings.Trim(scrub(excerpt), " \n"), "\n")
	said = slices.DeleteFunc(said, func(s string) bool { return strings.TrimSpace(s) == "" })
	for _, quoted := range c.Look.quote(strings.Join(said[max(len(said)-3, 0):], "\n"), faint) {
		quoted.lead = "   " + quoted.lead
		rows = append(rows, quoted)
	}
	return rows
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

// agent is the agent's sum, where its closing line did not say it already.
func (c *Console) agent(run journal.Run, e journal.AgentEnded) []row {
	if c.ended && !e.Failed {
		return nil
	}
	return c.Look.line(run, pick(e.Failed, badSign, goodSign), e)
}

// claims and the other events of several lines are told one by one, each with
// its sign.
func (l Look) claims(run journal.Run, e journal.PlanRead) []row {
	rows := l.line(run, "· ", journal.PlanRead{Claimed: e.Claimed})
	for _, what := range e.Undone {
		rows = append(rows, l.line(run, warnSign, journal.PlanRead{Undone: []string{what}})...)
	}
	if e.Cut {
		rows = append(rows, l.line(run, warnSign, journal.PlanRead{Cut: true})...)
	}
	return rows
}

func (l Look) handed(run journal.Run, e journal.CommitsTaken) []row {
	var rows []row
	for _, commit := range e.Commits {
		rows = append(rows, l.line(run, "· ", journal.CommitsTaken{Commits: []journal.Commit{commit}})...)
	}
	for _, path := range e.Dropped {
		rows = append(rows, l.line(run, warnSign, journal.CommitsTaken{Dropped: []string{path}})...)
	}
	if len(e.Huge) > 0 {
		rows = append(rows, l.line(run, warnSign, journal.CommitsTaken{Huge: e.Huge})...)
	}
	for _, finding := range e.Refused {
		rows = append(rows, l.line(run, badSign, journal.CommitsTaken{Refused: []journal.Finding{finding}})...)
	}
	return rows
}

// stop is the end of a run: why, what there is, and what to do next.
func (c *Console) stop(run journal.Run, e journal.RunStopped) []row {
	signs := map[policy.Status]string{policy.StatusCompleted: goodSign, policy.StatusWaiting: waitSign, policy.StatusFailed: badSign}
	sign, known := signs[e.Reason.Status()]
	if !known {
		sign = "🛑"
	}
	rows := c.Look.line(run, sign, e)
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
	if e.Reason == policy.AllStoriesPassed {
		texts = append(texts, headline(run))
	}
	texts = append(texts, sum(run))
	switch {
	case run.Pull != nil:
		texts = append(texts, fmt.Sprintf("pull request #%d: %s", run.Pull.Number, run.Pull.URL))
	case run.Branch != "" && run.Head != run.Start:
		texts = append(texts, "branch: "+run.Branch)
	}
	if what := next(run); what != "" {
		texts = append(texts, "next: "+what)
	}
	return texts
}
