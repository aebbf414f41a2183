package egress

import (
	"context"
	"net"
	"net/netip"
	"slices"
)

type kind int

const (
	public   kind = iota
	local         // public, and on a network of this machine: the same
	private       // at home: for hosts that a person named as private
	reserved      // not a host: metadata, multicast, unassigned
)

// ranges are the special-purpose address ranges of the IANA registries. Metadata
// servers come first: some have private or public addresses.
var ranges = []struct {
	kind     kind
	prefixes []netip.Prefix
}{
	{reserved, prefixes(
		"169.254.0.0/16",                                           // link-local, with most metadata servers
		"100.100.100.200/32", "168.63.129.16/32", "192.0.0.192/32", // other metadata servers
		"fd00:ec2::/32", "fd20:ce::/32", "fd00:42::/32", "fd00:c1::/32", "fd00:a9fe::/32", "fd00:100::/32", // the same
		"0.0.0.0/8", "224.0.0.0/3", // unspecified, multicast, reserved, broadcast
		"192.0.0.0/24", "192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "192.88.99.0/24",
		"2001::/32", "2002::/16", // Teredo and 6to4, which tunnel to an IPv4 address
		"2001:db8::/32", "3fff::/20",
	)},
	{private, prefixes(
		"127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "198.18.0.0/15",
		"::1/128", "fc00::/7", "64:ff9b:1::/48",
	)},
}

func prefixes(all ...string) []netip.Prefix {
	parsed := make([]netip.Prefix, len(all))
	for i, p := range all {
		parsed[i] = netip.MustParsePrefix(p)
	}
	return parsed
}

// kindOf returns the kind of an address. That of a NAT64 gateway is the kind of its IPv4 address.
func kindOf(a netip.Addr) kind {
	if !a.IsValid() || a.Zone() != "" {
		return reserved
	}
	a = a.Unmap()
	if nat64.Contains(a) {
		b := a.As16()
		a = netip.AddrFrom4([4]byte(b[12:]))
	}
	for _, r := range ranges {
		if slices.ContainsFunc(r.prefixes, func(p netip.Prefix) bool { return p.Contains(a) }) {
			return r.kind
		}
	}
	if a.Is6() && !global.Contains(a) {
		return reserved
	}
	return public
}

var (
	nat64  = netip.MustParsePrefix("64:ff9b::/96")
	global = netip.MustParsePrefix("2000::/3")
)

// Beyond returns the addresses of a host, with its port, that the agent must not
// reach in an external sandbox. If the host cannot be resolved, it returns Anywhere.
func Beyond(ctx context.Context, n Name) []string {
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", n.Host)
	all := outsideAddresses(found, n.Port)
	if err != nil || len(all) == 0 {
		return Anywhere()
	}
	return all
}

// Anywhere returns addresses of public resolvers, which any machine with internet access can reach.
func Anywhere() []string {
	return []string{"1.1.1.1:443", "8.8.8.8:443", "9.9.9.9:443", "[2606:4700:4700::1111]:443"}
}

func outsideAddresses(found []netip.Addr, port uint16) []string {
	var all []string
	for _, a := range found {
		if !a.IsLoopback() {
			all = append(all, netip.AddrPortFrom(a.Unmap(), port).String())
		}
	}
	return all
}
