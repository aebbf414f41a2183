package sandbox

import (
	"encoding/binary"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// remember notes a socket that is about to be listened on: whoever inside holds
// it, it is theirs.
func (sv *supervisor) remember(q notice) {
	inode, ok := inodeOf(q)
	if !ok || !sv.n.waits(q) {
		return
	}
	sv.mu.Lock()
	defer sv.mu.Unlock()
	if len(sv.own) > 1<<16 {
		clear(sv.own) // nobody needs so many; the price is theirs
	}
	sv.own[inode] = true
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

// flagsOf are those of the descriptor that is to be connected.
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
	sockDiagByFamily = 20
	stateListen      = 10
	diagRequest      = 8 + 48 // inet_diag_req_v2
	diagMessage      = 4 + 48 + 20
)

// listeners are the inodes of all sockets that listen at a port, whatever their
// address. The kernel is asked: to read /proc/net/tcp takes it milliseconds.
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
	binary.NativeEndian.PutUint16(req[4:], sockDiagByFamily)
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
		list, over, err := inodesAt(port, buf[:n])
		if found = append(found, list...); over || err != nil {
			return found, err
		}
	}
}

func inodesAt(port uint16, answer []byte) (found []uint64, over bool, err error) {
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
		case len(m.Data) >= diagMessage && binary.BigEndian.Uint16(m.Data[4:]) == port:
			found = append(found, uint64(binary.NativeEndian.Uint32(m.Data[68:])))
		}
	}
	return found, false, nil
}
