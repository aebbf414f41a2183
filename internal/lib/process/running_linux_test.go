package process_test

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"testing"

	"github.com/ralph-loop/ralph/internal/lib/process"
)

// running is a Run under way.
type running struct {
	lines chan string
	done  chan struct{}
	res   process.Result
	err   error
}

func run(ctx context.Context, r *process.Runner, c process.Command) *running {
	g := &running{lines: make(chan string, 100), done: make(chan struct{})}
	c.Stdout = &process.Lines{Each: func(l []byte, _ bool) { g.lines <- string(l) }}
	go func() {
		defer close(g.done)
		g.res, g.err = r.Run(ctx, c)
	}()
	return g
}

// left waits for the sleeper that a playLeave leaves.
func (g *running) left(t *testing.T) sleeper {
	t.Helper()
	select {
	case line := <-g.lines:
		return sleeperOf(t, line)
	case <-g.done:
		select {
		case line := <-g.lines:
			return sleeperOf(t, line)
		default:
			t.Fatalf("ended without a word: %+v, %v", g.res, g.err)
		}
	}
	return sleeper{}
}

func (g *running) wait() (process.Result, error) {
	<-g.done
	return g.res, g.err
}

type sleeper struct{ pid int }

func sleeperOf(t *testing.T, line string) sleeper {
	t.Helper()
	var s sleeper
	if _, err := fmt.Sscanf(line, "left %d", &s.pid); err != nil {
		t.Fatalf("line %q: %v", line, err)
	}
	return s
}

func (s sleeper) alive() bool {
	st, ok := statOf(s.pid)
	return ok && !st.Dead
}

func (s sleeper) wantGone(t *testing.T) {
	t.Helper()
	if s.alive() {
		_ = syscall.Kill(s.pid, syscall.SIGKILL)
		t.Errorf("pid %d is still alive", s.pid)
	}
}

func (s sleeper) wantAlive(t *testing.T) {
	t.Helper()
	if !s.alive() {
		t.Errorf("pid %d is gone", s.pid)
	}
}

func statOf(pid int) (process.Stat, bool) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return process.Stat{}, false
	}
	return process.ParseStat(b)
}
