package process_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

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

func TestLingeringProcessesAreWaitedFor(t *testing.T) {
	for _, how := range []string{"plain", "setsid", "daemon", "scrubbed"} {
		t.Run(how, func(t *testing.T) {
			c := playing("leave", how, "end")
			h := hosting(&c, time.Hour)
			g := run(t.Context(), new(process.Runner), c)
			s := g.left(t)
			<-h.asked
			s.wantAlive(t)
			if err := syscall.Kill(s.pid, syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			got, err := g.wait()
			if diff := cmp.Diff(process.Result{}, got); diff != "" || err != nil {
				t.Errorf("Run: %v, result (-want +got):\n%s", err, diff)
			}
			s.wantGone(t)
		})
	}
}

func TestLingeringTooLongIsEnded(t *testing.T) {
	for _, how := range []string{"plain", "setsid", "daemon", "scrubbed"} {
		for _, kind := range []string{"easy", "stubborn"} {
			t.Run(how+" "+kind, func(t *testing.T) {
				c := playing("leave", how, "end", kind)
				c.Grace = time.Hour
				if kind == "stubborn" {
					c.Grace = 10 * time.Millisecond
				}
				hosting(&c, 0)
				g := run(t.Context(), new(process.Runner), c)
				s := g.left(t)
				got, err := g.wait()
				if diff := cmp.Diff(process.Result{Swept: 1}, got); diff != "" || err != nil {
					t.Errorf("Run: %v, result (-want +got):\n%s", err, diff)
				}
				s.wantGone(t)
			})
		}
	}
}

// They are asked, and not only killed: what they have to clean up is theirs.
func TestLingeringProcessesAreAskedToEnd(t *testing.T) {
	asked := filepath.Join(t.TempDir(), "asked")
	c := playing("leave", "daemon", "end", asked)
	c.Grace = time.Hour
	hosting(&c, 0)
	g := run(t.Context(), new(process.Runner), c)
	s := g.left(t)
	if got, err := g.wait(); got.Swept != 1 || err != nil {
		t.Errorf("Run = %+v, %v, want one swept", got, err)
	}
	s.wantGone(t)
	if _, err := os.Stat(asked); err != nil {
		t.Errorf("it was not asked: %v", err)
	}
}

func TestLingeringEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	c := playing("leave", "daemon", "end", "stubborn")
	c.Grace, c.CancelGrace = time.Hour, 10*time.Millisecond
	h := hosting(&c, time.Hour)
	g := run(ctx, new(process.Runner), c)
	s := g.left(t)
	<-h.asked
	why := errors.New("enough")
	cancel(why)
	got, err := g.wait()
	if !errors.Is(err, context.Canceled) || !errors.Is(err, why) || got.Exit != 0 || got.Swept != 1 {
		t.Errorf("Run = %+v, %v, want exit 0, one swept, canceled", got, err)
	}
	s.wantGone(t)
}

func TestHardStopEndsWhoLingers(t *testing.T) {
	hard := make(chan struct{})
	c := playing("leave", "daemon", "end", "stubborn")
	c.Grace = time.Hour
	h := hosting(&c, time.Hour)
	g := run(t.Context(), &process.Runner{Hard: hard}, c)
	s := g.left(t)
	<-h.asked
	close(hard)
	if got, err := g.wait(); !errors.Is(err, process.ErrStopped) || got.Swept != 1 {
		t.Errorf("Run = %+v, %v, want one swept, and stopped", got, err)
	}
	s.wantGone(t)
}

// No process is asked to end if none is left, or if the program itself had to
// be ended.
func TestLingerIsAskedForOthersOnly(t *testing.T) {
	alone := playing("exit", "3")
	late := playing("leave", "daemon", "stay", "stubborn")
	late.Timeout, late.Grace = 50*time.Millisecond, 50*time.Millisecond
	for name, c := range map[string]process.Command{"alone": alone, "too late": late} {
		t.Run(name, func(t *testing.T) {
			h := hosting(&c, time.Hour)
			if _, err := new(process.Runner).Run(t.Context(), c); err != nil {
				t.Error(err)
			}
			if len(h.asked) != 0 {
				t.Error("it was asked")
			}
		})
	}
}

// An orphan that had ended before does not linger.
func TestLingerIsNotAskedForTheDead(t *testing.T) {
	dead, err := os.StartProcess("/bin/true", []string{"true"}, &os.ProcAttr{Sys: &syscall.SysProcAttr{Setsid: true}})
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Waitid(unix.P_PID, dead.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
		t.Fatal(err)
	}
	c := playing("exit", "3")
	h := hosting(&c, time.Hour)
	if _, err := new(process.Runner).Run(t.Context(), c); err != nil {
		t.Error(err)
	}
	if len(h.asked) != 0 {
		t.Error("it was asked")
	}
}

// The grace of a program that the context ends is another than that of one
// that ran out of time.
func TestHasteIsForTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := playing("leave", "plain", "stay", "stubborn")
	c.Grace, c.CancelGrace = time.Hour, 10*time.Millisecond
	g := run(ctx, new(process.Runner), c)
	s := g.left(t)
	cancel()
	if got, err := g.wait(); got.Signal != "SIGKILL" || !errors.Is(err, context.Canceled) {
		t.Errorf("Run = %+v, %v, want killed", got, err)
	}
	s.wantGone(t)
}
