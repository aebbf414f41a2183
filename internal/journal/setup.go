package journal

import (
	"fmt"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/policy"
)

// SetupEnded is the result of one command that makes a checkout ready for its
// checks. It holds what CheckEnded does.
type SetupEnded CheckEnded

// fold keeps what an agent can be told: the base is not its work, and its own
// tree it can see.
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

// Failure is how the command did not do what it is for; empty when it did.
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

// Rules are what a proof of a tree is by: where they change, a tree has to be
// proven anew.
type Rules struct{ Checks, Setup []policy.Check }

func rulesOf(p policy.Policy) Rules { return Rules{p.Checks, p.Setup} }

func (r Rules) equal(other Rules) bool {
	return slices.Equal(r.Checks, other.Checks) && slices.Equal(r.Setup, other.Setup)
}
