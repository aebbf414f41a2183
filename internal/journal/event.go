package journal

import (
	"time"

	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/stream"
)

// Event is one thing that happened in a run. The set is closed: a new one is
// a new version of the journal, and every switch over Event says so.
//
//sumtype:decl
type Event interface {
	Type() string
	event()
}

// RunBegan is the first event of every journal. It carries all that later
// steps need, so that nobody has to ask the settings again.
type RunBegan struct {
	Run     string        `json:"run"`
	Policy  policy.Policy `json:"policy"`
	Task    plan.Task     `json:"task"`
	Plan    plan.Plan     `json:"plan"`
	Source  string        `json:"source,omitempty"` // where the plan came from: json, tasklist, headings, plain
	Branch  string        `json:"branch,omitempty"`
	BaseRef string        `json:"base_ref"`       // the branch the work is for
	Base    string        `json:"base"`           // its commit
	Start   string        `json:"start"`          // where work begins: Base, or what an earlier run left on Branch
	Tree    string        `json:"tree,omitempty"` // of Start
	Work    string        `json:"work,omitempty"` // the user's files as the run found them, as a tree
	Level   string        `json:"level"`          // what confines the agent
	Links   Links         `json:"links,omitzero"`
}

// Links are where people find more.
type Links struct {
	Repo string `json:"repo,omitempty"` // the repository's page
	Log  string `json:"log,omitempty"`  // the job's log
}

// Resumed goes on with a run that had stopped or been killed, and grants its
// limits anew: those of before, or others.
type Resumed struct {
	Why    string         `json:"why"`
	Policy *policy.Policy `json:"policy,omitempty"` // in force from here on; nil: as before
	Level  string         `json:"level,omitempty"`  // what confines the agent from here on
}

// Noted is a thing people should know that changes no decision.
type Noted struct {
	What string `json:"what"`
	Hint string `json:"hint,omitempty"`
}

// Where tells on which tree a check ran.
type Where string

// The trees a check can run on.
const (
	AtBase  Where = "base"  // a clean checkout of the base
	AtWork  Where = "work"  // the agent's own tree, in an iteration
	AtProof Where = "proof" // a clean checkout of what the agent handed over
	AtTests Where = "tests" // a clean checkout of the base with a story's tests put into it
)

// CheckEnded is the result of one check.
type CheckEnded struct {
	Where     Where  `json:"where"`
	Name      string `json:"name"`
	Command   string `json:"command"`
	Commit    string `json:"commit,omitempty"`
	Exit      int    `json:"exit"`
	Passed    bool   `json:"passed"`
	TimedOut  bool   `json:"timed_out,omitempty"`
	CannotRun bool   `json:"cannot_run,omitempty"` // the command itself is missing or may not run
	TookMS    int64  `json:"took_ms"`
	Log       string `json:"log,omitempty"`    // path of the whole output
	Digest    string `json:"digest,omitempty"` // sha256 of that output
	Excerpt   string `json:"excerpt,omitempty"`

	Tests *Tests `json:"tests,omitempty"` // by name, where its output tells them
	Flaky bool   `json:"flaky,omitempty"` // it held the work back, and not any more when it was run again
	First *Try   `json:"first,omitempty"` // of a check that was run again
}

// BaselineEnded closes the checks at the base. Usable tells whether any of
// them can prove anything.
type BaselineEnded struct {
	Usable bool   `json:"usable"`
	Why    string `json:"why,omitempty"`
}

// IterationBegan opens an iteration on a story.
type IterationBegan struct {
	Number int        `json:"number"`
	Story  string     `json:"story,omitempty"`
	Prompt Attachment `json:"prompt"`
	Bus    int64      `json:"bus,omitempty"` // how long the task's message bus was

	Session string `json:"session,omitempty"` // of the agent, where the loop is within one
	Heard   int64  `json:"heard,omitempty"`   // how long that session's transcript was
}

// Attachment is a file that lies beside the journal.
type Attachment struct {
	Path   string `json:"path,omitempty"`   // within the run's folder
	Digest string `json:"digest,omitempty"` // sha256
	Size   int64  `json:"size,omitempty"`
}

// AgentEnded is the sum of one agent's run.
type AgentEnded struct {
	Exit       int          `json:"exit"`
	Signal     string       `json:"signal,omitempty"`
	TimedOut   bool         `json:"timed_out,omitempty"`
	CannotRun  bool         `json:"cannot_run,omitempty"` // it is missing or refused to start; trying again is no use
	Failed     bool         `json:"failed,omitempty"`     // by its own word or its exit code
	Why        string       `json:"why,omitempty"`        // why it failed
	Busy       bool         `json:"busy,omitempty"`       // the model's server turned it away for now: no fault of the work
	Until      time.Time    `json:"until,omitzero"`       // when that server may be asked again, by its own word
	Overspent  bool         `json:"overspent,omitempty"`  // it was ended for having used what was left of the budget
	TookMS     int64        `json:"took_ms"`
	Tools      int          `json:"tools"`
	Chores     int          `json:"chores,omitempty"` // of these, calls that only kept the loop's books
	Blind      bool         `json:"blind,omitempty"`  // its tool calls cannot be seen
	ToolErrors int          `json:"tool_errors,omitempty"`
	Promises   []string     `json:"promises,omitempty"` // claimed in its own words
	Response   string       `json:"response,omitempty"` // the first answer in response tags
	Words      string       `json:"words,omitempty"`    // its last words, capped
	Usage      stream.Usage `json:"usage"`
	Cost       stream.Cost  `json:"cost"`
	Swept      int          `json:"swept,omitempty"` // processes it left behind, ended
	Fresh      bool         `json:"fresh,omitempty"` // a person, not the loop, spoke to it last
	Transcript Attachment   `json:"transcript"`
}

