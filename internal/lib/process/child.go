package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// killTimeout: only a process that is stuck in the kernel, or that we may not signal, takes longer.
const killTimeout = 5 * time.Second

type child struct {
	tree    *tree
	streams *streams
	exited  <-chan reaper
	reap    reaper // set once the process has ended
	ended   bool   // the program has ended by itself; see Command.Ended
}

// reaper collects the status of a program that has ended. Until it is called, the pid stays taken (on Linux), so that a
// signal to its group cannot reach another program.
type reaper func() (*os.ProcessState, error)

func start(c Command) (*child, error) {
	path, env, err := Locate(c)
	if err != nil {
		return nil, err
	}
	if env == nil {
		env = []string{} // nil would be ours
	}
	s, err := openStreams(c)
	if err != nil {
		return nil, err
	}
	attr := &os.ProcAttr{Dir: c.Dir, Env: env, Files: s.childFiles, Sys: withOwnSession(c.Sys)}
	t, exited, err := startTree(path, c.Argv, attr)
	closeAll(s.opened)
	if err != nil {
		closeAll(s.own)
		return nil, StartError(path, err)
	}
	t.uid = c.UID
	if c.Memory > 0 {
		limitMemory(t.pid, c.Memory)
	}
	s.start()
	return &child{tree: t, streams: s, exited: exited}, nil
}

func withOwnSession(from *syscall.SysProcAttr) *syscall.SysProcAttr {
	sys := syscall.SysProcAttr{}
	if from != nil {
		sys = *from
	}
	sys.Setsid = true
	return &sys
}

// wait returns whether the program's time is over, or why it has to end. Neither is so if it has ended by itself.
func (ch *child) wait(ctx context.Context, c Command, hard <-chan struct{}) (bool, error) {
	var overdue <-chan time.Time
	if c.Timeout > 0 {
		overdue = time.After(c.Timeout)
	}
	timedOut := false
	var why error
	select {
	case ch.reap = <-ch.exited:
	case <-c.Ended:
	case <-ctx.Done():
		why = contextError(ctx)
	case <-overdue:
		timedOut = true
	case <-hard:
		why = ErrStopped
	case <-ch.streams.failed: // finish reports the error
	}
	select {
	case ch.reap = <-ch.exited:
	default:
	}
	ch.ended = ch.reap != nil || IsClosed(c.Ended)
	if ch.ended { // then a timeout or a cancellation no longer counts
		return false, nil
	}
	return timedOut, why
}

// stop waits for the grace period: a shell dies at once, but its command may clean up.
func (ch *child) stop(ctx context.Context, c Command, hard <-chan struct{}) {
	if IsClosed(hard) {
		return
	}
	grace := graceOf(ctx, c)
	defer ch.killAfter(grace)()
	ch.tree.terminate()
	ch.await(context.WithoutCancel(ctx), grace, 20*time.Millisecond, hard)
}

// killAfter kills the program, and with it its sandbox, if what happens until the returned function runs takes
// longer than limit: where thousands of processes keep the processors busy, we read the process table for minutes.
func (ch *child) killAfter(limit time.Duration) func() {
	killed := make(chan struct{})
	timer := time.AfterFunc(limit, func() {
		ch.tree.killWithoutScan()
		close(killed)
	})
	return func() {
		if !timer.Stop() {
			<-killed
		}
	}
}

// await reports whether the program and all its descendants ended within the limit.
func (ch *child) await(ctx context.Context, limit, interval time.Duration, hard <-chan struct{}) bool {
	over := time.After(limit)
	tick := time.Tick(interval)
	for ch.reap == nil || ch.tree.isAlive() {
		select {
		case ch.reap = <-ch.exited:
		case <-tick:
		case <-over:
			return !ch.tree.isAlive()
		case <-ctx.Done():
			return false
		case <-hard:
			return false
		}
	}
	return true
}

func (ch *child) finish() (Result, error) {
	if err := ch.kill(); err != nil {
		ch.tree.giveUp()
		return Result{Exit: 128 + int(unix.SIGKILL), Signal: "SIGKILL"}, errors.Join(err, ch.streams.finish())
	}
	state, waitErr := ch.reap()
	sweepErr := ch.tree.sweep()
	streamsErr := ch.streams.finish()
	if waitErr != nil {
		waitErr = fmt.Errorf("wait: %w", waitErr)
	}
	res := Result{Exit: -1}
	if state != nil {
		res = ResultOf(state.Sys().(syscall.WaitStatus)) //nolint:forcetypeassert // on every Unix
	}
	res.Swept = ch.tree.countEnded()
	return res, errors.Join(waitErr, sweepErr, streamsErr)
}

func (ch *child) kill() error {
	if ch.reap != nil {
		return nil
	}
	defer ch.killAfter(killTimeout)()
	ch.tree.kill()
	select {
	case ch.reap = <-ch.exited:
		return nil
	case <-time.After(4 * killTimeout): // on a busy machine
		return ErrAlive
	}
}

// ResultOf returns the result of a program with that wait status.
func ResultOf(ws syscall.WaitStatus) Result {
	if !ws.Signaled() {
		return Result{Exit: ws.ExitStatus()}
	}
	return Result{Exit: 128 + int(ws.Signal()), Signal: unix.SignalName(ws.Signal())}
}

// linger lets the program's remaining processes run for as long as the Command says, and then asks them to end. The
// program is not reaped yet: until then no other process can get its session's number.
func (ch *child) linger(ctx context.Context, c Command, hard <-chan struct{}) error {
	if !ch.tree.isAlive() {
		return nil
	}
	limit, interval := c.Linger()
	if ch.await(ctx, limit, max(interval, time.Millisecond), hard) {
		return nil
	}
	var why error
	switch {
	case ctx.Err() != nil:
		why = contextError(ctx)
	case IsClosed(hard):
		why = ErrStopped
	}
	ch.tree.recordMembers()
	ch.stop(ctx, c, hard)
	return why
}

type stat struct {
	pid, parent, group, session int

	state   byte
	threads int
}

// A process whose first thread has ended looks like a zombie while its other threads run.
func (s stat) isDead() bool {
	return (s.state == 'Z' || s.state == 'X') && s.threads <= 1
}

// parseStat: the program's name can be any 15 bytes, "a) Z (b" included, so the last bracket ends it.
func parseStat(line []byte) (stat, bool) {
	open, shut := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	if open < 0 || shut < open {
		return stat{}, false
	}
	f := bytes.Fields(line[shut+1:])
	if len(f) < 18 || len(f[0]) != 1 {
		return stat{}, false
	}
	s := stat{state: f[0][0]}
	for _, number := range [...]struct {
		text []byte
		to   *int
	}{
		{bytes.TrimSpace(line[:open]), &s.pid},
		{f[1], &s.parent},
		{f[2], &s.group},
		{f[3], &s.session},
		{f[17], &s.threads},
	} {
		n, ok := parseNumber(number.text)
		if !ok {
			return stat{}, false
		}
		*number.to = n
	}
	return s, s.pid > 0
}

func parseNumber(b []byte) (int, bool) {
	n, err := strconv.ParseInt(string(b), 10, 32)
	return int(n), err == nil && n >= 0
}
