//go:build !linux

package process

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// tree is the program's group: without /proc, a process that leaves it cannot be found.
type tree struct {
	pid   int
	uid   int // Command.UID; not used here
	swept int
}

func startTree(path string, argv []string, attr *os.ProcAttr) (*tree, <-chan reaper, error) {
	p, err := os.StartProcess(path, argv, attr)
	if err != nil {
		return nil, nil, err
	}
	exited := make(chan reaper, 1)
	go func() { exited <- awaitExit(p) }()
	return &tree{pid: p.Pid}, exited, nil
}

func awaitExit(p *os.Process) reaper {
	state, err := p.Wait()
	return func() (*os.ProcessState, error) { return state, err }
}

func (t *tree) terminate()       { _ = unix.Kill(-t.pid, unix.SIGTERM) }
func (t *tree) kill()            { _ = unix.Kill(-t.pid, unix.SIGKILL) }
func (t *tree) killWithoutScan() {} // kill is as quick
func (t *tree) isAlive() bool    { return !errors.Is(unix.Kill(-t.pid, 0), unix.ESRCH) }
func (t *tree) recordMembers()   { t.swept = 1 } // at least, as in sweep
func (t *tree) countEnded() int  { return t.swept }
func (t *tree) giveUp()          {}

func (t *tree) sweep() error {
	if !t.isAlive() {
		return nil
	}
	t.swept = 1 // at least: a group does not tell how many
	limit := time.After(killTimeout)
	for t.kill(); t.isAlive(); t.kill() {
		select {
		case <-time.After(10 * time.Millisecond):
		case <-limit:
			return fmt.Errorf("%w: group %d", ErrAlive, t.pid)
		}
	}
	return nil
}

func limitMemory(int, uint64) {}

func newPipe() (*os.File, *os.File, error) { return os.Pipe() }

// CloseOnExecFrom is for Linux.
func CloseOnExecFrom(int) error { return nil }
