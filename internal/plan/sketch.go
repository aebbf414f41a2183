package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/clean"
)

// Vague tells of a plan that is the task again in one story, and names nothing
// that has to hold. A story that people say needs no test is theirs as it is.
func Vague(t Task, p Plan, from Source) bool {
	if t.Kind != KindIssue || from != SourcePlain || len(p.UserStories) != 1 {
		return false
	}
	story := p.UserStories[0]
	if story.Untested() || len(story.AcceptanceCriteria) != 1 {
		return false
	}
	return strings.HasPrefix(story.AcceptanceCriteria[0], strings.TrimSuffix(story.Title, "…"))
}

// mostSketched is how many stories an agent may make of one task.
const mostSketched = 20

// ErrNoSketch is an answer without a plan.
var ErrNoSketch = errors.New("it gave no JSON with userStories")

// Sketch are the stories in an agent's answer: a PRD, bare or in a code block,
// held against all rules for one. What is not the agent's to say is left out,
// and named: commands to run, what has passed, what needs no test.
func Sketch(answer string) (stories []Story, left []string, err error) {
	text := readable(answer)
	if !isPRD(text) {
		code, found := fencedPRD(newPage(text))
		if !found {
			return nil, nil, ErrNoSketch
		}
		text = string(code.Lines().Value([]byte(text)))
	}
	p, err := read(input{name: "the plan", data: []byte(text), prose: true})
	if err != nil {
		return nil, nil, err
	}
	if n := len(p.UserStories); n > mostSketched {
		return nil, nil, fmt.Errorf("the plan: found %d stories, want at most %d", n, mostSketched)
	}
	if len(p.VerifyCommands) > 0 {
		left = append(left, "verifyCommands")
	}
	for _, story := range p.UserStories {
		own, more := story.sketched()
		stories, left = append(stories, own), append(left, more...)
	}
	return stories, slices.Compact(left), validate(Plan{UserStories: stories})
}

// sketched is a story as far as whoever makes a plan may say it. An agent may
// have read what was hidden from people: none of that becomes a story.
func (s Story) sketched() (own Story, left []string) {
	own = Story{ID: s.ID, Title: titled(s.Title), Description: seen(s.Description), Priority: s.Priority, DependsOn: s.DependsOn}
	for _, criterion := range s.AcceptanceCriteria {
		own.AcceptanceCriteria = append(own.AcceptanceCriteria, oneLine(seen(criterion)))
	}
	if s.Passes {
		left = append(left, "that "+s.ID+" passes")
	}
	if s.NeedsTest != nil {
		left = append(left, "whether "+s.ID+" needs a test")
	}
	if s.MayChangeTests {
		left = append(left, "whether "+s.ID+" may change tests")
	}
	return own, left
}

func titled(text string) string {
	shown, _ := clean.Plain(text, maxBody)
	return oneLine(shown)
}

// seen is text without what people would not see.
func seen(text string) string {
	shown, _ := clean.Inward(text, maxBody)
	return shown
}
