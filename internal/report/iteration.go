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

func (s Source) iterationOf(c segment, run journal.Run) iteration {
	it := iteration{Number: c.number, ID: anchor(c.number), Story: s.storyName(run, c.story), Mark: c.mark()}
	it.Facts = policy.FormatDuration(c.activeTime()) + " · " + c.costText()
	it.Said, it.More = s.logLines(c)
	it.Folds = s.agentTexts(c)
	it.Logs = s.checkLogs(c)
	return it
}

func (s Source) logLines(c segment) (shown []line, more int) {
	for i, m := range c.events {
		if _, begins := m.event.(journal.IterationBegan); begins && i == 0 {
			continue
		}
		for _, text := range m.lines {
			if len(shown) == maxLines {
				more++
				continue
			}
			shown = append(shown, line{s.line(text, maxLine), len(m.badLines) > 0})
		}
	}
	return shown, more
}

func (s Source) storyName(run journal.Run, id string) string {
	if story, found := run.Plan.Find(id); found {
		return s.line(story.ID+" "+story.Title, 160)
	}
	return s.line(id, 160)
}

func (s Source) agentTexts(c segment) []foldedText {
	var prompt, work, diff, opinion []foldedText // the newest of each
	for _, m := range c.events {
		switch e := m.event.(type) { //nolint:gochecksumtype // the others have no folded text
		case journal.IterationBegan:
			if e.Prompt.Path != "" {
				prompt = []foldedText{s.promptText(e.Prompt)}
			}
		case journal.AgentEnded:
			work = s.transcriptTexts("", e.Transcript, e.Words)
		case journal.CommitsTaken:
			if e.From != e.To && len(e.Commits) > 0 {
				diff = []foldedText{s.commitDiff(e)}
			}
		case journal.StoryReviewed:
			if e.Transcript.Path != "" {
				opinion = s.reviewTexts(e)
			}
		}
	}
	return slices.Concat(prompt, work, diff, opinion)
}

// checkLogs returns the outputs of a segment's commands. Failed commands get more room.
func (s Source) checkLogs(c segment) []foldedText {
	var all []foldedText
	for _, m := range c.events {
		check, is := m.event.(journal.CheckEnded)
		if set, other := m.event.(journal.SetupEnded); other {
			check, is = journal.CheckEnded(set), true
		}
		if !is || len(m.lines) == 0 {
			continue
		}
		limit := s.limit / 4
		if !check.Passed && check.Skipped == "" {
			limit = s.limit
		}
		folded := s.checkLog(check, limit)
		folded.Title = s.line(slices.Concat(m.badLines, m.lines)[0], maxLine)
		if all = append(all, folded); len(all) == maxLogs {
			break
		}
	}
	return all
}

const (
	maxLogs  = 20
	maxLines = 100
	maxLine  = 600
)

// utcTime returns a time in UTC: readers can be in different time zones.
func utcTime(at time.Time) string { return at.UTC().Format("2006-01-02 15:04 UTC") }
