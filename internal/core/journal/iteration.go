package journal

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/stream"
)

// IterationBegan opens an iteration on a story.
type IterationBegan struct {
	Number int        `json:"number"`
	Story  string     `json:"story,omitempty"`
	Prompt Attachment `json:"prompt"`
	Log    Attachment `json:"log,omitzero"`  // the progress log that the agent finds
	Bus    int64      `json:"bus,omitempty"` // the size of the task's message bus

	Session string `json:"session,omitempty"` // of the agent, if the loop runs within one
	Heard   int64  `json:"heard,omitempty"`   // the size of that session's transcript
}

// fold opens an iteration. If the last one was interrupted before its agent ended, or
// the model rejected its requests, the new one replaces it.
func (e IterationBegan) fold(r *Run, at time.Time) {
	it := Iteration{
		Number:  e.Number,
		Story:   e.Story,
		Began:   at,
		Last:    at,
		Prompt:  e.Prompt,
		Bus:     e.Bus,
		Session: e.Session,
	}
	r.Looked = nil
	r.Box.Log = cmp.Or(e.Log, r.Box.Log)
	open, ok := r.OpenIteration()
	answered := open.Agent != nil && !open.Agent.Busy
	if !ok || answered {
		r.Iterations = append(r.Iterations, it)
		return
	}
	it.Turned = open.Turned
	it.Earlier = open.Earlier
	if open.Agent != nil {
		it.Earlier = open.Agent
	}
	r.Iterations[len(r.Iterations)-1] = it
}

// Attachment is a file beside the journal.
type Attachment struct {
	Path   string `json:"path,omitempty"`   // within the run's folder
	Digest string `json:"digest,omitempty"` // sha256
	Size   int64  `json:"size,omitempty"`
}

// AgentEnded is the result of one agent's run.
type AgentEnded struct {
	Exit       int           `json:"exit"`
	Signal     string        `json:"signal,omitempty"`
	TimedOut   bool          `json:"timed_out,omitempty"`
	CannotRun  bool          `json:"cannot_run,omitempty"` // it is missing or refuses to start: no try will help
	Failed     bool          `json:"failed,omitempty"`     // by its own report or its exit code
	Why        string        `json:"why,omitempty"`        // why it failed
	Fix        string        `json:"fix,omitempty"`        // what a person can do about it, if known
	Denied     stream.Denial `json:"denied,omitempty"`     // why the model's server rejects it for good
	Busy       bool          `json:"busy,omitempty"`       // the model's server rejects it for now
	Until      time.Time     `json:"until,omitzero"`       // when that server accepts requests again
	Overspent  bool          `json:"overspent,omitempty"`  // it was stopped because the budget is used
	TookMS     int64         `json:"took_ms"`
	Tools      int           `json:"tools"`
	Chores     int           `json:"chores,omitempty"` // of these, calls that only changed the loop's own files
	Blind      bool          `json:"blind,omitempty"`  // its tool calls cannot be seen
	ToolErrors int           `json:"tool_errors,omitempty"`
	Promises   []string      `json:"promises,omitempty"` // claimed in its own words
	Response   string        `json:"response,omitempty"` // the first answer in response tags
	Question   string        `json:"question,omitempty"` // its first question to people in tags
	Words      string        `json:"words,omitempty"`    // its last words, capped
	Usage      stream.Usage  `json:"usage"`
	Cost       stream.Cost   `json:"cost"`
	Swept      int           `json:"swept,omitempty"` // processes it left behind, ended
	Fresh      bool          `json:"fresh,omitempty"` // a person, not the loop, spoke to it last
	Transcript Attachment    `json:"transcript"`
}

// maxWords limits the words that are kept of an agent, in characters.
const maxWords = 2000

// LastWords returns the end of a text. A cut may have left half a rune at its beginning.
func LastWords(text string) string {
	runes := []rune(strings.TrimSpace(strings.ToValidUTF8(text, "")))
	if len(runes) <= maxWords {
		return string(runes)
	}
	return "…" + string(runes[len(runes)-maxWords+1:])
}

// fold adds the agent's cost, even if the journal has no iteration for it.
func (a AgentEnded) fold(r *Run, at time.Time) {
	r.spend(a.Usage, a.Cost)
	if a.Overspent {
		r.Spent.Overspent = cmp.Or(a.Why, overspent)
	}
	r.Looked = nil
	it := r.updateOpen(at)
	if it == nil {
		return
	}
	if it.Earlier != nil {
		a = a.plus(*it.Earlier)
	}
	it.Agent = &a
	it.Paused = false
	if a.Busy {
		it.Turned++
	}
}

func (r *Run) spend(used stream.Usage, cost stream.Cost) {
	r.Spent.Usage = r.Spent.Usage.Plus(used)
	r.Spent.CostUSD += cost.USD + cost.Most
	r.Spent.CostKnown = r.Spent.CostKnown && cost.Known
}

