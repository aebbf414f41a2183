package journal

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/stream"
)

// Consultation is what an agent used to read a clean checkout and to answer a question.
type Consultation struct {
	Overspent  bool         `json:"overspent,omitempty"` // it was stopped because the budget is used
	TookMS     int64        `json:"took_ms"`
	Usage      stream.Usage `json:"usage"`
	Cost       stream.Cost  `json:"cost"`
	Transcript Attachment   `json:"transcript"`
}

// Consultation returns what the agent used.
func (a AgentEnded) Consultation() Consultation {
	return Consultation{
		Overspent:  a.Overspent,
		TookMS:     a.TookMS,
		Usage:      a.Usage,
		Cost:       a.Cost,
		Transcript: a.Transcript,
	}
}

// StoryReviewed is another agent's opinion of a story. It can block the story, but never pass it.
type StoryReviewed struct {
	Story     string   `json:"story"`
	Commit    string   `json:"commit"`
	By        string   `json:"by"`                  // the agent
	Looked    int      `json:"looked"`              // how many criteria it checked
	Missed    []Missed `json:"missed,omitempty"`    // what blocks the story
	Unfounded int      `json:"unfounded,omitempty"` // objections whose quote is not in the commit
	Why       string   `json:"why,omitempty"`       // why there is no opinion
	Consultation
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
	r.spend(e.Usage, e.Cost)
	if e.Overspent {
		r.Spent.Overspent = cmp.Or(e.Why, overspent)
	}
}

// String returns what is missing, and where.
func (m Missed) String() string {
	return fmt.Sprintf("criterion %d: %s (%s:%d)", m.Criterion, m.Why, m.File, m.Line)
}

// ReviewOf returns the newest opinion of a story.
func (r Run) ReviewOf(story string) (StoryReviewed, bool) {
	return newest(r.Reviews, func(reviewed StoryReviewed) bool { return reviewed.Story == story })
}

// PlanDrafted is an agent's plan for a task without acceptance criteria, or its question.
type PlanDrafted struct {
	By        string        `json:"by"` // the agent
	Stories   []plan.Story  `json:"stories,omitempty"`
	Left      []string      `json:"left,omitempty"`       // parts of its answer that are ignored
	Question  string        `json:"question,omitempty"`   // to people
	Why       string        `json:"why,omitempty"`        // why there are no stories
	CannotRun bool          `json:"cannot_run,omitempty"` // the agent cannot work; another try will not help
	Fix       string        `json:"fix,omitempty"`        // what a person can do about that
	Denied    stream.Denial `json:"denied,omitempty"`     // why the model's server rejects it for good
	Consultation
}

func (e PlanDrafted) fold(r *Run, _ time.Time) {
	r.spend(e.Usage, e.Cost)
	r.Planning.Unable = nil
	switch {
	case e.CannotRun:
		r.Planning.Unable = &e
	case len(e.Stories) > 0:
		r.Plan.UserStories = slices.Clone(e.Stories)
		r.Planning.Vague = false
	case e.Question != "":
		r.Planning.Asked = e.Question
	case e.Overspent:
		r.Spent.Overspent = cmp.Or(e.Why, overspent)
	default:
		r.Planning.Misplans = append(r.Planning.Misplans, e.Why)
	}
}
