package action

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/git/remote"
	"github.com/ralph-loop/ralph/internal/quota"
	"github.com/ralph-loop/ralph/internal/workspace"
)

// Sweep removes from a repository what runs of long ago keep on its refs.
type Sweep struct {
	Store  *git.Trusted // empty
	Remote remote.Repository
	Now    time.Time
	Age    time.Duration // that a run has to have; what was written to since stays
	Dry    bool          // only tell
	// Export is given the journal of each run that is to go, and keeps it from
	// going by an error.
	Export func(ref string, journal []byte) error
}

// Swept is a ref that was looked at.
type Swept struct {
	Ref  string    `json:"ref"`
	At   time.Time `json:"at"`             // when somebody wrote there last
	Kept string    `json:"kept,omitempty"` // why it is still there; empty: it is gone
}

// errStays is a ref of which nobody knows what would go with it.
var errStays = errors.New("it cannot go")

// Why a ref stays.
const (
	young  = "it is not old enough"
	leased = "a job is at work on it"
	dryRun = "nothing is removed in a dry run"
	moved  = "somebody has written to it meanwhile"
)

// Do looks at all there is, and has what it looked at beside an error, too. What
// is spent within a day is the ledger's own to forget.
func (s Sweep) Do(ctx context.Context) ([]Swept, error) {
	shelves, err := s.Remote.FetchRefs(ctx, s.Store)
	if err != nil {
		return nil, err
	}
	var all []Swept
	stay := 0
	for _, shelf := range shelves {
		if shelf.Name == quota.Ref {
			continue
		}
		why, err := s.sweep(ctx, shelf)
		if errors.Is(err, errStays) && ctx.Err() == nil { // no reason to leave the others
			stay, why, err = stay+1, err.Error(), nil
		}
		if err != nil {
			return all, err
		}
		all = append(all, Swept{Ref: shelf.Name, At: shelf.At, Kept: why})
	}
	if stay > 0 {
		return all, fault.Usage(fmt.Sprintf("%d of %d cannot go", stay, len(all)), "look at them with git; without --export no journal is read", nil)
	}
	return all, nil
}

func (s Sweep) sweep(ctx context.Context, shelf remote.Ref) (kept string, err error) {
	if s.Now.Sub(shelf.At) < s.Age {
		return young, nil
	}
	text, err := s.read(ctx, shelf, quota.LeaseFile, quota.LongestLease)
	if err != nil {
		return "", err
	}
	if s.Now.Before(quota.ReadLease(text).Until) {
		return leased, nil
	}
	if s.Dry {
		return dryRun, nil
	}
	if err := s.export(ctx, shelf); err != nil {
		return "", err
	}
	err = s.Remote.DeleteRef(ctx, s.Store, shelf)
	if errors.Is(err, remote.ErrNonFastForward) {
		return moved, nil
	}
	return "", err
}

func (s Sweep) export(ctx context.Context, shelf remote.Ref) error {
	if s.Export == nil {
		return nil
	}
	text, err := s.read(ctx, shelf, workspace.JournalFile, workspace.MostJournal)
	if err != nil || text == nil {
		return err
	}
	if err := s.Export(shelf.Name, text); err != nil {
		return fmt.Errorf("%w: %w", errStays, err)
	}
	return nil
}

// read is a file of a shelf; nil: there is none.
func (s Sweep) read(ctx context.Context, shelf remote.Ref, name string, most int64) ([]byte, error) {
	text, err := s.Store.ReadFile(ctx, git.At{Commit: shelf.Commit, Path: name}, most)
	if errors.Is(err, git.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errStays, err)
	}
	return text, nil
}
