package sandbox_test

import (
	"net"
	"net/netip"
	"testing"

	"github.com/ralph-loop/ralph/internal/testsupport/must"
)

// freePort is one without a listener.
func freePort(tb testing.TB) int {
	tb.Helper()
	l := must.Get(net.Listen("tcp4", "127.0.0.1:0"))(tb)
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port
}

// leading are ports that lead to the same of this machine's own.
func leading(ports ...int) map[int]netip.AddrPort {
	all := map[int]netip.AddrPort{}
	for _, port := range ports {
		all[port] = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(port))
	}
	return all
}
