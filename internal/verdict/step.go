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

// Draft has an agent make a plan of what was asked.
type Draft struct{}

// Baseline runs the checks on the base, before anything is changed.
type Baseline struct{}

// Iterate gives a story to an agent.
type Iterate struct {
	Number int
	Story  string
}

// Read looks at what the agent made of the plan.
type Read struct{}

// Check runs the checks on the agent's tree.
type Check struct{}

// Take has the agent's commits handed over; with Leftovers, what it left
// uncommitted is committed first.
type Take struct{ Leftovers bool }

// Prove runs the checks on a clean checkout of Commit.
type Prove struct{ Commit, Tree string }

// Inspect has the existing tests judge Commit.
type Inspect struct{ Commit, Tree string }

// Grade tries the tests of Story on the base code.
type Grade struct{ Story, Commit, Tree string }

// Review asks another agent what it makes of Story at Commit.
type Review struct{ Story, Commit string }

// Commit does one task of version control with green work.
type Commit struct{ Task string }

// Judge closes an iteration with its verdict.
type Judge struct{ Verdict journal.IterationEnded }

// Push brings the branch to SHA on GitHub.
type Push struct{ SHA string }

// OpenPull opens the pull request as a draft, or makes the one that is open a draft.
type OpenPull struct{}

// Join looks whether others have gone on with the branch or with the base, and
// merges that with the work.
type Join struct{}

// ReadyPull makes the draft ready for review.
type ReadyPull struct{}

// Look sees what the folder of a supervised task says.
type Look struct{}

// Pause is the delay before a command or an agent is started again.
type Pause struct {
	For time.Duration
	Why string
}

// Shelve keeps the run where another machine finds it.
type Shelve struct{}

// Settle lets those around a task know how it ended.
type Settle struct {
	Reason policy.Reason
	Words  string
}

// Stop ends the run.
type Stop struct{ Stopped journal.RunStopped }

// Rest is for a run that has stopped: there is nothing to do.
type Rest struct{}

func (Draft) step()     {}
func (Baseline) step()  {}
func (Iterate) step()   {}
func (Read) step()      {}
func (Check) step()     {}
func (Take) step()      {}
func (Prove) step()     {}
func (Inspect) step()   {}
func (Grade) step()     {}
func (Review) step()    {}
func (Commit) step()    {}
func (Judge) step()     {}
func (Push) step()      {}
func (OpenPull) step()  {}
func (Join) step()      {}
func (ReadyPull) step() {}
func (Look) step()      {}
func (Pause) step()     {}
func (Settle) step()    {}
func (Shelve) step()    {}
func (Stop) step()      {}
func (Rest) step()      {}
