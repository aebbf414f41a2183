package sandbox

import (
	"encoding/binary"
	"errors"
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The kernel's structures of seccomp's user notification: seccomp_notif, _resp
// and _addfd.
type notice struct {
	ID     uint64
	PID    uint32
	Flags  uint32
	Number int32
	Arch   uint32
	IP     uint64
	Args   [6]uint64
}

type answer struct {
	ID    uint64
	Value int64
	Error int32
	Flags uint32
}

type injection struct {
	ID      uint64
	Flags   uint32
	From    uint32
	To      uint32
	ToFlags uint32
}

const (
	ioReceive = 0xc0502100
	ioSend    = 0xc0182101
	ioValid   = 0x40082102
	ioInject  = 0x40182103

	injectHere = 1 // SECCOMP_ADDFD_FLAG_SETFD
	goOn       = 1 // SECCOMP_USER_NOTIF_FLAG_CONTINUE
)

// notices is the filter's listener.
type notices int

// ioctl hands one of the structures above to the kernel.
func ioctl[T any](n notices, request uintptr, what *T) error {
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(n), request, uintptr(unsafe.Pointer(what))) //nolint:gosec // it reads and writes there
	if errno != 0 {
		return errno
	}
	return nil
}

// next waits for a call to be asked about; false: nobody is left who could ask.
// It looks first, since newer kernels, asked for a call where nobody is left,
// say the same as where one has gone: again without end.
func (n notices) next() (notice, bool) {
	for {
		at := []unix.PollFd{{Fd: int32(n), Events: unix.POLLIN}} //nolint:gosec // a descriptor
		if _, err := unix.Poll(at, -1); errors.Is(err, unix.EINTR) {
			continue
		}
		if at[0].Revents&unix.POLLIN == 0 {
			return notice{}, false
		}
		var got notice
		err := ioctl(n, ioReceive, &got)
		switch {
		case err == nil:
			return got, true
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.ENOENT): // who asked is gone
		default:
			return notice{}, false
		}
	}
}

// refuse makes the call fail with errno, or succeed with 0.
func (n notices) refuse(q notice, errno unix.Errno) {
	a := answer{ID: q.ID, Error: -int32(errno)} //nolint:gosec // small
	_ = ioctl(n, ioSend, &a)
}

// goOn lets the kernel do the call. It reads the arguments again, so this is
// for calls without pointers only.
func (n notices) goOn(q notice) {
	a := answer{ID: q.ID, Flags: goOn}
	_ = ioctl(n, ioSend, &a)
}

// inject puts a descriptor of ours in the place of theirs.
func (n notices) inject(q notice, ours, theirs, flags int) error {
	in := injection{ID: q.ID, Flags: injectHere, From: uint32(ours), To: uint32(theirs), ToFlags: uint32(flags)} //nolint:gosec // descriptors
	return ioctl(n, ioInject, &in)
}

// waits tells that who asked still does: else its number may be a stranger's.
func (n notices) waits(q notice) bool {
	id := q.ID
	return ioctl(n, ioValid, &id) == nil
}

// name reads a socket address out of the memory of who asks.
func (n notices) name(q notice) ([]byte, unix.Errno) {
	size := int32(q.Args[2]) //nolint:gosec // the kernel reads 32 bits
	if size < 2 || size > unix.SizeofSockaddrAny {
		return nil, unix.EINVAL
	}
	mem, err := os.Open("/proc/" + strconv.FormatUint(uint64(q.PID), 10) + "/mem")
	if err != nil {
		return nil, unix.EPERM
	}
	defer func() { _ = mem.Close() }()
	buf := make([]byte, size)
	if _, err := mem.ReadAt(buf, int64(q.Args[1])); err != nil { //nolint:gosec // an address of user space
		return nil, unix.EFAULT
	}
	if !n.waits(q) {
		return nil, unix.EINTR
	}
	return buf, 0
}

func family(name []byte) int { return int(binary.NativeEndian.Uint16(name)) }
