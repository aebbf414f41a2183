package egress_test

import (
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/box/egress"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
)

func TestParseServices(t *testing.T) {
	for entry, want := range map[string]string{
		"5432":             "127.0.0.1:5432",
		"127.0.0.1:6379":   "127.0.0.1:6379",
		"localhost:6379":   "localhost:6379",
		"Postgres:5432":    "postgres:5432",
		"db.internal:5432": "db.internal:5432",
		"172.18.0.2:5432":  "172.18.0.2:5432",
		"10.0.0.7:22":      "10.0.0.7:22",
		"[fd00::7]:5432":   "fd00::7:5432",
	} {
		got, err := egress.ParseServices([]string{entry})
		if err != nil || len(got) != 1 || got[0].String() != want {
			t.Errorf("ParseServices(%q) = %v, %v, want %s", entry, got, err, want)
		}
	}
	for entry, why := range map[string]string{
		"": "port", "0": "port", "65536": "port", "05432": "port", "x": "port", "postgres": "port", "127.0.0.1": "port", "postgres:": "port", "postgres:http": "port",
		":5432": "name", "a b:5432": "name", "http://postgres:5432": "port", "*:5432": "patterns",
		"1.1.1.1:443": "allow-domains", "[2606:4700::1111]:443": "allow-domains",
		"169.254.169.254:80": "reserved address", "100.100.100.200:80": "reserved address", "[fd00:ec2::254]:80": "reserved address", "0.0.0.0:80": "reserved address",
		"[::ffff:169.254.169.254]:80": "reserved address", "[fe80::1%lo]:80": "reserved address", "127.1:5432": "address", "0x7f000001:80": "address",
	} {
		got, err := egress.ParseServices([]string{entry})
		if err == nil || !strings.Contains(err.Error(), why) || fault.Hint(err) == "" {
			t.Errorf("ParseServices(%q) = %v, %v, want a fault about %q", entry, got, err, why)
		}
	}
	if got, err := egress.ParseServices([]string{"5432", "postgres:5432"}); err == nil {
		t.Errorf("two services at one port = %v, want an error", got)
	}
}

func TestFindServices(t *testing.T) {
	l := must.Get(net.Listen("tcp4", "127.0.0.1:0"))(t)
	port := strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	for _, entry := range []string{port, "127.0.0.1:" + port, "localhost:" + port} {
		services := must.Get(egress.ParseServices([]string{entry}))(t)
		found, err := egress.FindServices(t.Context(), services)
		if err != nil || len(found) != 1 || found[0].String() != l.Addr().String() {
			t.Errorf("FindServices(%s) = %v, %v, want %s", entry, found, err, l.Addr())
		}
	}
	must.Do(t, l.Close())
	for entry, want := range map[string]string{
		port:                   "service 127.0.0.1:" + port + " does not answer",
		"nowhere.invalid:5432": "service nowhere.invalid:5432 cannot be used: its name is unknown",
	} {
		services := must.Get(egress.ParseServices([]string{entry}))(t)
		if found, err := egress.FindServices(t.Context(), services); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("FindServices(%s) = %v, %v, want %q", entry, found, err, want)
		}
	}
}
