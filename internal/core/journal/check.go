package journal

import (
	"fmt"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/core/policy"
)

// Where is the tree on which a check ran.
type Where string

// The trees a check can run on.
const (
	AtBase     Where = "base"      // a clean checkout of the base
	AtWork     Where = "work"      // the agent's own tree, in an iteration
	AtHead     Where = "head"      // a clean checkout of what the agent handed over
	AtOldTests Where = "old_tests" // the same with the base's tests
	AtNewTests Where = "new_tests" // the base with the change's tests
	AtTrial    Where = "trial"     // a trial; never recorded
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
	Missing   string `json:"missing,omitempty"`    // what is not installed: the program of the command, or NodeModules
	NoFile    string `json:"no_file,omitempty"`    // the project's file that it runs, if that does not exist
	Skipped   string `json:"skipped,omitempty"`    // its globs, if the change touches none of them: it did not run
	TookMS    int64  `json:"took_ms"`
	Log       string `json:"log,omitempty"`    // path of its output, up to 10 MiB
	Digest    string `json:"digest,omitempty"` // sha256 of that file
	Excerpt   string `json:"excerpt,omitempty"`

	Tests *Tests `json:"tests,omitempty"` // by name, if its output names them
	Flaky bool   `json:"flaky,omitempty"` // it blocked the work, but not when it ran again
	First *Try   `json:"first,omitempty"` // the run that does not count, of two
}

// NodeModules is the folder of a Node project's packages.
const NodeModules = "node_modules"

// CheckRuns counts runs of checks that have no event of their own.
type CheckRuns struct {
	Runs   int   `json:"runs,omitempty"`
	TookMS int64 `json:"took_ms,omitempty"`
}

// Add counts the runs of a check.
func (u *CheckRuns) Add(check CheckEnded) {
	u.Runs++
	u.TookMS += check.TookMS
	if check.First != nil {
		u.Runs++
		u.TookMS += check.First.TookMS
	}
}

// fold keeps the results of a proof until it ends. A story's own base is a commit of the run.
func (c CheckEnded) fold(r *Run, at time.Time) {
	switch c.Where {
	case AtWork:
		if it := r.updateOpen(at); it != nil {
			it.Checks = append(it.Checks, c)
		}
	case AtBase:
		if c.Commit == "" || c.Commit == r.Base {
			r.BaseChecks = append(r.BaseChecks, c)
			return
		}
		r.Proving.Base = append(r.Proving.Base, c)
	case AtHead:
		r.Proving.Head = append(r.Proving.Head, c)
	case AtOldTests:
		r.Proving.OldTests = append(r.Proving.OldTests, c)
	case AtNewTests:
		r.Proving.NewTests = append(r.Proving.NewTests, c)
	case AtTrial:
	}
}

// Took returns how long the check ran.
func (c CheckEnded) Took() time.Duration { return time.Duration(c.TookMS) * time.Millisecond }

// Try is the one of two runs of a check that does not count.
type Try struct {
	Exit     int    `json:"exit"`
	TimedOut bool   `json:"timed_out,omitempty"`
	TookMS   int64  `json:"took_ms"`
	Log      string `json:"log,omitempty"`
	Digest   string `json:"digest,omitempty"`
	Tests    *Tests `json:"tests,omitempty"`
}

// Try returns what is kept of a run that does not count.
func (c CheckEnded) Try() *Try {
	return &Try{
		Exit:     c.Exit,
		TimedOut: c.TimedOut,
		TookMS:   c.TookMS,
		Log:      c.Log,
		Digest:   c.Digest,
		Tests:    c.Tests,
	}
}

// BaselineEnded closes the checks at the base. Usable: any of them can prove something.
type BaselineEnded struct {
	Usable bool   `json:"usable"`
	Why    string `json:"why,omitempty"`
}

func (e BaselineEnded) fold(r *Run, _ time.Time) { r.Baseline = &e }

// HasSetupFailedAtBase reports whether no check ran at the base because setup failed.
func (r Run) HasSetupFailedAtBase() bool {
	if len(r.Policy.Checks) == 0 || len(r.BaseChecks) > 0 {
		return false
	}
	return r.Baseline != nil && !r.Baseline.Usable
}

// SetupEnded is the result of one setup command. It has the fields of CheckEnded.
type SetupEnded CheckEnded

// fold keeps the results that help an agent: not the base's, nor those of its own tree.
func (s SetupEnded) fold(r *Run, _ time.Time) {
	switch s.Where {
	case AtHead, AtNewTests:
		r.Proving.Setup = append(r.Proving.Setup, s)
	case AtBase, AtWork, AtOldTests, AtTrial:
	}
}

// Failure returns why the command failed, or nothing.
func (s SetupEnded) Failure() string {
	switch {
	case s.Passed:
		return ""
	case s.TimedOut:
		return "setup failed: " + s.Name + " ran out of time"
	case s.CannotRun:
		return fmt.Sprintf("setup failed: %s cannot run here (exit %d)", s.Name, s.Exit)
	}
	return fmt.Sprintf("setup failed: %s (exit %d)", s.Name, s.Exit)
}

// Rules are the checks and setup of a proof: if they change, a tree needs a new proof.
type Rules struct{ Checks, Setup []policy.Check }

func (r Rules) equal(other Rules) bool {
	return slices.Equal(r.Checks, other.Checks) && slices.Equal(r.Setup, other.Setup)
}

func rulesOf(p policy.Policy) Rules { return Rules{p.Checks, p.Setup} }
