// Package connect makes the connects of a sandboxed program in its stead: seccomp asks it about each, and it gives the
// program a socket of its own or an error. It reaches the proxies, and what those inside listen on themselves. Where
// nothing else does, it keeps their signals from others, too.
package connect

import (
	"encoding/binary"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// maxConnects is how many connects may be under way at once; who asks for more waits.
const maxConnects = 128

// Supervisor makes the connects of those inside in their stead, with sockets of its own, to addresses in its own
// memory. It never lets the kernel go on with a connect, whose address could be another by then: so there is no race to
// win, and nothing depends on what Landlock knows of the network.
type Supervisor struct {
	Listener *os.File               // of the filter
	Ports    map[int]netip.AddrPort // of loopback that lead out
	Folders  []string               // real paths, where local sockets may be
	Anyone   bool                   // tests: every listener counts

	queue        noticeQueue
	mu           sync.Mutex
	ownListeners map[uint64]bool // sockets that those inside listen on, by inode
}

// Serve answers until no process is left that could ask.
func (sv *Supervisor) Serve() {
	defer runtime.KeepAlive(sv.Listener) // were it forgotten, it would be closed
	sv.queue = noticeQueue(sv.Listener.Fd())
	sv.ownListeners = map[uint64]bool{}
	room := make(chan struct{}, maxConnects)
	for {
		q, ok := sv.queue.next()
		if !ok {
			return
		}
		room <- struct{}{}
		go func() { sv.handle(q); <-room }()
	}
}

func (sv *Supervisor) handle(q notice) {
	var errno unix.Errno
	goesOn := true // it names no memory
	switch int(q.Number) {
	case unix.SYS_LISTEN:
		sv.remember(q)
	case unix.SYS_CONNECT:
		errno = sv.connect(q)
		goesOn = false
	default:
		errno = signal(q)
	}
	if errno == 0 && goesOn {
		sv.queue.continueCall(q)
		return
	}
	sv.queue.refuse(q, errno)
}

func (sv *Supervisor) connect(q notice) unix.Errno {
	name, errno := sv.queue.socketAddress(q)
	if errno != 0 {
		return errno
	}
	flags, errno := flagsOf(q)
	if errno != 0 {
		return errno
	}
	var ours int
	switch family(name) {
	case unix.AF_INET, unix.AF_INET6:
		ours, errno = sv.tcp(name)
	case unix.AF_UNIX:
		ours, errno = sv.local(q.PID, name[2:])
	default:
		return unix.EACCES
	}
	if errno != 0 {
		return errno
	}
	defer func() { _ = unix.Close(ours) }()
	if flags&unix.O_NONBLOCK != 0 {
		if err := unix.SetNonblock(ours, true); err != nil {
			return unix.EPERM
		}
	}
	theirs := int(int32(q.Args[0])) //nolint:gosec // the kernel reads 32 bits
	if err := sv.queue.inject(q, ours, theirs, flags&unix.O_CLOEXEC); err != nil {
		return unix.EPERM
	}
	return 0
}

func (sv *Supervisor) tcp(name []byte) (int, unix.Errno) {
	to, ok := addressOf(name)
	if !ok {
		return -1, unix.EINVAL
	}
	if !to.Addr().Unmap().IsLoopback() {
		return -1, unix.EACCES
	}
	out, ok := sv.Ports[int(to.Port())]
	switch {
	case ok && to.Addr().Unmap() == loopback:
		to = out
	case !sv.reachable(to):
		return -1, unix.ECONNREFUSED
	}
	port := int(to.Port())
	if to.Addr().Is4() && family(name) == unix.AF_INET {
		return dial(unix.AF_INET, unix.SOCK_STREAM, &unix.SockaddrInet4{Port: port, Addr: to.Addr().As4()})
	}
	return dial(unix.AF_INET6, unix.SOCK_STREAM, &unix.SockaddrInet6{Port: port, Addr: to.Addr().As16()})
}

var loopback = netip.AddrFrom4([4]byte{127, 0, 0, 1})

func (sv *Supervisor) reachable(to netip.AddrPort) bool {
	if sv.Anyone {
		return true
	}
	inodes, err := listeners(to.Port())
	if err != nil || len(inodes) == 0 {
		return false
	}
	sv.mu.Lock()
	defer sv.mu.Unlock()
	for _, inode := range inodes {
		if !sv.ownListeners[inode] {
			return false
		}
	}
	return true
}

// addressOf reads a sockaddr_in or sockaddr_in6. No address means this machine.
func addressOf(name []byte) (netip.AddrPort, bool) {
	var addr netip.Addr
	switch {
	case family(name) == unix.AF_INET && len(name) >= unix.SizeofSockaddrInet4:
		addr = netip.AddrFrom4([4]byte(name[4:8]))
	case family(name) == unix.AF_INET6 && len(name) >= unix.SizeofSockaddrInet6-4: // the scope may be missing
		addr = netip.AddrFrom16([16]byte(name[8:24]))
	default:
		return netip.AddrPort{}, false
	}
	if addr.IsUnspecified() {
		addr = loopback
		if family(name) == unix.AF_INET6 {
			addr = netip.IPv6Loopback()
		}
	}
	return netip.AddrPortFrom(addr, binary.BigEndian.Uint16(name[2:4])), true
}

// local holds the socket file by a descriptor before it judges it.
func (sv *Supervisor) local(pid uint32, name []byte) (int, unix.Errno) {
	path, _, _ := strings.Cut(string(name), "\x00")
	if path == "" {
		return -1, unix.ECONNREFUSED // an abstract name: its owner is unknown
	}
	if !filepath.IsAbs(path) {
		path = "/proc/" + strconv.FormatUint(uint64(pid), 10) + "/cwd/" + path
	}
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, errnoOf(err)
	}
	defer func() { _ = unix.Close(fd) }()
	held := "/proc/self/fd/" + strconv.Itoa(fd)
	place, err := os.Readlink(held)
	if err != nil || !sv.contains(place) {
		return -1, unix.EACCES
	}
	ours, errno := dial(unix.AF_UNIX, unix.SOCK_STREAM, &unix.SockaddrUnix{Name: held})
	if errno == unix.EPROTOTYPE {
		return dial(unix.AF_UNIX, unix.SOCK_SEQPACKET, &unix.SockaddrUnix{Name: held})
	}
	return ours, errno
}

