// Package publish decides when people see the state of a run: at once at the
// beginning and the end, and at most at a fixed rate in between. Package view
// writes the texts.
package publish

import (
	"context"
	"time"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/view"
)

// Screen is a place where people look.
type Screen interface {
	Show(ctx context.Context, board view.Texts) error
}

// showTimeout is how long all screens together may take for one showing: the last
// one stands between a run and its end.
const showTimeout = 10 * time.Second

// Publisher keeps the newest state of a run and shows it. Only the newest
// counts: what came and went between two looks was never news.
type Publisher struct {
	Screens  []Screen
	Interval time.Duration // the least time between two showings
	Failed   func(error)   // told of each screen that could not be shown; never fatal

	newest     chan runState
	lastIdle   *journal.Run // the newest state with no iteration under way
	done       chan struct{}
	lastErrors map[int]string // of each screen that failed last, why
	saveShown  bool           // people were hurried to see that the run is kept elsewhere
}

// runState is a state of a run. The comment shows it at once. The pull request
// shows the last one between iterations: half-done work is not reviewed, and
// each edit is a call.
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

// isTransient reports whether the next event is a moment away, so that both are worth
// one update: between two iterations, and until what an agent left is known.
func (m runState) isTransient() bool {
	if len(m.run.Iterations) == 0 || m.run.Stop != nil || m.run.Cancel != nil {
		return false
	}
	if open, ok := m.run.OpenIteration(); ok {
		return open.Agent != nil && open.Taken == nil && len(open.Checks) == 0
	}
	return m.lastIdle != nil && m.lastIdle.Seq == m.run.Seq
}

// Start begins showing, until Close. It comes before the first Notice.
func (p *Publisher) Start(ctx context.Context) {
	p.newest = make(chan runState, 1)
	p.done = make(chan struct{})
	p.lastErrors = map[int]string{}
	go p.loop(ctx)
}

// Update hands over a newer state, in the place of one that was not shown yet.
// It never waits, and is called from one goroutine.
func (p *Publisher) Update(run journal.Run) {
	if len(p.Screens) == 0 {
		return // a board takes longer to draw than most of what it tells of
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

// minRetryPause is how long a screen that failed is left alone.
const minRetryPause = time.Second

// Close shows the newest state if it was not shown yet, and ends.
func (p *Publisher) Close() {
	close(p.newest)
	<-p.done
}

// loop shows the newest state whenever the screens may be bothered again, and
// what is left when it is closed. What could not be shown is left.
func (p *Publisher) loop(ctx context.Context) {
	defer close(p.done)
	var pending *runState
	var pause <-chan time.Time
	lull := false // the pause is, or was, for what comes next
	for {
		select {
		case newer, open := <-p.newest:
			if !open {
				p.showLast(ctx, pending)
				return
			}
			pending = &newer
			if urgent := p.isFirstSave(newer.run); urgent || lull && !newer.isTransient() {
				lull, pause = urgent, nil
			}
		case <-pause:
			pause = nil
		}
		switch {
		case pending == nil || pause != nil:
		case pending.isTransient() && !lull:
			lull, pause = true, time.After(p.Interval)
		default:
			lull = false
			pending, pause = p.showPending(ctx, pending)
		}
	}
}

// isFirstSave tells, once, that a run is saved for other machines from now on:
// without the comment's confirmation the saved state is not trusted.
func (p *Publisher) isFirstSave(run journal.Run) bool {
	if p.saveShown || run.Shelved == nil {
		return false
	}
	p.saveShown = true
	return true
}

// showPending shows what is pending, and gives back what is still to be shown and how
// long the screens are left alone.
func (p *Publisher) showPending(ctx context.Context, pending *runState) (left *runState, pause <-chan time.Time) {
	if p.show(ctx, *pending) {
		return nil, time.After(p.Interval)
	}
	return pending, time.After(max(p.Interval, minRetryPause))
}

// showLast shows the end, and tries once more if that fails: no later step corrects
// what people see.
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

// show tells whether every screen shows the run now.
func (p *Publisher) show(ctx context.Context, m runState) bool {
	ctx, done := context.WithTimeout(ctx, showTimeout)
	defer done()
	board, shown := m.texts(), true
	for i, screen := range p.Screens {
		if err := screen.Show(ctx, board); err != nil {
			p.reportFailure(i, err)
			shown = false
			continue
		}
		delete(p.lastErrors, i)
	}
	return shown
}

// reportFailure tells of a screen that fails, but not of the same again and again.
func (p *Publisher) reportFailure(screen int, err error) {
	if p.lastErrors[screen] != err.Error() {
		p.lastErrors[screen] = err.Error()
		p.Failed(err)
	}
}
