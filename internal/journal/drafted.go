package journal

import (
	"cmp"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/stream"
)

// PlanDrafted is an agent's plan for a task without acceptance criteria, or its question.
type PlanDrafted struct {
	By         string        `json:"by"` // the agent
	Stories    []plan.Story  `json:"stories,omitempty"`
	Left       []string      `json:"left,omitempty"`       // parts of its answer that are ignored
	Question   string        `json:"question,omitempty"`   // to people
	Why        string        `json:"why,omitempty"`        // why there are no stories
	CannotRun  bool          `json:"cannot_run,omitempty"` // the agent cannot work; another try will not help
	Fix        string        `json:"fix,omitempty"`        // what a person can do about that
	Denied     stream.Denial `json:"denied,omitempty"`     // why the model's server rejects it for good
	Overspent  bool          `json:"overspent,omitempty"`  // it was stopped because the budget is used
	TookMS     int64         `json:"took_ms"`
	Usage      stream.Usage  `json:"usage"`
	Cost       stream.Cost   `json:"cost"`
	Transcript Attachment    `json:"transcript"`
}

func (e PlanDrafted) fold(r *Run, _ time.Time) {
	r.Usage = r.Usage.Plus(e.Usage)
	r.CostUSD += e.Cost.USD
	r.CostKnown = r.CostKnown && e.Cost.Known
	r.Unable = nil
	switch {
	case e.CannotRun:
		r.Unable = &e
	case len(e.Stories) > 0:
		r.Plan.UserStories, r.Source, r.Vague = slices.Clone(e.Stories), string(plan.SourceAgent), false
	case e.Question != "":
		r.Asked = e.Question
	case e.Overspent:
		r.Overspent = cmp.Or(e.Why, overspent)
	default:
		r.Misplans = append(r.Misplans, e.Why)
	}
}
