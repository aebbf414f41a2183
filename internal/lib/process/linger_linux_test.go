package process_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/lib/process"
)

// host is a Linger that says when it is asked.
type host struct {
	most  time.Duration
	asked chan struct{}
}

func hosting(c *process.Command, most time.Duration) *host {
	h := &host{most: most, asked: make(chan struct{}, 1)}
	c.Linger = func() (time.Duration, time.Duration) {
		h.asked <- struct{}{}
		return h.most, time.Millisecond
	}
	return h
}

// They are asked first: what they have to clean up is theirs.
func TestLingeringTooLongIsEnded(t *testing.T) {
	asked := filepath.Join(t.TempDir(), "asked")
	for _, how := range []string{"plain", "setsid", "daemon"} {
		for kind, grace := range map[string]time.Duration{asked: time.Hour, "stubborn": 10 * time.Millisecond} {
			t.Run(how+" "+kind, func(t *testing.T) {
				c := playing("leave", how, "end", kind)
				c.Grace = grace
				hosting(&c, 0)
				g := run(t.Context(), new(process.Runner), c)
				s := g.left(t)
				got, err := g.wait()
				if diff := cmp.Diff(process.Result{Swept: 1}, got); diff != "" || err != nil {
					t.Errorf("Run: %v, result (-want +got):\n%s", err, diff)
				}
				s.wantGone(t)
				if err := os.Remove(asked); (err == nil) != (kind == asked) {
					t.Errorf("it was asked: %v", err)
				}
			})
		}
	}
}

func TestLingeringEndsWithTheRun(t *testing.T) {
	why := errors.New("enough")
	for name, want := range map[string][]error{"the context": {context.Canceled, why}, "at once": {process.ErrStopped}} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			hard := make(chan struct{})
			c := playing("leave", "daemon", "end", "stubborn")
			c.Grace, c.CancelGrace = time.Hour, 10*time.Millisecond
			h := hosting(&c, time.Hour)
			g := run(ctx, &process.Runner{Hard: hard}, c)
			s := g.left(t)
			<-h.asked
			if name == "at once" {
				close(hard)
			} else {
				cancel(why)
			}
			got, err := g.wait()
			for _, want := range want {
				if !errors.Is(err, want) || got.Exit != 0 || got.Swept != 1 {
					t.Errorf("Run = %+v, %v, want exit 0, one swept, %v", got, err, want)
				}
			}
			s.wantGone(t)
		})
	}
}
