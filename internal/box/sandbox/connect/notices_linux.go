package connect

import (
	"encoding/binary"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

func (sv *Supervisor) remember(q notice) {
	inode, ok := inodeOf(q)
	if !ok || !sv.queue.isWaiting(q) {
		return
	}
	listening, err := listeners(anyPort)
	sv.mu.Lock()
	defer sv.mu.Unlock()
	if err != nil || slices.Contains(listening, inode) {
		return // known already, or a stranger's with the same number: the kernel has 32 bits for them
	}
	if len(sv.ownListeners) > 1<<16 {
		clear(sv.ownListeners) // no honest program needs so many
	}
	sv.ownListeners[inode] = true
}

func inodeOf(q notice) (uint64, bool) {
	link, err := os.Readlink(procFile(q, "fd"))
	if err != nil {
		return 0, false
	}
	number, ok := strings.CutPrefix(link, "socket:[")
	if !ok {
		return 0, false
	}
	inode, err := strconv.ParseUint(strings.TrimSuffix(number, "]"), 10, 64)
	return inode, err == nil
}

func flagsOf(q notice) (int, unix.Errno) {
	if _, ok := inodeOf(q); !ok {
		return 0, unix.ENOTSOCK
	}
	text, err := os.ReadFile(procFile(q, "fdinfo"))
	if err != nil {
		return 0, unix.EBADF
	}
	for line := range strings.Lines(string(text)) {
		if octal, ok := strings.CutPrefix(line, "flags:"); ok {
			flags, err := strconv.ParseInt(strings.TrimSpace(octal), 8, 32)
			if err == nil {
				return int(flags), 0
			}
		}
	}
	return 0, unix.EBADF
}

func procFile(q notice, of string) string {
	fd := int64(int32(q.Args[0])) //nolint:gosec // the kernel reads 32 bits
	return "/proc/" + strconv.FormatUint(uint64(q.PID), 10) + "/" + of + "/" + strconv.FormatInt(fd, 10)
}

const (
	stateListen = 10
	diagRequest = 8 + 48 // inet_diag_req_v2
	diagMessage = 4 + 48 + 20
)

const anyPort = 0

// listeners asks the kernel for the sockets at a port: to read /proc/net/tcp is slow.
func listeners(port uint16) ([]uint64, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_INET_DIAG)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	defer func() { _ = unix.Close(fd) }()
	var found []uint64
	for _, family := range []byte{unix.AF_INET, unix.AF_INET6} {
		list, err := ask(fd, family, port)
		if err != nil {
			return nil, err
		}
		found = append(found, list...)
	}
	return found, nil
}

func ask(fd int, family byte, port uint16) ([]uint64, error) {
	req := make([]byte, unix.SizeofNlMsghdr+diagRequest)
	binary.NativeEndian.PutUint32(req[0:], uint32(len(req))) //nolint:gosec // 72
	binary.NativeEndian.PutUint16(req[4:], unix.SOCK_DIAG_BY_FAMILY)
	binary.NativeEndian.PutUint16(req[6:], unix.NLM_F_REQUEST|unix.NLM_F_DUMP)
	body := req[unix.SizeofNlMsghdr:]
	body[0], body[1] = family, unix.IPPROTO_TCP
	binary.NativeEndian.PutUint32(body[4:], 1<<stateListen)
	binary.BigEndian.PutUint16(body[8:], port)
	if err := unix.Sendto(fd, req, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return nil, os.NewSyscallError("sendto", err)
	}
	var found []uint64
	buf := make([]byte, 64<<10)
	for {
		n, _, err := unix.Recvfrom(fd, buf, 0)
		if err != nil {
			return nil, os.NewSyscallError("recvfrom", err)
		}
		list, done, err := inodesAt(port, buf[:n])
		found = append(found, list...)
		if done || err != nil {
			return found, err
		}
	}
}

func inodesAt(port uint16, answer []byte) (found []uint64, done bool, err error) {
	messages, err := syscall.ParseNetlinkMessage(answer)
	if err != nil {
		return nil, false, os.NewSyscallError("netlink", err)
	}
	for _, m := range messages {
		switch {
		case m.Header.Type == unix.NLMSG_DONE:
			return found, true, nil
		case m.Header.Type == unix.NLMSG_ERROR:
			return nil, true, unix.EIO
		case len(m.Data) >= diagMessage && (port == anyPort || binary.BigEndian.Uint16(m.Data[4:]) == port):
			found = append(found, uint64(binary.NativeEndian.Uint32(m.Data[68:])))
		}
	}
	return found, false, nil
}

// The kernel's seccomp_notif, _resp and _addfd.
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

type noticeQueue int

func ioctl[T any](n noticeQueue, request uintptr, what *T) error {
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(n), request,
		uintptr(unsafe.Pointer(what))) //nolint:gosec // it reads and writes there
	if errno != 0 {
		return errno
	}
	return nil
}

// ioctlUninterrupted is for what must not be lost: a signal can interrupt the kernel before it has read it.
func ioctlUninterrupted[T any](n noticeQueue, request uintptr, what *T) error {
	for {
		if err := ioctl(n, request, what); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// next waits for a call to be asked about; false: no process is left. It polls first, because newer kernels return the
// same error, without end, for a call that is gone and for no processes left.
func (n noticeQueue) next() (notice, bool) {
	for {
		at := []unix.PollFd{{Fd: int32(n), Events: unix.POLLIN}} //nolint:gosec // a descriptor
		if _, err := unix.Poll(at, -1); errors.Is(err, unix.EINTR) {
			continue
		}
		if at[0].Revents&unix.POLLIN == 0 {
			return notice{}, false
		}
		var got notice
		err := ioctl(n, unix.SECCOMP_IOCTL_NOTIF_RECV, &got)
		switch {
		case err == nil:
			return got, true
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.ENOENT): // who asked is gone
		default:
			return notice{}, false
		}
	}
}

func (n noticeQueue) refuse(q notice, errno unix.Errno) {
	a := answer{ID: q.ID, Error: -int32(errno)} //nolint:gosec // small
	_ = ioctlUninterrupted(n, unix.SECCOMP_IOCTL_NOTIF_SEND, &a)
}

// continueCall is for calls without pointers only: the kernel reads the arguments again.
func (n noticeQueue) continueCall(q notice) {
	a := answer{ID: q.ID, Flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
	_ = ioctlUninterrupted(n, unix.SECCOMP_IOCTL_NOTIF_SEND, &a)
}

func (n noticeQueue) inject(q notice, ours, theirs, flags int) error {
	in := injection{
		ID:      q.ID,
		Flags:   unix.SECCOMP_ADDFD_FLAG_SETFD,
		From:    uint32(ours),   //nolint:gosec // a descriptor
		To:      uint32(theirs), //nolint:gosec // a descriptor
		ToFlags: uint32(flags),  //nolint:gosec // O_CLOEXEC, or none
	}
	return ioctlUninterrupted(n, unix.SECCOMP_IOCTL_NOTIF_ADDFD, &in)
}

// isWaiting checks that the process still waits: its number may be a stranger's by now.
func (n noticeQueue) isWaiting(q notice) bool {
	id := q.ID
	return ioctlUninterrupted(n, unix.SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == nil
}

// socketAddress reads a socket address out of the memory of who asks.
func (n noticeQueue) socketAddress(q notice) ([]byte, unix.Errno) {
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
	if !n.isWaiting(q) {
		return nil, unix.EINTR
	}
	return buf, 0
}

func family(name []byte) int { return int(binary.NativeEndian.Uint16(name)) }
