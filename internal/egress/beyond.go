package egress

import (
	"context"
	"net"
	"net/netip"
)

// Beyond are the addresses of a host, with its port: what must be out of reach
// for those inside where somebody else holds the network. Where nobody can say
// where it is they are Anywhere: that a name is not known keeps nobody in.
func Beyond(ctx context.Context, n Name) []string {
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", n.Host)
	if all := beyond(found, n.Port); err == nil && len(all) > 0 {
		return all
	}
	return Anywhere()
}

// Anywhere are addresses that every machine reaches which has a way out: those of
// resolvers that serve everybody, at the port that networks leave open.
func Anywhere() []string {
	return []string{"1.1.1.1:443", "8.8.8.8:443", "9.9.9.9:443", "[2606:4700:4700::1111]:443"}
}

func beyond(found []netip.Addr, port uint16) []string {
	var all []string
	for _, a := range found {
		if !a.IsLoopback() {
			all = append(all, netip.AddrPortFrom(a.Unmap(), port).String())
		}
	}
	return all
}
