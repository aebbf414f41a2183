package agent_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/testsupport/modeltest"
)

// deaf is a tool that ignores SIGTERM, as do its background processes: a child,
// one in a session of its own, and an orphan. It tells when all of them are
// there.
const deaf = `trap '' TERM INT HUP
sleep 601 &
setsid sleep 602 &
(setsid nohup sleep 603 >/dev/null 2>&1 &)
touch started
while :; do sleep 1; done`

// An agent that is interrupted in the middle of a tool that will not hear of it is
// gone with all it started when Do returns, within the grace and a second.
func TestRealAgentEnds(t *testing.T) {
	const grace = time.Second
	eachProgram(t, func(c cli) {
		t := c.T
		b := c.bench(modeltest.Answer{Calls: []modeltest.Call{modeltest.Shell(deaf)}}, modeltest.Answer{Stall: true, Times: modeltest.Always})
		b.Grace = grace
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		asked := make(chan time.Time, 1)
		go func() {
			b.started()
			asked <- time.Now()
			cancel()
		}()
		got, err := b.Do(ctx, b.order)
		took := time.Since(<-asked)
		if err != nil || !got.Failed || got.TimedOut || got.CannotRun || got.Why != "interrupted" {
			t.Errorf("Do = %+v, %v", got, err)
		}
		if took > grace+time.Second {
			t.Errorf("it took %v to end", took)
		}
		b.noneLeft()
		t.Logf("measured: %s is gone after %d ms with %d that it had started", c.agent, took.Milliseconds(), got.Swept)
	})
}

// started waits until the tool is at work.
func (b *bench) started() {
	b.Helper()
	tick, deadline := time.NewTicker(10*time.Millisecond), time.NewTimer(patience)
	defer tick.Stop()
	defer deadline.Stop()
	for {
		if _, err := os.Stat(filepath.Join(b.Dir, "started")); err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-deadline.C:
			b.Error("the tool was never started")
			return
		}
	}
}

// A job that the agent leaves behind when it ends well ends with it.
func TestRealAgentLeavesAJob(t *testing.T) {
	eachProgram(t, func(c cli) {
		t := c.T
		b := c.bench(modeltest.Answer{Calls: []modeltest.Call{modeltest.Shell("(setsid nohup sleep 600 >/dev/null 2>&1 &) ; echo left")}}, done)
		got, err := b.Do(t.Context(), b.order)
		if err != nil || got.Failed || got.Response != "DONE" {
			t.Errorf("Do = %+v, %v", got, err)
		}
		b.noneLeft()
	})
}
