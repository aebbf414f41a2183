package verdict

import (
	"time"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
)

// Step is what is to be done next. The set is closed.
//
//sumtype:decl
type Step interface{ step() }

// DraftPlan has an agent make a plan of what was asked.
type DraftPlan struct{}

// Baseline runs the checks on the base, before anything is changed.
type Baseline struct{}

// Iterate gives a story to an agent.
type Iterate struct {
	Number int
	Story  string
}

// ReadPlan looks at what the agent made of the plan.
type ReadPlan struct{}

// Check runs the checks on the agent's tree.
type Check struct{}

// TakeCommits has the agent's commits handed over; with Leftovers, what it left
// uncommitted is committed first.
type TakeCommits struct{ Leftovers bool }

// Prove runs the checks on a clean checkout of Commit.
type Prove struct{ Commit, Tree string }

// Inspect has the existing tests judge Commit.
type Inspect struct{ Commit, Tree string }

// Grade tries the tests of Story on the base code.
type Grade struct{ Story, Commit, Tree string }

// Review asks another agent what it makes of Story at Commit.
type Review struct{ Story, Commit string }

// RunSCMTask does one task of version control with green work.
type RunSCMTask struct{ Task string }

// Judge closes an iteration with its verdict.
type Judge struct{ Verdict journal.IterationEnded }

// Push brings the branch to SHA on GitHub.
type Push struct{ SHA string }

// OpenPull opens the pull request as a draft, or makes the one that is open a draft.
type OpenPull struct{}

// MergeRemote looks whether others have gone on with the branch or with the base, and
// merges that with the work.
type MergeRemote struct{}

// MarkPullReady makes the draft ready for review.
type MarkPullReady struct{}

// ReadTaskFolder sees what the folder of a supervised task says.
type ReadTaskFolder struct{}

// Pause is the delay before a command or an agent is started again.
type Pause struct {
	For time.Duration
	Why string
}

// SaveRun keeps the run where another machine finds it.
type SaveRun struct{}

// AnnounceEnd lets those around a task know how it ended.
type AnnounceEnd struct {
	Reason policy.Reason
	Words  string
}

// Stop ends the run.
type Stop struct{ Stopped journal.RunStopped }

// NoStep is for a run that has stopped: there is nothing to do.
type NoStep struct{}

func (DraftPlan) step()      {}
func (Baseline) step()       {}
func (Iterate) step()        {}
func (ReadPlan) step()       {}
func (Check) step()          {}
func (TakeCommits) step()    {}
func (Prove) step()          {}
func (Inspect) step()        {}
func (Grade) step()          {}
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
func (SaveRun) step()        {}
func (Stop) step()           {}
func (NoStep) step()         {}
