package egress

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"
)

// Beyond are the addresses of a host, with its port: what must be out of reach
// for those inside where somebody else holds the network.
func Beyond(ctx context.Context, n Name) ([]string, error) {
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", n.Host)
	if err != nil {
		return nil, fmt.Errorf("look up %s: %w", n.Host, errUnknown)
	}
	return beyond(found, n.Port), nil
}

func beyond(found []netip.Addr, port uint16) []string {
	var all []string
	for _, a := range found {
		if !a.IsLoopback() {
			all = append(all, net.JoinHostPort(a.Unmap().String(), strconv.Itoa(int(port))))
		}
	}
	return all
}
