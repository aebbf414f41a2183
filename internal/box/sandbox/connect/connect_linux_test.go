package connect_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ralph-loop/ralph/internal/box/sandbox/connect"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
)

// A connect goes on after signals, and is made when the listener accepts.
func TestDialIsNotInterrupted(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "socket")
	listener := must.Get(unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0))(t)
	t.Cleanup(func() { _ = unix.Close(listener) })
	must.Do(t, unix.Bind(listener, &unix.SockaddrUnix{Name: name}))
	must.Do(t, unix.Listen(listener, 0))
	first, errno := connect.Dial(unix.AF_UNIX, unix.SOCK_STREAM, &unix.SockaddrUnix{Name: name})
	if errno != 0 {
		t.Fatal(errno)
	}
	t.Cleanup(func() { _ = unix.Close(first) })

	thread, ended := make(chan int), make(chan error, 1)
	go func() { // waits, because there is no room for a second
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		thread <- unix.Gettid()
		second, errno := connect.Dial(unix.AF_UNIX, unix.SOCK_STREAM, &unix.SockaddrUnix{Name: name})
		if errno != 0 {
			ended <- errno
			return
		}
		ended <- unix.Close(second)
	}()
	tid := <-thread
	for range 10 {
		for !isConnecting(t, tid) && len(ended) == 0 {
			runtime.Gosched()
		}
		must.Do(t, unix.Tgkill(os.Getpid(), tid, unix.SIGURG))
	}
	made, _, err := unix.Accept(listener)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(made) })
	if err := <-ended; err != nil {
		t.Errorf("after signals: %v, want a connection", err)
	}
}

// isConnecting reads which system call a thread waits in.
func isConnecting(t *testing.T, tid int) bool {
	t.Helper()
	text := must.Get(os.ReadFile(fmt.Sprintf("/proc/self/task/%d/syscall", tid)))(t)
	return strings.HasPrefix(string(text), fmt.Sprint(unix.SYS_CONNECT)+" ")
}
