package process

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// subreaper has the trees that this operating system process has started. Being a sub-reaper is a property of the
// process, not of a Runner. The lock is held while a program is started and while a process table is read and used: a
// program that is not yet in live would look like an orphan.
var subreaper struct {
	sync.Mutex
	live map[int]*tree // by the pid of the program; nil until becomeSubreaper
}

// becomeSubreaper makes orphans our children. The caller holds the lock.
func becomeSubreaper() error {
	if subreaper.live != nil {
		return nil
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become the sub-reaper: %w", err)
	}
	subreaper.live = map[int]*tree{}
	return nil
}

// launch starts a program and calls watch on the thread that forked it. The kernel sends PDEATHSIG when that *thread*
// ends, not when the process does, and Go may end a thread at any time: https://github.com/golang/go/issues/27505. A
// goroutine that is locked to the thread and waits there keeps it while the program lives.
func launch(path string, argv []string, attr *os.ProcAttr, watch func(*os.Process)) (*os.Process, error) {
	var p *os.Process
	var err error
	started := make(chan struct{})
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		p, err = os.StartProcess(path, argv, attr)
		watched := p // from here on, p belongs to the caller
		close(started)
		if watched != nil {
			watch(watched)
		}
	}()
	<-started
	return p, err
}

func startTree(path string, argv []string, attr *os.ProcAttr) (*tree, <-chan reaper, error) {
	subreaper.Lock()
	defer subreaper.Unlock()
	if err := becomeSubreaper(); err != nil {
		return nil, nil, err
	}
	if attr.Sys.Pdeathsig == 0 {
		attr.Sys.Pdeathsig = syscall.SIGKILL
	}
	exited := make(chan reaper, 1)
	p, err := launch(path, argv, attr, func(p *os.Process) { exited <- awaitExit(p) })
	if err != nil {
		return nil, nil, err
	}
	t := &tree{pid: p.Pid, ended: map[int]bool{}}
	subreaper.live[t.pid] = t
	return t, exited, nil
}

// awaitExit leaves a zombie, so that the numbers of its group and session stay taken.
func awaitExit(p *os.Process) reaper {
	for {
		err := unix.Waitid(unix.P_PID, p.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return p.Wait
		}
	}
}

// We are the sub-reaper: orphans are our children.
func hasNoChildren() bool {
	err := unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT|unix.WALL, nil)
	return errors.Is(err, unix.ECHILD)
}

// limitMemory also limits later children. It fails only if the program has ended.
func limitMemory(pid int, bytes uint64) {
	_ = unix.Prlimit(pid, unix.RLIMIT_DATA, &unix.Rlimit{Cur: bytes, Max: bytes}, nil)
}

// CloseOnExecFrom closes descriptors from first on in child programs: a runner may have left them open.
func CloseOnExecFrom(first int) error {
	if unix.CloseRange(uint(first), 1<<31-1, unix.CLOSE_RANGE_CLOEXEC) == nil {
		return nil
	}
	return closeEachOnExec(first) // before Linux 5.11
}

func closeEachOnExec(first int) error {
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return fmt.Errorf("look at what is open: %w", err)
	}
	for _, entry := range open {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd >= first {
			unix.CloseOnExec(fd)
		}
	}
	return nil
}