// PlanRead is the plan as the agent left it, after the program took out what
// an agent may not change.
type PlanRead struct {
	Plan    plan.Plan `json:"plan"`
	Claimed []string  `json:"claimed,omitempty"` // stories it marked as passed
	Undone  []string  `json:"undone,omitempty"`  // what was put back, in words
}

// CommitsTaken is the hand-over of the agent's commits. To equals From when it
// left none, or none that could be taken.
type CommitsTaken struct {
	From    string    `json:"from"`
	To      string    `json:"to"`
	Tree    string    `json:"tree"`            // tree of To
	Work    string    `json:"work,omitempty"`  // tree id of the working tree, uncommitted work included; where there is no repository, a digest of its files
	Dirty   bool      `json:"dirty,omitempty"` // work was left uncommitted in the agent's tree
	Swept   bool      `json:"swept,omitempty"` // the program committed what the agent had left
	Commits []Commit  `json:"commits,omitempty"`
	Files   []string  `json:"files,omitempty"`   // changed by these commits, at most 100
	Dropped []string  `json:"dropped,omitempty"` // protected paths put back by a commit made again
	Refused []Finding `json:"refused,omitempty"` // why nothing was taken
}

// Commit is one commit that was handed over.
type Commit struct {
	SHA     string `json:"sha"`
	Subject string `json:"subject"`
}

// Finding is a thing in a commit that may not pass.
type Finding struct {
	Commit string `json:"commit,omitempty"`
	Path   string `json:"path,omitempty"` // within the run's folder
	Why    string `json:"why"`
}

// ProofEnded closes a run of the checks on a clean checkout.
type ProofEnded struct {
	Commit string `json:"commit"`
	Tree   string `json:"tree"`
	Passed bool   `json:"passed"`
	Empty  bool   `json:"empty,omitempty"`  // no check could prove anything
	Reused bool   `json:"reused,omitempty"` // the same tree was proven before
	Why    string `json:"why,omitempty"`
	// Restored are the protected files that were put back to their base version
	// for it, at most 100.
	Restored []string `json:"restored,omitempty"`
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
}

// Pushed says that the branch stands at SHA on GitHub.
type Pushed struct {
	Branch string `json:"branch"`
	SHA    string `json:"sha"`
}

// PullOpened says that a pull request stands, opened or found.
type PullOpened struct {
	Number int    `json:"number"`
	URL    string `json:"url"`
	Draft  bool   `json:"draft"`
}

// PullReadied says that the pull request is a draft no more.
type PullReadied struct {
	Number int `json:"number"`
}

// PublishFailed says that something could not be done on GitHub; the work
// itself is not lost.
type PublishFailed struct {
	Act  string `json:"act"`            // push, open, ready
	Head string `json:"head,omitempty"` // the commit that was to be shown
	Why  string `json:"why"`
}

// CommentPosted says where the progress comment stands.
type CommentPosted struct {
	ID  int64  `json:"id"`
	URL string `json:"url"`
}

// CancelAsked ends the run as soon as its work is safe.
type CancelAsked struct {
	Why string `json:"why"`
}

// RunStopped is the last event of a run, until it is resumed.
type RunStopped struct {
	Reason policy.Reason `json:"reason"`
	Why    string        `json:"why,omitempty"`
}

// Type is the event's name in the journal.
func (RunBegan) Type() string       { return "run_began" }
func (Resumed) Type() string        { return "resumed" }
func (Noted) Type() string          { return "noted" }
func (CheckEnded) Type() string     { return "check_ended" }
func (BaselineEnded) Type() string  { return "baseline_ended" }
func (IterationBegan) Type() string { return "iteration_began" }
func (AgentEnded) Type() string     { return "agent_ended" }
func (PlanRead) Type() string       { return "plan_read" }
func (CommitsTaken) Type() string   { return "commits_taken" }
func (ProofEnded) Type() string     { return "proof_ended" }
func (IterationEnded) Type() string { return "iteration_ended" }
func (SCMEnded) Type() string       { return "scm_ended" }
func (Pushed) Type() string         { return "pushed" }
func (PullOpened) Type() string     { return "pull_opened" }
func (PullReadied) Type() string    { return "pull_readied" }
func (PublishFailed) Type() string  { return "publish_failed" }
func (CommentPosted) Type() string  { return "comment_posted" }
func (CancelAsked) Type() string    { return "cancel_asked" }
func (RunStopped) Type() string     { return "run_stopped" }

// Took is how long the check ran.
func (c CheckEnded) Took() time.Duration { return time.Duration(c.TookMS) * time.Millisecond }

// Took is how long the agent ran.
func (a AgentEnded) Took() time.Duration { return time.Duration(a.TookMS) * time.Millisecond }

func (RunBegan) event()       {}
func (Resumed) event()        {}
func (Noted) event()          {}
func (CheckEnded) event()     {}
func (BaselineEnded) event()  {}
func (IterationBegan) event() {}
func (AgentEnded) event()     {}
func (PlanRead) event()       {}
func (CommitsTaken) event()   {}
func (ProofEnded) event()     {}
func (IterationEnded) event() {}
func (SCMEnded) event()       {}
func (Pushed) event()         {}
func (PullOpened) event()     {}
func (PullReadied) event()    {}
func (PublishFailed) event()  {}
func (CommentPosted) event()  {}
func (CancelAsked) event()    {}
func (RunStopped) event()     {}
