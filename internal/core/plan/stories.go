package plan

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/lib/jsontree"
	"github.com/ralph-loop/ralph/internal/lib/pattern"
)

const maxTitle = 200

const doneNote = "Its box was ticked when the plan was drafted." // the note of a story that passed before the run

// Marks that an author can put in brackets, or on a line of their own.
const (
	noTestText    = `needs\s+no\s+tests?|no\s+tests?\s+needed`
	mayChangeText = `may\s+change\s+(?:the\s+)?tests?`
)

var (
	storyID     = pattern.Of(`^[\[(]?((?i:US)-\d{1,9})[\])]?(?:\s*[:.–—-]\s*|\s+)(\S.*)$`)
	noTest      = pattern.Of(`(?i)(?:^|\s+)[(\[](?:` + noTestText + `)[)\]]\.?\s*$|^\s*(?:` + noTestText + `)\.?\s*$`)
	changesTest = pattern.Of(`(?i)(?:^|\s+)[(\[]` + mayChangeText + `[)\]]\.?\s*$|^\s*` + mayChangeText + `\.?\s*$`)
)

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
	title = cmp.Or(s.takeMarks(title), e.title)
	var about []string
	for _, text := range e.about {
		about = append(about, s.takeMarks(text))
	}
	for _, text := range e.criteria {
		if left := s.takeMarks(text); !blank(left) {
			s.AcceptanceCriteria = append(s.AcceptanceCriteria, left)
		}
	}
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

// takeMarks moves marks at the end of a text, in any order, into fields, and returns the rest.
func (s *Story) takeMarks(text string) string {
	for {
		left := text
		if at := noTest.FindStringIndex(left); at != nil {
			s.NeedsTest = new(false)
			left = left[:at[0]]
		}
		if at := changesTest.FindStringIndex(left); at != nil {
			s.MayChangeTests = true
			left = left[:at[0]]
		}
		if left == text {
			return text
		}
		text = left
	}
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

// lineAt returns the line number of an offset in the body.
func (p document) lineAt(at int) int {
	return 1 + bytes.Count(p.src[:min(max(at, 0), len(p.src))], []byte("\n"))
}
