package sandbox_test

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/ralph-loop/ralph/internal/box/sandbox"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
)

// playRace connects to an address that changes under the call, between one
// that is allowed and one that is not, for a time: race ALLOWED FORBIDDEN HOW-LONG.
func playRace(args []string) {
	allowed, forbidden := sockaddr(args[0]), sockaddr(args[1])
	limit, err := time.ParseDuration(args[2])
	try(err)
	var over atomic.Bool
	time.AfterFunc(limit, func() { over.Store(true) })
	shared := new([16]byte)
	*shared = allowed
	var busy sync.WaitGroup
	busy.Go(func() { // the port is what differs: one stroke changes it
		at := (*uint64)(unsafe.Pointer(shared))
		good, bad := binary.NativeEndian.Uint64(allowed[:]), binary.NativeEndian.Uint64(forbidden[:])
		for hold := 0; !over.Load(); hold = (hold + 7) % 4001 {
			atomic.StoreUint64(at, bad)
			spin(hold)
			atomic.StoreUint64(at, good)
			spin(hold)
		}
	})
	tries := 0
	for ; !over.Load(); tries++ {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		try(err)
		_, _, errno := unix.Syscall(unix.SYS_CONNECT, uintptr(fd), uintptr(unsafe.Pointer(shared)), 16)
		if errno == 0 {
			peer, err := unix.Getpeername(fd)
			if in, ok := peer.(*unix.SockaddrInet4); ok && err == nil && in.Port == int(binary.BigEndian.Uint16(forbidden[2:])) {
				over.Store(true) // won: that is all there is to know
			}
			_ = unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1}) // no TIME_WAIT
		}
		_ = unix.Close(fd)
	}
	busy.Wait()
	c, err := net.Dial("tcp4", args[0])
	try(err) // it must have been at work to the end
	_ = c.Close()
	fmt.Println(tries)
}

var spun atomic.Int64

func spin(n int) {
	for range n {
		spun.Add(1)
	}
}

func sockaddr(s string) (name [16]byte) {
	to := netip.MustParseAddrPort(s)
	binary.NativeEndian.PutUint16(name[0:], unix.AF_INET)
	binary.BigEndian.PutUint16(name[2:], to.Port())
	copy(name[4:8], to.Addr().AsSlice())
	return name
}

// counting returns a listener that counts who comes.
func counting(t *testing.T) (addr string, came func() int) {
	t.Helper()
	l := must.Get(net.Listen("tcp4", "127.0.0.1:0"))(t)
	var n atomic.Int64
	var busy sync.WaitGroup
	busy.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			n.Add(1)
			_ = c.Close()
		}
	})
	t.Cleanup(func() { _ = l.Close(); busy.Wait() })
	asked := 0
	return l.Addr().String(), func() int {
		c := must.Get(net.Dial("tcp4", l.Addr().String()))(t) // accepted after those before it
		_, _ = io.Copy(io.Discard, c)
		_ = c.Close()
		asked++
		return int(n.Load()) - asked
	}
}

// It is long in make attack.
func TestNoRaceIsWonAgainstTheSupervisor(t *testing.T) {
	allowed, welcome := counting(t)
	forbidden, reach := counting(t)
	w := testConfig(t, sandbox.Notify, users()[0])
	w.Ports = leading(int(netip.MustParseAddrPort(allowed).Port()))
	out, res := inside(t, w, playing(t, &w, "race", allowed, forbidden, cmp.Or(os.Getenv("ATTACK"), "1s")))
	if res.Exit != 0 || strings.TrimSpace(out) == "" || welcome() == 0 {
		t.Fatalf("exit %d, %d came where they may: %s", res.Exit, welcome(), out)
	}
	show(t, fmt.Sprintf("raced: %s tries, %d came where they may, %d where not", strings.TrimSpace(out), welcome(), reach()))
	if n := reach(); n != 0 {
		t.Errorf("%d connects reached what is forbidden", n)
	}
}
