package aftercare

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/internal/core/quota"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/remote"
	"github.com/ralph-loop/ralph/internal/lib/fault"
)

// Sweep removes the saved state of old runs from a repository.
type Sweep struct {
	Store  *git.Trusted // empty
	Remote remote.Repository
	Now    time.Time
	Age    time.Duration // that a run has to have; what was written to since stays
	Dry    bool          // only report
}

// Retention is the age that the action leaves to people who look for a run.
const Retention = 90 * 24 * time.Hour

// Swept is a ref that was looked at.
type Swept struct {
	Ref  string    `json:"ref"`
	At   time.Time `json:"at"`             // when somebody wrote there last
	Kept string    `json:"kept,omitempty"` // why it is still there; empty: it is gone
}

// ErrStays is the error for refs that could not be deleted; the others were looked at.
var ErrStays = errors.New("could not be deleted")

// Why a ref stays.
const (
	young  = "it is not old enough"
	leased = "a job is at work on it"
	dryRun = "nothing is removed in a dry run"
	moved  = "it was changed or removed meanwhile"
)

// Do looks at all refs but the ledger's, and returns them with an error, too.
func (s Sweep) Do(ctx context.Context) ([]Swept, error) {
	refs, err := s.Remote.FetchRefs(ctx, s.Store)
	if err != nil {
		return nil, err
	}
	var all []Swept
	failed := 0
	for _, ref := range refs {
		if ref.Name == quota.Ref {
			continue
		}
		why, err := s.sweep(ctx, ref)
		if err != nil && (!errors.Is(err, ErrStays) || ctx.Err() != nil) {
			return all, err
		}
		if err != nil { // no reason to leave the others
			failed++
			why = err.Error()
		}
		all = append(all, Swept{Ref: ref.Name, At: ref.At, Kept: why})
	}
	if failed > 0 {
		return all, fault.Usage(fmt.Sprintf("%d of %d refs", failed, len(all)), "look at them with git", ErrStays)
	}
	return all, nil
}

func (s Sweep) sweep(ctx context.Context, ref remote.Ref) (kept string, err error) {
	if s.Now.Sub(ref.At) < s.Age {
		return young, nil
	}
	text, err := s.lease(ctx, ref)
	if err != nil {
		return "", err
	}
	if s.Now.Before(quota.ReadLease(text).Until) {
		return leased, nil
	}
	if s.Dry {
		return dryRun, nil
	}
	err = s.Remote.DeleteRef(ctx, s.Store, ref)
	if errors.Is(err, remote.ErrNonFastForward) {
		return moved, nil
	}
	if errors.Is(err, remote.ErrRefused) {
		return "", fmt.Errorf("%w: %w", ErrStays, err)
	}
	return "", err
}

func (s Sweep) lease(ctx context.Context, ref remote.Ref) ([]byte, error) {
	text, err := s.Store.ReadFile(ctx, git.At{Commit: ref.Commit, Path: quota.LeaseFile}, quota.LongestLease)
	if errors.Is(err, git.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrStays, err)
	}
	return text, nil
}
