package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/lib/fault"
)

// ParseServices reads the services that checks use, such as a database: the port of a
// server on this machine, or host:port of a private one. Each needs a different port.
func ParseServices(entries []string) ([]Name, error) {
	var all []Name
	for _, entry := range entries {
		n, err := parseService(entry)
		hasSamePort := func(other Name) bool { return other.Port == n.Port }
		if err == nil && slices.ContainsFunc(all, hasSamePort) {
			err = errors.New("another service has its port")
		}
		if err != nil {
			return nil, fault.Usage(fmt.Sprintf("cannot use the service %s: %s", quoted(entry), err),
				"name a server of this machine by its port, or a service container by host:port", nil)
		}
		all = append(all, n)
	}
	return all, nil
}

func parseService(entry string) (Name, error) {
	host := loopback.String()
	port := entry
	if strings.ContainsAny(entry, ":.") {
		var err error
		host, port, err = net.SplitHostPort(entry)
		if err != nil {
			return Name{}, errService
		}
	}
	number, err := parsePort(port)
	if err != nil {
		return Name{}, errService
	}
	if at, err := netip.ParseAddr(host); err == nil {
		return Name{Host: at.Unmap().String(), Port: number}, checkServiceAddress(at)
	}
	host, err = canonical(host)
	return Name{Host: host, Port: number}, err
}

var errService = errors.New("write a port from 1 to 65535, such as 5432, or host:port, such as postgres:5432")

var errPublic = errors.New("it has a public address: name its host in allow-domains")

// checkServiceAddress refuses public addresses, which the proxy reaches, and metadata servers.
func checkServiceAddress(at netip.Addr) error {
	switch kindOf(at) {
	case private, local:
		return nil
	case public:
		return errPublic
	case reserved:
	}
	return errReserved
}

// FindServices resolves services and connects once. The sandbox uses these addresses from then on.
func FindServices(ctx context.Context, services []Name) ([]netip.AddrPort, error) {
	var all []netip.AddrPort
	for _, n := range services {
		at, err := findService(ctx, n)
		if err != nil {
			return nil, err
		}
		all = append(all, at)
	}
	return all, nil
}

func findService(ctx context.Context, n Name) (netip.AddrPort, error) {
	ctx, cancel := context.WithTimeout(ctx, serviceTime)
	defer cancel()
	found, err := lookUpSystem(ctx, n.Host)
	if err != nil || len(found) == 0 {
		return netip.AddrPort{}, serviceFault(n, "cannot be used: "+errUnknown.Error(), nil)
	}
	for _, a := range found {
		if err := checkServiceAddress(a); err != nil {
			return netip.AddrPort{}, serviceFault(n, "cannot be used: "+err.Error(), nil)
		}
	}
	for _, a := range found {
		at := netip.AddrPortFrom(a.Unmap(), n.Port)
		var conn net.Conn
		conn, err = new(net.Dialer).DialContext(ctx, "tcp", at.String())
		if err == nil {
			return at, conn.Close()
		}
	}
	return netip.AddrPort{}, serviceFault(n, "does not answer", err)
}

const serviceTime = 10 * time.Second

func serviceFault(n Name, why string, err error) error {
	return fault.Usage("service "+n.address()+" "+why, "start it before ralph, or correct its address in services", err)
}
