package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/clean"
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
	Story  []span
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
	ended := c.iterationEnded()
	switch {
	case len(c.badLines()) > 0:
		return poor
	case ended != nil && (ended.Done || len(ended.Passed) > 0), !c.isIteration:
		return good
	}
	return open
}

// Word is the mark for people who do not see colours.
func (m mark) Word() string {
	return map[mark]string{good: "good", poor: "with failures", open: "still open"}[m]
}

// Sign is the sign before the words.
func (m mark) Sign() string { return map[mark]string{good: "✓", poor: "✗", open: "…"}[m] }

// iterationOf shows a segment as an iteration; room is for folded texts, in bytes.
func (s Source) iterationOf(c segment, run journal.Run, room int) iteration {
	it := iteration{Number: c.number, ID: anchor(c.number), Story: storyTitle(run, c.story), Mark: c.mark()}
	facts := []string{policy.FormatDuration(c.activeTime())}
	if price := c.costText(); price != "" {
		facts = append(facts, price)
	}
	it.Said, it.More = c.logLines(room / 4)
	it.Facts = strings.Join(facts, " · ")
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

func storyTitle(run journal.Run, id string) []span {
	return spans(clean.Inline(storyName(run, id), 200))
}

func storyName(run journal.Run, id string) string {
	if story, found := run.Plan.Find(id); found {
		return oneLine(story.ID+" "+story.Title, 160)
	}
	return oneLine(id, 160)
}

func (s Source) agentTexts(c segment, room int) []foldedText {
	var all []foldedText
	var began *journal.IterationBegan
	var ended *journal.AgentEnded
	var taken *journal.CommitsTaken
	var reviewed *journal.StoryReviewed
	for _, m := range c.events {
		switch e := m.event.(type) { //nolint:gochecksumtype // the others leave nothing to fold
		case journal.IterationBegan:
			began = &e
		case journal.AgentEnded:
			ended = &e
		case journal.CommitsTaken:
			taken = &e
		case journal.StoryReviewed:
			reviewed = &e
		}
	}
	share := room / 4
	opinion := reviewed != nil && reviewed.Transcript.Path != ""
	if opinion {
		share = room / 5
	}
	if began != nil && began.Prompt.Path != "" {
		all = append(all, s.promptText(began.Prompt, share))
	}
	if ended != nil {
		words, tools := s.transcriptTexts(agentRecord{transcript: ended.Transcript, words: ended.Words}, share)
		all = append(all, words, tools)
	}
	if taken != nil && taken.From != taken.To && len(taken.Commits) > 0 {
		all = append(all, s.commitDiff(*taken, share))
	}
	if opinion {
		all = append(all, s.reviewTexts(*reviewed, share/2)...)
	}
	return all
}

// checkLogs are the outputs of a segment's commands that fit. Failed commands get more room.
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

// utcTime is a time in UTC, as readers are in different time zones.
func utcTime(at time.Time) string { return at.UTC().Format("2006-01-02 15:04 UTC") }
