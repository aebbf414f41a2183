package process

import "golang.org/x/sys/unix"

// bound holds a program that has just begun, and all that it will start, to so
// much memory each. One that has ended already needs no bound.
func bound(pid int, bytes uint64) {
	_ = unix.Prlimit(pid, unix.RLIMIT_DATA, &unix.Rlimit{Cur: bytes, Max: bytes}, nil)
}
