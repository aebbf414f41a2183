package sandbox_test

import (
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ralph-loop/ralph/internal/sandbox"
)

// Newer kernels, asked for a call of nobody, would be asked again without end.
func TestNobodyIsLeftToAsk(t *testing.T) {
	listener := make(chan int)
	go filtered(t, listener)
	at := <-listener
	if at < 0 {
		return
	}
	defer func() { _ = unix.Close(at) }()
	if sandbox.Asked(at) {
		t.Error("a thread that has ended asks")
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