const overspent = "the budget is used" // the reason of an agent that reached the budget without an error

// Took returns how long the agent ran.
func (a AgentEnded) Took() time.Duration { return time.Duration(a.TookMS) * time.Millisecond }

// PlanRead is the plan as the agent left it, without changes that it may not make.
type PlanRead struct {
	Plan      plan.Plan `json:"plan"`
	Claimed   []string  `json:"claimed,omitempty"`   // stories it marked as passed
	Undone    []string  `json:"undone,omitempty"`    // what was restored, in words
	Bent      []string  `json:"bent,omitempty"`      // stories that the agent weakened; restored
	Committed bool      `json:"committed,omitempty"` // a clean checkout has all claimed work.

	Log Attachment `json:"log,omitzero"`  // the progress log as it is now
	Cut bool       `json:"cut,omitempty"` // the agent had removed entries, which were restored
}

// fold takes the agent's plan, but not its word on which stories pass.
func (e PlanRead) fold(r *Run, at time.Time) {
	it := r.updateOpen(at)
	if it == nil {
		return
	}
	it.Read = &e
	r.Box.Log = cmp.Or(e.Log, r.Box.Log)
	r.Planning.Added = slices.Concat(r.Planning.Added, e.newCriteria(r.Plan))
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
			if known[criterion] {
				continue
			}
			known[criterion] = true
			names = append(names, criterion)
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
	Done     bool        `json:"done,omitempty"` // it completes a run without stories
	Rejected []Rejection `json:"rejected,omitempty"`
}

// fold closes the open iteration: only here does a story pass.
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

// Rejection is a rejected claim. Evidence has it, too.
type Rejection struct {
	Claim string `json:"claim"` // The claim.
	Why   string `json:"why"`   // Reason for the rejection.
}

// SCMEnded is the result of one version control task.
type SCMEnded struct {
	Task    string  `json:"task"`
	Message string  `json:"message,omitempty"` // the commit's, in the agent's words
	Exit    int     `json:"exit"`
	Failed  bool    `json:"failed,omitempty"`
	Why     string  `json:"why,omitempty"`
	CostUSD float64 `json:"cost_usd,omitempty"` // of asking for the message
	MostUSD float64 `json:"most_usd,omitempty"` // as in stream.Cost

	Usage    stream.Usage `json:"usage,omitzero"`         // of asking for the message
	Unpriced bool         `json:"cost_unknown,omitempty"` // the agent did not report what that cost
}

func (e SCMEnded) fold(r *Run, at time.Time) {
	r.spend(e.Usage, stream.Cost{USD: e.CostUSD, Known: !e.Unpriced, Most: e.MostUSD})
	if it := r.updateOpen(at); it != nil {
		it.SCM = append(it.SCM, e)
	}
}

// updateOpen returns the open iteration for changes, or nil.
func (r *Run) updateOpen(at time.Time) *Iteration {
	n := len(r.Iterations)
	if n == 0 || r.Iterations[n-1].Ended != nil {
		return nil
	}
	r.Iterations[n-1].Last = at
	return &r.Iterations[n-1]
}

// plus adds the earlier tries of the same iteration, which the model's server rejected.
func (a AgentEnded) plus(earlier AgentEnded) AgentEnded {
	a.TookMS += earlier.TookMS
	a.Tools += earlier.Tools
	a.Chores += earlier.Chores
	a.ToolErrors += earlier.ToolErrors
	a.Swept += earlier.Swept
	a.Usage = a.Usage.Plus(earlier.Usage)
	a.Cost = a.Cost.Plus(earlier.Cost)
	return a
}

// TaskLooked is the state of a supervised task's folder.
type TaskLooked struct {
	Done   bool   `json:"done,omitempty"`
	Wait   string `json:"wait,omitempty"`   // how the agent asked not to be started again: file, message
	Words  string `json:"words,omitempty"`  // the message
	Broken string `json:"broken,omitempty"` // why the state is unknown
}

func (e TaskLooked) fold(r *Run, _ time.Time) { r.Looked = &e }

// Paused begins the delay before the next attempt.
type Paused struct {
	MS  int64  `json:"ms"`
	Why string `json:"why,omitempty"`
}

// fold begins the delay. The task's folder must be read again after it.
func (p Paused) fold(r *Run, at time.Time) {
	r.Looked = nil
	if n := len(r.Iterations); n > 0 {
		r.Iterations[n-1].Paused = true
		r.Iterations[n-1].Wake = at.Add(p.Delay())
	}
}

// Delay returns how long the run waits.
func (p Paused) Delay() time.Duration { return time.Duration(p.MS) * time.Millisecond }

// TaskSettled records that the end of a task was announced.
type TaskSettled struct {
	Reason policy.Reason `json:"reason"`
	Words  string        `json:"words"`
	Failed []string      `json:"failed,omitempty"` // what could not be written or removed, and why
}

func (e TaskSettled) fold(r *Run, _ time.Time) { r.Settled = &e }
