package plan

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/lib/jsontree"
	"github.com/ralph-loop/ralph/internal/lib/pattern"
)

const maxTitle = 200

const doneNote = "Its box was ticked when the plan was drafted." // the note of a story that passed before the run

var storyID = pattern.Of(`^[\[(]?((?i:US)-\d{1,9})[\])]?(?:\s*[:.–—-]\s*|\s+)(\S.*)$`)

// mark is what an author can write behind a story's title.
var mark = pattern.Of(`(?i)^(.*\S)\s*\((needs no test|may change tests)\)$`)

func (d *drafter) stories(entries []entry) ([]Story, error) {
	if len(entries) > maxStories {
		return nil, fmt.Errorf("%s: found %d stories, want at most %d", d.task, len(entries), maxStories)
	}
	stories := make([]Story, len(entries))
	for i, e := range entries {
		stories[i] = e.story(i + 1)
	}
	numberStories(stories)
	return stories, nil
}

func (e entry) story(position int) Story {
	s := Story{Priority: position, Passes: e.done}
	title := e.title
	if m := storyID.FindStringSubmatch(title); m != nil {
		s.ID = strings.ToUpper(m[1])
		title = m[2]
	}
	title = s.takeMarks(title)
	about := slices.Clone(e.about)
	s.AcceptanceCriteria = e.criteria
	if len(s.AcceptanceCriteria) == 0 {
		s.AcceptanceCriteria = []string{withFullStop(title)}
	}
	if utf8.RuneCountInString(title) > maxTitle {
		about = slices.Insert(about, 0, title)
	}
	s.Title = jsontree.Clip(title, maxTitle)
	s.Description = joinParagraphs(about...)
	if s.Passes {
		s.Notes = doneNote
	}
	return s
}

// takeMarks moves the marks at the end of a title, in any order, into fields, and returns the rest.
func (s *Story) takeMarks(title string) string {
	m := mark.FindStringSubmatch(title)
	if m == nil {
		return title
	}
	if strings.EqualFold(m[2], "needs no test") {
		s.NeedsTest = new(false)
	} else {
		s.MayChangeTests = true
	}
	return s.takeMarks(m[1])
}

// numberStories gives new ids to stories without an id or with the id of an earlier story.
func numberStories(stories []Story) {
	taken := map[string]bool{}
	for i, s := range stories {
		if taken[s.ID] {
			stories[i].ID = ""
		}
		taken[s.ID] = true
	}
	for i := range stories {
		for n := i + 1; stories[i].ID == ""; n++ {
			if id := fmt.Sprintf("US-%03d", n); !taken[id] {
				stories[i].ID = id
				taken[id] = true
			}
		}
	}
}

func withFullStop(title string) string {
	if last, _ := utf8.DecodeLastRuneInString(title); strings.ContainsRune(".!?…:;", last) {
		return title
	}
	return title + "."
}

func nonBlankLines(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		if !blank(line) {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}
