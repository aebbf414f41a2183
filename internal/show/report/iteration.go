package report

import (
	"fmt"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/show/view"
)

// mark is a result, as a CSS class and as a word.
type mark string

const (
	good mark = "good"
	poor mark = "bad"
	open mark = "open"
)

// iteration is a segment as the page shows it: its row, its failures, and its texts if there is room.
type iteration struct {
	Begun  bool // false: before any iteration
	Number int
	Anchor string // of its texts; empty if they are left out
	Story  string
	Title  string // of the story, with its ID
	Mark   mark
	Times  string // the time of each phase
	Took   string
	Cost   string

	Faults     []string
	MoreFaults int // that are not shown
	Said       []line
	More       int // lines that are not shown
	Folds      []foldedText
	Logs       []foldedText
}

type line struct {
	Text string
	Bad  bool
}

// Word returns the mark as a word.
func (m mark) Word() string {
	return map[mark]string{good: "good", poor: "with failures", open: "still open"}[m]
}

func (s Source) iterationOf(c segment, run journal.Run, inFull bool) iteration {
	it := iteration{
		Begun:  c.isIteration,
		Number: c.number,
		Story:  s.line(c.story, 80),
		Title:  s.storyName(run, c.story),
		Mark:   c.mark(),
		Times:  c.times.String(),
		Took:   policy.FormatDuration(c.times.active()),
		Cost:   view.CostText(c.costUSD, c.costKnown),
	}
	faults, more := firstFew(c.badLines())
	it.Faults = s.lines(faults)
	it.MoreFaults = more
	if inFull {
		it.Anchor = fmt.Sprintf("iteration-%d", c.number)
		it.Said, it.More = s.logLines(c)
		it.Folds = s.agentTexts(c)
		it.Logs = s.checkLogs(c)
	}
	return it
}

// logLines returns the lines of a segment's events, and how many are not shown.
func (s Source) logLines(c segment) ([]line, int) {
	var shown []line
	more := 0
	for i, e := range c.events {
		if _, ok := e.event.(journal.IterationBegan); ok && i == 0 {
			continue
		}
		for _, text := range e.lines {
			if len(shown) == maxLines {
				more++
				continue
			}
			shown = append(shown, line{s.line(text, maxLine), len(e.badLines) > 0})
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
	var prompt, work, diff []foldedText // the newest of each
	for _, logged := range c.events {
		switch e := logged.event.(type) { //nolint:gochecksumtype // the others have no folded text
		case journal.IterationBegan:
			if e.Prompt.Path != "" {
				prompt = []foldedText{s.promptText(e.Prompt)}
			}
		case journal.AgentEnded:
			work = s.transcriptTexts(e)
		case journal.CommitsTaken:
			if e.From != e.To && len(e.Commits) > 0 {
				diff = []foldedText{s.commitDiff(e)}
			}
		}
	}
	return slices.Concat(prompt, work, diff)
}

// checkLogs returns the outputs of a segment's commands. Failed commands get more room.
func (s Source) checkLogs(c segment) []foldedText {
	var all []foldedText
	for _, e := range c.events {
		check, ok := commandResult(e.event)
		if !ok || len(e.lines) == 0 {
			continue
		}
		limit := s.limit / 4
		if !check.Passed && check.Skipped == "" {
			limit = s.limit
		}
		folded := s.checkLog(check, limit)
		folded.Title = s.line(slices.Concat(e.badLines, e.lines)[0], maxLine)
		all = append(all, folded)
		if len(all) == maxLogs {
			break
		}
	}
	return all
}

// commandResult returns the result of a check or a setup command.
func commandResult(event journal.Event) (journal.CheckEnded, bool) {
	switch e := event.(type) { //nolint:gochecksumtype // the others are of no command
	case journal.CheckEnded:
		return e, true
	case journal.SetupEnded:
		return journal.CheckEnded(e), true
	}
	return journal.CheckEnded{}, false
}

const (
	maxLogs  = 20
	maxLines = 100
	maxLine  = 600
)

// utcTime returns a time in UTC: readers can be in different time zones.
func utcTime(at time.Time) string { return at.UTC().Format("2006-01-02 15:04 UTC") }