func (sv *Supervisor) contains(place string) bool {
	return slices.ContainsFunc(sv.Folders, func(dir string) bool {
		return strings.HasPrefix(place, strings.TrimSuffix(dir, "/")+"/")
	})
}

func dial(family, kind int, to unix.Sockaddr) (int, unix.Errno) {
	fd, err := unix.Socket(family, kind|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, errnoOf(err)
	}
	err = connectInTime(fd, to)
	if err == nil {
		return fd, 0
	}
	_ = unix.Close(fd)
	if errno := errnoOf(err); errno != unix.EINPROGRESS {
		return -1, errno
	}
	return -1, unix.ETIMEDOUT
}

// connectInTime gives up after ten seconds, with EINPROGRESS.
func connectInTime(fd int, to unix.Sockaddr) error {
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &unix.Timeval{Sec: 10}); err != nil {
		return err
	}
	if err := connectUninterrupted(fd, to); err != nil {
		return err
	}
	return unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &unix.Timeval{})
}

// connectUninterrupted goes on after signals: with a time limit, the kernel does not. With EINTR, a program inside
// would wait for a connection that never comes.
func connectUninterrupted(fd int, to unix.Sockaddr) error {
	for {
		switch err := unix.Connect(fd, to); err {
		case unix.EINTR:
		case unix.EISCONN: // meanwhile
			return nil
		default:
			return err
		}
	}
}

func errnoOf(err error) unix.Errno {
	if errno, ok := err.(unix.Errno); ok { //nolint:errorlint // a bare errno
		return errno
	}
	return unix.EPERM
}
