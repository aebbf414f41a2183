package sandbox_test

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/ralph-loop/ralph/internal/box/sandbox"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
)

func atoi(tb testing.TB, s string) int {
	tb.Helper()
	n := must.Get(strconv.Atoi(s))(tb)
	return n
}

func open(tb testing.TB, paths ...string) {
	tb.Helper()
	for _, p := range paths {
		must.Do(tb, os.Chmod(p, 0o777))
	}
}

func link(tb testing.TB, to, at string) {
	tb.Helper()
	must.Do(tb, os.Symlink(to, at))
}

func write(tb testing.TB, path, text string) {
	tb.Helper()
	must.Do(tb, os.WriteFile(path, []byte(text), 0o666))
	if os.Geteuid() == 0 {
		must.Do(tb, os.Chown(path, agent, agent))
	}
}

func read(tb testing.TB, path string) string {
	tb.Helper()
	text := must.Get(os.ReadFile(path))(tb)
	return string(text)
}

// portsOf returns the ports of listeners, which lead there.
func portsOf(all ...net.Listener) map[int]netip.AddrPort {
	ports := map[int]netip.AddrPort{}
	for _, l := range all {
		at := netip.MustParseAddrPort(l.Addr().String())
		ports[int(at.Port())] = at
	}
	return ports
}

func portOf(l net.Listener) string { return strconv.Itoa(l.Addr().(*net.TCPAddr).Port) }

func eventually(t *testing.T, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal("waited in vain")
		}
	}
}

func lines(s string) []string { return strings.Split(s, "\n") }

func table(levels []sandbox.Level, columns [][]sandbox.AttackResult) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "vector")
	for _, l := range levels {
		fmt.Fprintf(w, "\t%s", l)
	}
	fmt.Fprintln(w)
	for i := range columns[0] {
		fmt.Fprint(w, columns[0][i].Vector)
		for _, c := range columns {
			fmt.Fprintf(w, "\t%s", outcome(c[i]))
		}
		fmt.Fprintln(w)
	}
	_ = w.Flush()
	return b.String()
}

func outcome(r sandbox.AttackResult) string {
	switch {
	case r.Held:
		return "held"
	case r.Promised:
		return "THROUGH"
	}
	return "open, as the level says"
}

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
