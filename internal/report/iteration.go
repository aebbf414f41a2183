package report

import (
	"fmt"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
)

// mark is a result, as a CSS class and as a word.
type mark string

const (
	good mark = "good"
	poor mark = "bad"
	open mark = "open"
)

type iteration struct {
	Number int
	ID     string
	Story  string
	Mark   mark
	Facts  string
	Said   []line
	More   int // lines that are not shown
	Folds  []foldedText
	Logs   []foldedText
}

type line struct {
	Text string
	Bad  bool
}

func anchor(number int) string { return fmt.Sprintf("iteration-%d", number) }

func (c segment) mark() mark {
	switch {
	case len(c.badLines()) > 0:
		return poor
	case !c.isIteration:
		return good
	}
	for _, m := range c.events {
		if e, is := m.event.(journal.IterationEnded); is && (e.Done || len(e.Passed) > 0) {
			return good
		}
	}
	return open
}

// Word returns the mark as a word.
func (m mark) Word() string {
	return map[mark]string{good: "good", poor: "with failures", open: "still open"}[m]
}

// Sign returns the sign of the mark.
func (m mark) Sign() string { return map[mark]string{good: "✓", poor: "✗", open: "…"}[m] }

// iterationOf returns a segment as an iteration; room is the limit of its folded texts, in bytes.
func (s Source) iterationOf(c segment, run journal.Run, room int) iteration {
	it := iteration{Number: c.number, ID: anchor(c.number), Story: storyName(run, c.story), Mark: c.mark()}
	it.Facts = policy.FormatDuration(c.activeTime()) + " · " + c.costText()
	it.Said, it.More = c.logLines(room / 4)
	it.Folds = s.agentTexts(c, room/2)
	it.Logs = s.checkLogs(c, room/4)
	return it
}

func (c segment) logLines(room int) (shown []line, more int) {
	for i, m := range c.events {
		if _, begins := m.event.(journal.IterationBegan); begins && i == 0 {
			continue
		}
		for _, text := range m.lines {
			if room -= textSize(text) + markupOfItem; room < 0 {
				more++
				continue
			}
			shown = append(shown, line{text, len(m.badLines) > 0})
		}
	}
	return shown, more
}

func storyName(run journal.Run, id string) string {
	if story, found := run.Plan.Find(id); found {
		return oneLine(story.ID+" "+story.Title, 160)
	}
	return oneLine(id, 160)
}

func (s Source) agentTexts(c segment, room int) []foldedText {
	var prompt, work, diff, opinion []foldedText // the newest of each
	room /= 5
	for _, m := range c.events {
		switch e := m.event.(type) { //nolint:gochecksumtype // the others have no folded text
		case journal.IterationBegan:
			if e.Prompt.Path != "" {
				prompt = []foldedText{s.promptText(e.Prompt, room)}
			}
		case journal.AgentEnded:
			work = s.transcriptTexts("", e.Transcript, e.Words, room)
		case journal.CommitsTaken:
			if e.From != e.To && len(e.Commits) > 0 {
				diff = []foldedText{s.commitDiff(e, room)}
			}
		case journal.StoryReviewed:
			if e.Transcript.Path != "" {
				opinion = s.reviewTexts(e, room/2)
			}
		}
	}
	return slices.Concat(prompt, work, diff, opinion)
}

// checkLogs returns the outputs of a segment's commands that fit. Failed commands get more room.
func (s Source) checkLogs(c segment, room int) []foldedText {
	var all []foldedText
	left := room
	for _, m := range c.events {
		check, is := m.event.(journal.CheckEnded)
		if set, other := m.event.(journal.SetupEnded); other {
			check, is = journal.CheckEnded(set), true
		}
		if !is || len(m.lines) == 0 {
			continue
		}
		share := room / 8
		if !check.Passed && check.Skipped == "" {
			share = room / 2
		}
		folded := s.checkLog(check, min(share, left))
		folded.Title = slices.Concat(m.badLines, m.lines)[0]
		left -= min(share, left)
		if all = append(all, folded); len(all) == maxLogs {
			break
		}
	}
	return all
}

const maxLogs = 20

// utcTime returns a time in UTC: readers can be in different time zones.
func utcTime(at time.Time) string { return at.UTC().Format("2006-01-02 15:04 UTC") }
