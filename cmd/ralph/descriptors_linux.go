package main

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// keepToOurselves has none of the descriptors that a shell or a runner left
// open to us go on to those whom we start.
func keepToOurselves() {
	const first = 3
	if unix.CloseRange(first, 1<<31-1, unix.CLOSE_RANGE_CLOEXEC) == nil {
		return
	}
	open, err := os.ReadDir("/proc/self/fd") // before Linux 5.11
	if err != nil {
		return // the launcher of those inside looks again
	}
	for _, entry := range open {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd >= first {
			unix.CloseOnExec(fd)
		}
	}
}
