package verdict

import (
	"time"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
)

// Step is the next thing to do. The set is closed.
//
//sumtype:decl
type Step interface{ step() }

// DraftPlan has an agent make a plan of the task.
type DraftPlan struct{}

// Baseline runs the checks on the base, before any change.
type Baseline struct{}

// Iterate gives a story to an agent.
type Iterate struct {
	Number int
	Story  string
}

// ReadPlan reads the plan as the agent left it.
type ReadPlan struct{}

// Check runs the checks on the agent's tree.
type Check struct{}

// TakeCommits takes over the agent's commits. With Leftovers, all changes are committed first.
type TakeCommits struct{ Leftovers bool }

// Prove proves Commit on clean checkouts: for a story, or for the whole change if that is empty.
type Prove struct{ Story, Commit, Tree string }

// Review asks another agent for its opinion of Story at Commit.
type Review struct{ Story, Commit string }

// RunSCMTask runs one version control task, such as commit or push, after the checks passed.
type RunSCMTask struct{ Task string }

// Judge closes an iteration with its verdict.
type Judge struct{ Verdict journal.IterationEnded }

// Push pushes SHA to the branch on GitHub.
type Push struct{ SHA string }

// OpenPull opens a draft pull request, or converts the open one to a draft.
type OpenPull struct{}

// MergeRemote fetches the branch and the base branch, and merges other people's commits.
type MergeRemote struct{}

// MarkPullReady marks the draft as ready for review.
type MarkPullReady struct{}

// ReadTaskFolder reads the files with the state of a supervised task.
type ReadTaskFolder struct{}

// Pause is the delay before a command or an agent is started again.
type Pause struct {
	For time.Duration
	Why string
}

// Deliver brings the work from the box to the user's folder.
type Deliver struct{}

// SaveRun saves the run where another machine can resume it.
type SaveRun struct{}

// AnnounceEnd reports to parent and children of a supervised task how it ended.
type AnnounceEnd struct {
	Reason policy.Reason
	Words  string
}

// Stop ends the run.
type Stop struct{ Stopped journal.RunStopped }

// NoStep follows the end of a run: nothing is left to do.
type NoStep struct{}

func (DraftPlan) step()      {}
func (Baseline) step()       {}
func (Iterate) step()        {}
func (ReadPlan) step()       {}
func (Check) step()          {}
func (TakeCommits) step()    {}
func (Prove) step()          {}
func (Review) step()         {}
func (RunSCMTask) step()     {}
func (Judge) step()          {}
func (Push) step()           {}
func (OpenPull) step()       {}
func (MergeRemote) step()    {}
func (MarkPullReady) step()  {}
func (ReadTaskFolder) step() {}
func (Pause) step()          {}
func (AnnounceEnd) step()    {}
func (Deliver) step()        {}
func (SaveRun) step()        {}
func (Stop) step()           {}
func (NoStep) step()         {}
