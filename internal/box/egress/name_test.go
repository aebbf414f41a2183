package egress_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/box/egress"
	"github.com/ralph-loop/ralph/internal/lib/fault"
)

func TestParseName(t *testing.T) {
	for entry, want := range map[string]string{
		"registry.example.com":          "registry.example.com:443",
		"Registry.EXAMPLE.com.":         "registry.example.com:443",
		"registry.example.com:8443":     "registry.example.com:8443",
		"bücher.example":                "xn--bcher-kva.example:443",
		"BÜCHER.example.":               "xn--bcher-kva.example:443",
		"xn--bcher-kva.example":         "xn--bcher-kva.example:443",
		"localhost:80":                  "localhost:80",
		"a-b.example":                   "a-b.example:443",
		"r3---sn-4g5e6nz7.example":      "r3---sn-4g5e6nz7.example:443",
		"ｅｘａｍｐｌｅ.com":                   "example.com:443",
		"exa\u00admple.com":             "example.com:443",
		"1.2.3.4.example":               "1.2.3.4.example:443",
		strings.Repeat("a.", 126) + "a": strings.Repeat("a.", 126) + "a:443",
	} {
		got, err := egress.ParseName(entry)
		if err != nil || got.String() != want {
			t.Errorf("ParseName(%q) = %q, %v, want %q", entry, got, err, want)
		}
	}
}

// misnamed are invalid names, in an allow list or after CONNECT.
var misnamed = []string{
	"", ".", "..", ":443", "127.0.0.1", "127.1", "2130706433", "0x7f000001", "0x7F.0.0.1", "0177.0.0.1", "0x", "1", "1.2.3.4.",
	"[::1]", "::1", "[::ffff:127.0.0.1]", "[fe80::1%25eth0]", "0:0:0:0:0:ffff:7f00:1", "１２７.0.0.1", "127。0。0。1", "①②⑦.0.0.1",
	"*.example.com", "*", ".example.com", "example..com", "example.com..", "-a.example", "a-.example", "a_b.example",
	"user@example.com", "user:pass@example.com", "https://example.com", "example.com/path", "example.com?x", "example.com#x",
	`example.com\evil`, "exam ple.com", "example.com\n", "example.com\x00", "example.com%00", "xn--a.example", "\xff.example",
	strings.Repeat("a", 64) + ".example", strings.Repeat("a.", 200) + "a", strings.Repeat("a", 5000),
}

func TestMisnamed(t *testing.T) {
	for _, entry := range misnamed {
		if got, err := egress.ParseName(entry); err == nil {
			t.Errorf("ParseName(%q) = %q, want an error", entry, got)
		} else if fault.Hint(err) == "" {
			t.Errorf("ParseName(%q): %v, without a remedy", entry, err)
		}
	}
	for _, port := range []string{"", "0", "00443", "+443", "-1", "65536", "443 ", "https", "99999999999999999999"} {
		if got, err := egress.ParseName("example.com:" + port); err == nil {
			t.Errorf("port %q = %q, want an error", port, got)
		}
	}
	if _, err := egress.ParseTarget("example.com"); err == nil {
		t.Error("a target without a port is taken")
	}
}

// FuzzTarget checks that an accepted target is a name in its canonical form, and
// not an IP address.
func FuzzTarget(f *testing.F) {
	for _, s := range misnamed {
		f.Add(s + ":443")
	}
	f.Add("Example.COM.:8443")
	f.Add("bücher.example:443")
	f.Fuzz(func(t *testing.T, target string) {
		n, err := egress.ParseTarget(target)
		if err != nil {
			return
		}
		again, err := egress.ParseTarget(n.String())
		if err != nil || again != n {
			t.Errorf("%q is %v, which is %v, %v", target, n, again, err)
		}
		if _, err := netip.ParseAddr(n.Host); err == nil || strings.ContainsAny(n.Host, "[]@:/%_ ") {
			t.Errorf("%q is taken as %q", target, n.Host)
		}
		last := n.Host[strings.LastIndexByte(n.Host, '.')+1:]
		if last[0] >= '0' && last[0] <= '9' && strings.Trim(last, "0123456789") == "" {
			t.Errorf("%q is taken as %q, which ends in a number", target, n.Host)
		}
		if n.Host != strings.ToLower(n.Host) || len(n.Host) > 253 || n.Port == 0 {
			t.Errorf("%q is taken as %v", target, n)
		}
	})
}

func TestKindOf(t *testing.T) {
	for want, addresses := range map[string][]string{
		"public": {
			"1.1.1.1", "8.8.8.8", "172.32.0.1", "100.128.0.1", "169.253.0.1", "2606:4700::1111", "2a00:1450::1",
			"::ffff:1.1.1.1", "64:ff9b::101:101",
		},
		"private": {
			"127.0.0.1", "127.255.255.254", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1", "100.127.255.255",
			"198.18.0.1", "::1", "fc00::1", "fd12:3456::1", "64:ff9b:1::1", "::ffff:10.0.0.1", "::ffff:127.0.0.1",
			"64:ff9b::a00:1", "64:ff9b::7f00:1",
		},
		"reserved": {
			"0.0.0.0", "0.1.2.3", "169.254.169.254", "169.254.170.2", "100.100.100.200", "168.63.129.16", "192.0.0.192", "192.0.0.1",
			"192.0.2.1", "198.51.100.1", "203.0.113.1", "192.88.99.1", "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255",
			"::", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1", "fd00:ec2::254", "fd20:ce::254", "fd00:42::42",
			"fd00:c1::a9fe:a9fe", "fd00:a9fe:a9fe::1", "fd00:100::100:200", "2001:db8::1", "100::1", "3fff::1", "4000::1",
			"::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::", "::169.254.169.254", "::ffff:0:169.254.169.254",
			"2002:101:101::1", "2002:7f00:1::", "2002:a00:1::1",
			"2001:0:1:1:1:1:80ff:fffe", "::127.0.0.1", "::ffff:0:127.0.0.1",
		},
	} {
		for _, a := range addresses {
			if got := egress.KindOf(netip.MustParseAddr(a)); got != want {
				t.Errorf("%s is %s, want %s", a, got, want)
			}
		}
	}
	if got := egress.KindOf(netip.Addr{}); got != "reserved" {
		t.Errorf("no address is %s", got)
	}
}
