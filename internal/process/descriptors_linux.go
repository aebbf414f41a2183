package process

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// KeepFrom has no descriptor from first on go to the programs that come after
// this one: what a shell or a runner left open to us is not theirs.
func KeepFrom(first int) error {
	if unix.CloseRange(uint(first), 1<<31-1, unix.CLOSE_RANGE_CLOEXEC) == nil {
		return nil
	}
	return keepEach(first) // before Linux 5.11
}

func keepEach(first int) error {
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
