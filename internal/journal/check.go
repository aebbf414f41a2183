package journal

import (
	"fmt"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/policy"
)

// Where is the tree on which a check ran.
type Where string

// The trees a check can run on.
const (
	AtBase  Where = "base"  // a clean checkout of the base
	AtWork  Where = "work"  // the agent's own tree, in an iteration
	AtProof Where = "proof" // a clean checkout of what the agent handed over
	AtTests Where = "tests" // a clean checkout of the base with a story's tests
	AtDoubt Where = "doubt" // a clean checkout for a trial; never recorded
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

// Add counts the check runs of an event.
func (u *CheckRuns) Add(event Event) {
	switch e := event.(type) { //nolint:gochecksumtype // other events run no checks
	case CheckEnded:
		u.count(1, e.TookMS)
		if e.First != nil {
			u.count(1, e.First.TookMS)
		}
	case ChangeInspected:
		u.count(e.Runs, e.TookMS)
	case StoryGraded:
		u.count(e.Runs, e.TookMS)
	}
}

func (u *CheckRuns) count(runs int, tookMS int64) {
	u.Runs += runs
	u.TookMS += tookMS
}

func (c CheckEnded) fold(r *Run, at time.Time) {
	switch c.Where {
	case AtBase:
		r.BaseChecks = append(r.BaseChecks, c)
	case AtWork:
		if it := r.updateOpen(at); it != nil {
			it.Checks = append(it.Checks, c)
		}
	case AtProof:
		r.Loose = append(r.Loose, c)
	case AtTests:
		r.Trial.Checks = append(r.Trial.Checks, c)
	case AtDoubt:
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
	return &Try{Exit: c.Exit, TimedOut: c.TimedOut, TookMS: c.TookMS, Log: c.Log, Digest: c.Digest, Tests: c.Tests}
}

// FirstExit returns the exit code of the first run.
func (c CheckEnded) FirstExit() int {
	if c.First == nil {
		return c.Exit
	}
	return c.First.Exit
}

// BaselineEnded closes the checks at the base. Usable: any of them can prove something.
type BaselineEnded struct {
	Usable bool   `json:"usable"`
	Why    string `json:"why,omitempty"`
}

func (e BaselineEnded) fold(r *Run, _ time.Time) { r.Baseline = &e }

// HasSetupFailedAtBase reports whether no check ran at the base because setup failed.
func (r Run) HasSetupFailedAtBase() bool {
	return len(r.Policy.Checks) > 0 && len(r.BaseChecks) == 0 && r.Baseline != nil && !r.Baseline.Usable
}

// Proof is a run of the checks on a clean checkout.
type Proof struct {
	Commit string `json:"commit"`
	Tree   string `json:"tree"`
	Passed bool   `json:"passed"`
	Empty  bool   `json:"empty,omitempty"`  // no check could prove anything
	Reused bool   `json:"reused,omitempty"` // the same tree was proven before
	Why    string `json:"why,omitempty"`
	// Restored are the protected files that it had in their base version, at most 100.
	Restored []string `json:"restored,omitempty"`

	// The fold sets these.
	Checks []CheckEnded `json:"-"`
	Setup  []SetupEnded `json:"-"` // before the checks
	Rules  Rules        `json:"-"`
}

// TellsTests reports whether it passed, or what fails is known by name, so that all other tests passed.
func (p Proof) TellsTests() bool {
	unclear := func(check CheckEnded) bool { return !check.TellsTests() }
	return p.Passed || slices.ContainsFunc(p.Checks, CheckEnded.hasFailed) && !slices.ContainsFunc(p.Checks, unclear)
}

// ProofEnded closes a run of the checks on a clean checkout.
type ProofEnded Proof

// fold adds a proof with the checks since the one before, or with those of a reused proof.
func (e ProofEnded) fold(r *Run, at time.Time) {
	proof := Proof(e)
	proof.Checks, proof.Setup, proof.Rules = r.Loose, r.Setup, rulesOf(r.Policy)
	if old, found := r.ProofOf(e.Tree); e.Reused && found {
		proof.Checks, proof.Restored = old.Checks, old.Restored
	}
	r.Loose, r.Setup = nil, nil
	r.Proofs = append(r.Proofs, proof)
	if it := r.updateOpen(at); it != nil {
		it.Proof = &proof
		if len(it.Checks) == 0 { // none ran in the agent's tree
			it.Checks = proof.Checks
		}
	}
}

// SetupEnded is the result of one setup command. It has the fields of CheckEnded.
type SetupEnded CheckEnded

// fold keeps the results that help an agent: not the base's, nor those of its own tree.
func (s SetupEnded) fold(r *Run, _ time.Time) {
	switch s.Where {
	case AtProof:
		r.Setup = append(r.Setup, s)
	case AtTests:
		r.Trial.Setup = append(r.Trial.Setup, s)
	case AtBase, AtWork, AtDoubt:
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
