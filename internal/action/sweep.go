package action

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/ledger"
	"github.com/ralph-loop/ralph/internal/workspace"
)

// Sweep removes from a repository what runs of long ago keep on its refs.
type Sweep struct {
	Store  *git.Trusted // empty
	Remote git.Remote
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

// Why a ref stays.
const (
	young  = "it is not old enough"
	leased = "a job is at work on it"
	dryRun = "nothing is removed in a dry run"
	moved  = "somebody has written to it meanwhile"
)

// Do looks at all there is. What is spent within a day is the ledger's own to
// forget.
func (s Sweep) Do(ctx context.Context) ([]Swept, error) {
	shelves, err := s.Store.Shelves(ctx, s.Remote)
	if err != nil {
		return nil, err
	}
	var all []Swept
	for _, shelf := range shelves {
		if shelf.Ref == ledger.Ref {
			continue
		}
		why, err := s.sweep(ctx, shelf)
		if err != nil {
			return all, err
		}
		all = append(all, Swept{Ref: shelf.Ref, At: shelf.At, Kept: why})
	}
	return all, nil
}

func (s Sweep) sweep(ctx context.Context, shelf git.Shelf) (kept string, err error) {
	if s.Now.Sub(shelf.At) < s.Age {
		return young, nil
	}
	if text, err := s.Store.ReadFile(ctx, git.At{Commit: shelf.Commit, Path: leaseFile}, longestLease); err == nil {
		var held lease
		if json.Unmarshal(text, &held) == nil && s.Now.Before(held.Until) {
			return leased, nil
		}
	}
	if s.Export != nil {
		if text, err := s.Store.ReadFile(ctx, git.At{Commit: shelf.Commit, Path: workspace.JournalFile}, workspace.MostJournal); err == nil {
			if err := s.Export(shelf.Ref, text); err != nil {
				return "", err
			}
		}
	}
	if s.Dry {
		return dryRun, nil
	}
	err = s.Store.Drop(ctx, s.Remote, shelf)
	if errors.Is(err, git.ErrNonFastForward) {
		return moved, nil
	}
	return "", err
}
