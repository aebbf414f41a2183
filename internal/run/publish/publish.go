// Package publish decides when people see the state of a run: at once at the beginning
// and the end, and at a limited rate in between. Package view writes the texts.
package publish

import (
	"context"
	"time"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/show/view"
)

// Screen shows the state of a run to people.
type Screen func(ctx context.Context, board view.Texts) error

// showTimeout limits an update, because a run ends only after the last one.
const showTimeout = 10 * time.Second

// Publisher shows the newest state of a run. It skips states that have a newer one.
type Publisher struct {
	Screens  []Screen
	Interval time.Duration // minimum time between two updates
	Failed   func(error)   // called for failures of screens

	newest     chan runState
	lastIdle   *journal.Run // the newest state without an open iteration
	done       chan struct{}
	lastErrors map[int]string // of each screen whose last update failed
	saveShown  bool           // see isFirstSave
}

// runState is a state of a run for the comment. The pull request shows lastIdle, the newest
// state without an open iteration: people review whole iterations.
type runState struct {
	run      journal.Run
	lastIdle *journal.Run
}

func (m runState) texts() view.Texts {
	board := view.Of(m.run)
	if m.lastIdle != nil {
		board.Pull = view.Of(*m.lastIdle).Pull
	}
	return board
}

// Start starts the updates. It must be called before Update.
func (p *Publisher) Start(ctx context.Context) {
	p.newest = make(chan runState, 1)
	p.done = make(chan struct{})
	p.lastErrors = map[int]string{}
	go p.loop(ctx)
}

// Update passes a newer state, which replaces one that was not shown yet. It does not
// wait. Only one goroutine may call it.
func (p *Publisher) Update(run journal.Run) {
	if len(p.Screens) == 0 {
		return
	}
	if _, open := run.OpenIteration(); !open || run.Stop != nil {
		p.lastIdle = &run
	}
	select {
	case <-p.newest:
	default:
	}
	p.newest <- runState{run, p.lastIdle}
}

const minRetryPause = time.Second

// Close shows the newest state if it was not shown yet, and ends the updates.
func (p *Publisher) Close() {
	close(p.newest)
	<-p.done
}

// loop shows the newest state at most once per interval, and the last one at the end.
func (p *Publisher) loop(ctx context.Context) {
	defer close(p.done)
	var pending *runState
	var pause <-chan time.Time
	for {
		select {
		case newer, open := <-p.newest:
			if !open {
				p.showLast(ctx, pending)
				return
			}
			pending = &newer
			if p.isFirstSave(newer.run) {
				pause = nil
			}
		case <-pause:
			pause = nil
		}
		if pending == nil || pause != nil {
			continue
		}
		pending, pause = p.showPending(ctx, pending)
	}
}

// isFirstSave reports true once, when the run was first saved for other machines: these
// trust the saved state only if the comment confirms it.
func (p *Publisher) isFirstSave(run journal.Run) bool {
	if p.saveShown || run.Published.Shelved == nil {
		return false
	}
	p.saveShown = true
	return true
}

// showPending shows a state. It returns the state if that failed, and the pause until the next update.
func (p *Publisher) showPending(ctx context.Context, pending *runState) (left *runState, pause <-chan time.Time) {
	if p.show(ctx, *pending) {
		return nil, time.After(p.Interval)
	}
	return pending, time.After(max(p.Interval, minRetryPause))
}

// showLast shows the last state. It retries once, because no later update follows.
func (p *Publisher) showLast(ctx context.Context, left *runState) {
	if left == nil || ctx.Err() != nil {
		return
	}
	ctx, done := context.WithTimeout(ctx, showTimeout)
	defer done()
	if !p.show(ctx, *left) && ctx.Err() == nil {
		p.show(ctx, *left)
	}
}

func (p *Publisher) show(ctx context.Context, m runState) bool {
	ctx, done := context.WithTimeout(ctx, showTimeout)
	defer done()
	board := m.texts()
	shown := true
	for i, screen := range p.Screens {
		err := screen(ctx, board)
		if err == nil {
			delete(p.lastErrors, i)
			continue
		}
		shown = false
		if p.lastErrors[i] != err.Error() { // else it was reported already
			p.lastErrors[i] = err.Error()
			p.Failed(err)
		}
	}
	return shown
}
