package journal

import (
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/internal/stream"
)

// StoryReviewed is another agent's opinion of a story. It can block the story, but never pass it.
type StoryReviewed struct {
	Story      string       `json:"story"`
	Commit     string       `json:"commit"`
	By         string       `json:"by"`                  // the agent
	Looked     int          `json:"looked"`              // how many criteria it judged
	Missed     []Missed     `json:"missed,omitempty"`    // what blocks the story
	Unfounded  int          `json:"unfounded,omitempty"` // objections whose quote is not in the commit
	Why        string       `json:"why,omitempty"`       // why there is no opinion
	TookMS     int64        `json:"took_ms"`
	Usage      stream.Usage `json:"usage"`
	Cost       stream.Cost  `json:"cost"`
	Transcript Attachment   `json:"transcript"`
}

// Missed is a criterion that is not met, and a line that shows it.
type Missed struct {
	Criterion int    `json:"criterion"` // from 1
	Why       string `json:"why"`
	File      string `json:"file"`
	Line      int    `json:"line"`
	Quote     string `json:"quote"`
}

func (e StoryReviewed) fold(r *Run, at time.Time) {
	r.updateOpen(at)
	r.Reviews = append(r.Reviews, e)
	r.Usage = r.Usage.Plus(e.Usage)
	r.CostUSD += e.Cost.USD
	r.CostKnown = r.CostKnown && e.Cost.Known
}

// String returns what is missing, and where.
func (m Missed) String() string {
	return fmt.Sprintf("criterion %d: %s (%s:%d)", m.Criterion, m.Why, m.File, m.Line)
}

// Took is how long the review took.
func (e StoryReviewed) Took() time.Duration { return time.Duration(e.TookMS) * time.Millisecond }

// ReviewOf returns the newest opinion of a story.
func (r Run) ReviewOf(story string) (StoryReviewed, bool) {
	return newest(r.Reviews, func(reviewed StoryReviewed) bool { return reviewed.Story == story })
}
