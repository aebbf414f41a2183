package journal

import (
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/internal/policy"
)

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

// Took is how long the command ran.
func (s SetupEnded) Took() time.Duration { return CheckEnded(s).Took() }

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

func rulesOf(p policy.Policy) Rules { return Rules{p.Checks, p.Setup} }
