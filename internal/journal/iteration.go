package journal

import (
	"cmp"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/stream"
)

// IterationBegan opens an iteration on a story.
type IterationBegan struct {
	Number int        `json:"number"`
	Story  string     `json:"story,omitempty"`
	Prompt Attachment `json:"prompt"`
	Log    Attachment `json:"log,omitzero"`  // the progress log that the agent finds
	Bus    int64      `json:"bus,omitempty"` // how long the task's message bus was

	Session string `json:"session,omitempty"` // of the agent, where the loop is within one
	Heard   int64  `json:"heard,omitempty"`   // how long that session's transcript was
}

// fold opens an iteration; one that was cut off before its agent ended, or whose
// agent was turned away, is begun again in its place.
func (e IterationBegan) fold(r *Run, at time.Time) {
	it := Iteration{Number: e.Number, Story: e.Story, Began: at, Last: at, Prompt: e.Prompt, Bus: e.Bus, Session: e.Session}
	r.Looked = nil
	r.Log = cmp.Or(e.Log, r.Log)
	open, is := r.OpenIteration()
	if !is || open.Agent != nil && !open.Agent.Busy {
		r.Iterations = append(r.Iterations, it)
		return
	}
	it.Turned, it.Earlier = open.Turned, open.Earlier
	if open.Agent != nil {
		it.Earlier = open.Agent
	}
	r.Iterations[len(r.Iterations)-1] = it
}

// Attachment is a file that lies beside the journal.
type Attachment struct {
	Path   string `json:"path,omitempty"`   // within the run's folder
	Digest string `json:"digest,omitempty"` // sha256
	Size   int64  `json:"size,omitempty"`
}

// AgentEnded is the sum of one agent's run.
type AgentEnded struct {
	Exit       int           `json:"exit"`
	Signal     string        `json:"signal,omitempty"`
	TimedOut   bool          `json:"timed_out,omitempty"`
	CannotRun  bool          `json:"cannot_run,omitempty"` // it is missing or refused to start; trying again is no use
	Failed     bool          `json:"failed,omitempty"`     // by its own word or its exit code
	Why        string        `json:"why,omitempty"`        // why it failed
	Fix        string        `json:"fix,omitempty"`        // what a person can do about it, where that is known
	Denied     stream.Denial `json:"denied,omitempty"`     // why the model's server turned it away for good
	Busy       bool          `json:"busy,omitempty"`       // the model's server turned it away for now: no fault of the work
	Until      time.Time     `json:"until,omitzero"`       // when that server may be asked again, by its own word
	Overspent  bool          `json:"overspent,omitempty"`  // it was ended or refused for having used what was left of the budget
	TookMS     int64         `json:"took_ms"`
	Tools      int           `json:"tools"`
	Chores     int           `json:"chores,omitempty"` // of these, calls that only kept the loop's books
	Blind      bool          `json:"blind,omitempty"`  // its tool calls cannot be seen
	ToolErrors int           `json:"tool_errors,omitempty"`
	Promises   []string      `json:"promises,omitempty"` // claimed in its own words
	Response   string        `json:"response,omitempty"` // the first answer in response tags
	Question   string        `json:"question,omitempty"` // the first that it asked of people in tags
	Words      string        `json:"words,omitempty"`    // its last words, capped
	Usage      stream.Usage  `json:"usage"`
	Cost       stream.Cost   `json:"cost"`
	Swept      int           `json:"swept,omitempty"` // processes it left behind, ended
	Fresh      bool          `json:"fresh,omitempty"` // a person, not the loop, spoke to it last
	Transcript Attachment    `json:"transcript"`
}

// fold adds what an agent cost. Its money is gone even where the journal has no
// iteration for it.
func (a AgentEnded) fold(r *Run, at time.Time) {
	r.Usage = r.Usage.Plus(a.Usage)
	r.CostUSD += a.Cost.USD
	r.CostKnown = r.CostKnown && a.Cost.Known
	if a.Overspent {
		r.Overspent = cmp.Or(a.Why, overspent)
	}
	r.Looked = nil
	if it := r.updateOpen(at); it != nil {
		if it.Earlier != nil {
			a = a.plus(*it.Earlier)
		}
		it.Agent, it.Paused = &a, false
		if a.Busy {
			it.Turned++
		}
	}
}

// overspent is the reason of an agent that ended well all the same.
const overspent = "the budget is used"

