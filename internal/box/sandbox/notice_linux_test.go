package sandbox_test

import (
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ralph-loop/ralph/internal/box/sandbox"
	"github.com/ralph-loop/ralph/internal/box/sandbox/connect"
)

// Newer kernels would repeat a call without a caller for ever.
func TestACallWithoutACallerEnds(t *testing.T) {
	listener := make(chan int)
	go filtered(t, listener)
	at := <-listener
	if at < 0 {
		return
	}
	f := os.NewFile(uintptr(at), "listener")
	(&connect.Supervisor{Listener: f}).Serve() // which ends
	if err := f.Close(); err != nil {
		t.Errorf("Close = %v after all programs ended", err)
	}
}

// filtered puts itself under a filter and ends, and its thread with it.
func filtered(t *testing.T, listener chan<- int) {
	t.Helper()
	runtime.LockOSThread()
	if unix.Gettid() == os.Getpid() { // the first thread does not end
		defer runtime.UnlockOSThread()
		ended := make(chan struct{})
		go func() { defer close(ended); filtered(t, listener) }()
		<-ended
		return
	}
	at, err := sandbox.Listen()
	if err != nil {
		t.Error(err)
	}
	listener <- at
}
