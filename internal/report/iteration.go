package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/clean"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
)

// mark is how something did, as a class and as a word.
type mark string

const (
	good mark = "good"
	poor mark = "bad"
	open mark = "open"
)

// iteration is one as the page tells it.
type iteration struct {
	Number int
	ID     string
	Story  []span
	Mark   mark
	Facts  string
	Said   []line
	More   int // lines that are not shown
	Folds  []fold
	Logs   []fold
}

// line is a line of the log.
type line struct {
	Text string
	Bad  bool
}

func anchor(number int) string { return fmt.Sprintf("iteration-%d", number) }

// mark tells whether a chapter went well.
func (c chapter) mark() mark {
	ended := c.ended()
	switch {
	case len(c.faults()) > 0:
		return poor
	case ended != nil && (ended.Done || len(ended.Passed) > 0), !c.begun:
		return good
	}
	return open
}

// Word is the mark for those who see no colours.
func (m mark) Word() string {
	return map[mark]string{good: "good", poor: "with failures", open: "still open"}[m]
}

// Sign goes before words.
func (m mark) Sign() string { return map[mark]string{good: "✓", poor: "✗", open: "…"}[m] }

// iterationOf tells a chapter with so many bytes for what is folded.
func (s Source) iterationOf(c chapter, run journal.Run, room int) iteration {
	told := iteration{Number: c.number, ID: anchor(c.number), Story: titleOf(run, c.story), Mark: c.mark()}
	facts := []string{policy.Short(c.worked())}
	if price := c.price(); price != "" {
		facts = append(facts, price)
	}
	told.Said, told.More = c.log(room / 4)
	told.Facts = strings.Join(facts, " · ")
	told.Folds = s.folds(c, room/2)
	told.Logs = s.logs(c, room/4)
	return told
}

// log is what the log says of a chapter, but for that it begins.
func (c chapter) log(room int) (shown []line, more int) {
	for i, m := range c.moments {
		if _, begins := m.event.(journal.IterationBegan); begins && i == 0 {
			continue
		}
		for _, text := range m.lines {
			if room -= takes(text) + markupOfItem; room < 0 {
				more++
				continue
			}
			shown = append(shown, line{text, len(m.bad) > 0})
		}
	}
	return shown, more
}

// titleOf is storyOf with its Markdown rendered.
func titleOf(run journal.Run, id string) []span { return spans(clean.Inline(storyOf(run, id), 200)) }

// storyOf is a story by its id and title.
func storyOf(run journal.Run, id string) string {
	if story, found := run.Plan.Find(id); found {
		return oneLine(story.ID+" "+story.Title, 160)
	}
	return oneLine(id, 160)
}

// folds are what an agent was asked, said, did and left behind.
func (s Source) folds(c chapter, room int) []fold {
	var all []fold
	var began *journal.IterationBegan
	var ended *journal.AgentEnded
	var taken *journal.CommitsTaken
	var reviewed *journal.StoryReviewed
	for _, m := range c.moments {
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
		all = append(all, s.prompt(began.Prompt, share))
	}
	if ended != nil {
		words, tools := s.heard(voice{transcript: ended.Transcript, words: ended.Words}, share)
		all = append(all, words, tools)
	}
	if taken != nil && taken.From != taken.To && len(taken.Commits) > 0 {
		all = append(all, s.diff(*taken, share))
	}
	if opinion {
		all = append(all, s.opinion(*reviewed, share/2)...)
	}
	return all
}

// logs are what the commands of a chapter said, as far as there is room. What
// failed gets most of it.
func (s Source) logs(c chapter, room int) []fold {
	var all []fold
	left := room
	for _, m := range c.moments {
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
		folded := s.log(check, min(share, left))
		folded.Title = m.lines[0]
		left -= min(share, left)
		if all = append(all, folded); len(all) == mostLogs {
			break
		}
	}
	return all
}

const mostLogs = 20

// stamp is a moment as people read it who may be anywhere.
func stamp(at time.Time) string { return at.UTC().Format("2006-01-02 15:04 UTC") }