// Took is how long the agent ran.
func (a AgentEnded) Took() time.Duration { return time.Duration(a.TookMS) * time.Millisecond }

// PlanRead is the plan as the agent left it, after the program took out what
// an agent may not change.
type PlanRead struct {
	Plan    plan.Plan `json:"plan"`
	Claimed []string  `json:"claimed,omitempty"` // stories it marked as passed
	Undone  []string  `json:"undone,omitempty"`  // what was put back, in words
	Bent    []string  `json:"bent,omitempty"`    // stories that were made to ask for less, and do not
	// Committed tells of a claim that nothing was left uncommitted: a clean checkout
	// of the commit has all that is claimed.
	Committed bool `json:"committed,omitempty"`

	Log Attachment `json:"log,omitzero"`  // the progress log as it is now
	Cut bool       `json:"cut,omitempty"` // what stood in it was gone and was put back
}

// fold takes the agent's plan, but keeps to the program's own word on what has
// passed.
func (e PlanRead) fold(r *Run, at time.Time) {
	it := r.updateOpen(at)
	if it == nil {
		return
	}
	it.Read = &e
	r.Log = cmp.Or(e.Log, r.Log)
	r.Added = slices.Concat(r.Added, e.newCriteria(r.Plan))
	passes := map[string]bool{}
	for _, story := range r.Plan.UserStories {
		passes[story.ID] = story.Passes
	}
	r.Plan = e.Plan
	r.Plan.UserStories = slices.Clone(e.Plan.UserStories)
	for i, story := range r.Plan.UserStories {
		r.Plan.UserStories[i].Passes = passes[story.ID]
	}
}

// newCriteria are the criteria that no story had before.
func (e PlanRead) newCriteria(before plan.Plan) []string {
	known := map[string]bool{}
	for _, story := range before.UserStories {
		for _, criterion := range story.AcceptanceCriteria {
			known[criterion] = true
		}
	}
	var names []string
	for _, story := range e.Plan.UserStories {
		for _, criterion := range story.AcceptanceCriteria {
			if !known[criterion] {
				known[criterion] = true
				names = append(names, criterion)
			}
		}
	}
	return names
}

// IterationEnded is the verdict on an iteration.
type IterationEnded struct {
	Number   int         `json:"number"`
	Story    string      `json:"story"`
	Green    bool        `json:"green"` // every check that blocks passed
	Worked   bool        `json:"worked"`
	Passed   []string    `json:"passed,omitempty"`
	Done     bool        `json:"done,omitempty"` // it completes a run that is not done by stories
	Rejected []Rejection `json:"rejected,omitempty"`
}

// fold closes the iteration under way: only here does a story pass.
func (e IterationEnded) fold(r *Run, at time.Time) {
	it := r.updateOpen(at)
	if it == nil {
		return
	}
	it.Ended = &e
	for i, story := range r.Plan.UserStories {
		if slices.Contains(e.Passed, story.ID) {
			r.Plan.UserStories[i].Passes = true
		}
	}
}

// Rejection is a claim that was not believed.
type Rejection struct {
	Claim string `json:"claim"`
	Why   string `json:"why"`
}

// SCMEnded is one task of version control, done with green work.
type SCMEnded struct {
	Task    string  `json:"task"`
	Message string  `json:"message,omitempty"` // the commit's, in the agent's words
	Exit    int     `json:"exit"`
	Failed  bool    `json:"failed,omitempty"`
	Why     string  `json:"why,omitempty"`
	CostUSD float64 `json:"cost_usd,omitempty"` // of asking for the message

	Usage    stream.Usage `json:"usage,omitzero"`         // of asking for the message
	Unpriced bool         `json:"cost_unknown,omitempty"` // the agent did not report what that cost
}

func (e SCMEnded) fold(r *Run, at time.Time) {
	r.CostUSD += e.CostUSD
	r.CostKnown = r.CostKnown && !e.Unpriced
	r.Usage = r.Usage.Plus(e.Usage)
	if it := r.updateOpen(at); it != nil {
		it.SCM = append(it.SCM, e)
	}
}

// updateOpen is the iteration under way, to be written to.
func (r *Run) updateOpen(at time.Time) *Iteration {
	n := len(r.Iterations)
	if n == 0 || r.Iterations[n-1].Ended != nil {
		return nil
	}
	r.Iterations[n-1].Last = at
	return &r.Iterations[n-1]
}
