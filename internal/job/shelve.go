package job

import (
	"context"
	"errors"
	"time"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// ErrTakenOver says that another job goes on with the run.
var ErrTakenOver = errors.New("another job has taken this over")

// shelve keeps the run as it stands for another machine. Where another one has
// gone on with it there is nothing left to do here.
func (s *site) shelve(ctx context.Context, run journal.Run, _ verdict.Shelve, emit emit) error {
	return s.attempt(ctx, run, "shelve", emit, func() (journal.Event, error) {
		shelved, err := s.keep(ctx, run)
		if errors.Is(err, ErrTakenOver) {
			return journal.CancelAsked{Why: err.Error()}, nil
		}
		return shelved, err
	})
}

// keep gathers what another machine needs, and hands it to the shelf.
func (s *site) keep(ctx context.Context, run journal.Run) (journal.Shelved, error) {
	if s.Shelf == nil {
		return journal.Shelved{}, errNowhere
	}
	files, err := s.home.Carry()
	if err != nil {
		return journal.Shelved{}, err
	}
	prd, err := run.Plan.Marshal()
	if err != nil {
		return journal.Shelved{}, err
	}
	progress, err := s.progress(run)
	if err != nil {
		return journal.Shelved{}, err
	}
	files["prd.json"], files[progressFile] = prd, progress
	shelved, err := s.Shelf.Put(ctx, run, files)
	shelved.Ended = run.Judged()
	return shelved, err
}

// parting is how long the last of a run may take to be kept.
const parting = 4 * time.Second

// lay keeps a run that has stopped: how it ended is for the next one to know. A
// run is not worth less because that could not be done; it is said in the log.
func (s *site) lay(ctx context.Context) {
	run := s.Run()
	if !run.Policy.Shelve || s.Shelf == nil || run.Stop == nil || s.ended() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), parting)
	defer cancel()
	shelved, err := s.keep(ctx, run)
	if err == nil {
		err = s.Append(shelved)
	}
	if err != nil {
		s.Log("the run could not be kept for another machine: " + fault.Told(err))
	}
}
