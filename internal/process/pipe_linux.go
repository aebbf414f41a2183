package process

import (
	"os"

	"golang.org/x/sys/unix"
)

// pipeSize is how much a program can say that has not been read yet. Some end
// without waiting until they were heard out: what does not fit is lost.
const pipeSize = 1 << 20

// widen makes room in a pipe, as far as the machine allows it.
func widen(f *os.File) {
	raw, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) { // a pipe of the usual size does, too
		_, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, pipeSize)
	})
}
