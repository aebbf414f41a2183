// Package publish decides when people are shown how a run stands: at once at
// the beginning and the end, and in between no oftener than a screen can bear.
// What they are shown is view's.
package publish

import (
	"context"
	"time"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/view"
)

// Screen is a place where people look.
type Screen interface {
	Show(ctx context.Context, board view.Board) error
}

// patience is how long all screens together may take for one showing: the last
// one stands between a run and its end.
const patience = 10 * time.Second

// Publisher keeps the newest state of a run and shows it. Only the newest
// counts: what came and went between two looks was never news.
type Publisher struct {
	Screens []Screen
	Every   time.Duration // the least time between two showings
	Failed  func(error)   // told of each screen that could not be shown; never fatal

	newest chan journal.Run
	done   chan struct{}
	said   map[int]string // of each screen that failed last, why
}

// Start begins showing, until Close. It comes before the first Notice.
func (p *Publisher) Start(ctx context.Context) {
	p.newest = make(chan journal.Run, 1)
	p.done = make(chan struct{})
	p.said = map[int]string{}
	go p.work(ctx)
}

// Notice hands over a newer state, in the place of one that was not shown yet.
// It never waits, and is called from one goroutine.
func (p *Publisher) Notice(run journal.Run) {
	if len(p.Screens) == 0 {
		return // a board takes longer to draw than most of what it tells of
	}
	select {
	case <-p.newest:
	default:
	}
	p.newest <- run
}

// atLeast is how long a screen that failed is left alone.
const atLeast = time.Second

// Close shows the newest state if it was not shown yet, and ends.
func (p *Publisher) Close() {
	close(p.newest)
	<-p.done
}

// work shows the newest state whenever the screens may be bothered again, and
// what is left when it is closed. What could not be shown is left.
func (p *Publisher) work(ctx context.Context) {
	defer close(p.done)
	var pending *journal.Run
	var pause <-chan time.Time
	for {
		select {
		case run, open := <-p.newest:
			if !open {
				p.last(ctx, pending)
				return
			}
			pending = &run
		case <-pause:
			pause = nil
		}
		if pending != nil && pause == nil {
			least := max(p.Every, atLeast)
			if p.show(ctx, *pending) {
				pending, least = nil, p.Every
			}
			pause = time.After(least)
		}
	}
}

// last shows what was left, and once more where that failed: nobody comes
// after it to mend what people see.
func (p *Publisher) last(ctx context.Context, run *journal.Run) {
	if run == nil || ctx.Err() != nil {
		return
	}
	ctx, done := context.WithTimeout(ctx, patience)
	defer done()
	if !p.show(ctx, *run) && ctx.Err() == nil {
		p.show(ctx, *run)
	}
}

// show tells whether every screen shows the run now.
func (p *Publisher) show(ctx context.Context, run journal.Run) bool {
	ctx, done := context.WithTimeout(ctx, patience)
	defer done()
	board, shown := view.Of(run), true
	for i, screen := range p.Screens {
		if err := screen.Show(ctx, board); err != nil {
			p.complain(i, err)
			shown = false
			continue
		}
		delete(p.said, i)
	}
	return shown
}

// complain tells of a screen that fails, but not of the same again and again.
func (p *Publisher) complain(screen int, err error) {
	if p.said[screen] != err.Error() {
		p.said[screen] = err.Error()
		p.Failed(err)
	}
}
