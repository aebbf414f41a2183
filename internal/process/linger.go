package process

import (
	"context"
	"time"
)

// linger lets what the program left behind go on for as long as the Command
// says; whoever is there then is asked to end. The program itself is not reaped
// yet: until it is, nobody else can have its session's number.
func (ch *child) linger(ctx context.Context, c Command, hard <-chan struct{}) (why error) {
	if !ch.tree.alive() {
		return nil
	}
	most, look := c.Linger()
	if ch.outlast(ctx, most, look, hard) {
		return nil
	}
	switch {
	case ctx.Err() != nil:
		why = cause(ctx)
	case isClosed(hard):
		why = ErrStopped
	}
	ch.tree.overstay()
	ch.stop(graceOf(ctx, c), hard)
	return why
}

// outlast waits until nobody is left, and tells whether that came to pass
// before the time was over or everything had to end.
func (ch *child) outlast(ctx context.Context, most, look time.Duration, hard <-chan struct{}) bool {
	over := time.NewTimer(most)
	defer over.Stop()
	ticker := time.NewTicker(max(look, time.Millisecond))
	defer ticker.Stop()
	for ch.tree.alive() {
		select {
		case <-ticker.C:
		case <-over.C:
			return !ch.tree.alive()
		case <-ctx.Done():
			return false
		case <-hard:
			return false
		}
	}
	return true
}
