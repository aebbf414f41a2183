package egress

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/http/httpproxy"
)

// Route is the way to outside hosts. The zero Route connects directly.
type Route struct {
	// Private are hosts that may have private addresses. Connections to them do not use the company's proxy.
	Private []Name

	NoProxy  string         // hosts that do not use it either, as NO_PROXY names them
	Upstream *url.URL       // the company's proxy, with user name and password; may be nil
	Roots    *x509.CertPool // trusted certificates; nil: the system's

	// Near (the addresses of this machine), Resolve and Dial are the system's if they are nil.
	Near    func() ([]net.Addr, error)
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	Dial    func(ctx context.Context, network, address string) (net.Conn, error)
}

var (
	errPrivate  = errors.New("it has a private address")
	errLocal    = errors.New("its address lies on a network of this machine")
	errReserved = errors.New("it has a reserved address")
	errUnknown  = errors.New("its name is unknown")
)

func (r Route) isPrivate(n Name) bool { return slices.Contains(r.Private, n) }

func (r Route) direct(n Name) bool {
	return r.Upstream == nil || r.isPrivate(n) || r.bypasses(n.address())
}

func (r Route) bypasses(address string) bool {
	if r.NoProxy == "" {
		return false
	}
	rules := httpproxy.Config{HTTPSProxy: "http://proxy.invalid", NoProxy: r.NoProxy}
	proxy, err := rules.ProxyFunc()(&url.URL{Scheme: "https", Host: address})
	return err == nil && proxy == nil
}

// find returns the permitted addresses of a host, or none if the company's proxy resolves names.
func (r Route) find(ctx context.Context, n Name) ([]netip.Addr, error) {
	if !r.direct(n) {
		return nil, nil
	}
	resolve := r.Resolve
	if resolve == nil {
		resolve = lookUpSystem
	}
	host := n.Host
	if !r.isPrivate(n) {
		host += "." // without this machine's search domains
	}
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	found, err := resolve(ctx, host)
	if err != nil || len(found) == 0 {
		return nil, errUnknown // the resolver's error may name internal servers
	}
	return r.permitted(n, found)
}

func lookUpSystem(ctx context.Context, host string) ([]netip.Addr, error) {
	return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
}

func (r Route) permitted(n Name, found []netip.Addr) ([]netip.Addr, error) {
	var permitted []netip.Addr
	worst := public
	networks := r.localNetworks()
	for _, a := range found {
		k := kindOf(a)
		isLocal := slices.ContainsFunc(networks, func(p netip.Prefix) bool { return p.Contains(a.Unmap()) })
		if k == public && isLocal {
			k = local
		}
		if k == public || (k != reserved && r.isPrivate(n)) {
			permitted = append(permitted, a.Unmap())
			continue
		}
		worst = max(worst, k)
	}
	switch {
	case len(permitted) > 0:
		return permitted, nil
	case worst == reserved:
		return nil, errReserved
	case worst == local:
		return nil, errLocal
	default:
		return nil, errPrivate
	}
}

// localNetworks returns the networks of this machine's interfaces: a firewall lets this machine reach them, but not
// others.
func (r Route) localNetworks() []netip.Prefix {
	addresses := r.Near
	if addresses == nil {
		addresses = net.InterfaceAddrs
	}
	var all []netip.Prefix
	found, _ := addresses()
	for _, address := range found {
		p, err := netip.ParsePrefix(address.String())
		if err != nil {
			continue
		}
		bits := min(max(p.Bits(), 48), 64) // a local network has /48 to /64; a tunnel may have less
		if p.Addr().Is4() {
			bits = max(p.Bits(), 16) // a shorter prefix is a mistake
		}
		all = append(all, netip.PrefixFrom(p.Addr(), bits).Masked())
	}
	return all
}

// reach connects to one of the addresses from find, or through the company's proxy.
func (r Route) reach(ctx context.Context, n Name, at []netip.Addr) (net.Conn, error) {
	if !r.direct(n) {
		return r.tunnel(ctx, n)
	}
	err := errUnknown
	for i, a := range at {
		var conn net.Conn
		conn, err = r.try(ctx, netip.AddrPortFrom(a, n.Port), len(at)-i)
		if err == nil {
			return conn, nil
		}
	}
	return nil, fmt.Errorf("reach %s: %w", n, err)
}

const dialTime = 15 * time.Second

// try dials an address, and gives each of the addresses that are left a share of the time.
func (r Route) try(ctx context.Context, a netip.AddrPort, left int) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, max(dialTime/time.Duration(left), 2*time.Second))
	defer cancel()
	return r.dial(ctx, "tcp", a.String())
}

func (r Route) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if r.Dial == nil {
		return new(net.Dialer).DialContext(ctx, network, address)
	}
	return r.Dial(ctx, network, address)
}

// Transport returns a transport for model servers. It follows no redirects and accepts no compression.
func (r Route) Transport() *http.Transport {
	return &http.Transport{
		Proxy:                 r.proxy,
		DialContext:           r.dial,
		TLSClientConfig:       r.trust(""),
		ForceAttemptHTTP2:     true,
		DisableCompression:    true,
		TLSHandshakeTimeout:   dialTime,
		ExpectContinueTimeout: time.Second,
		MaxIdleConnsPerHost:   16,
		IdleConnTimeout:       90 * time.Second,

		MaxResponseHeaderBytes: 256 << 10,
	}
}

func (r Route) trust(server string) *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: r.Roots, ServerName: server}
}

// Public returns a transport to public addresses and private hosts only, for addresses from untrusted input.
func (r Route) Public() *http.Transport {
	t := r.Transport()
	t.Proxy = nil // reach uses the proxy
	t.DialContext = func(ctx context.Context, _, address string) (net.Conn, error) {
		host, port, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		number, err := parsePort(port)
		n := Name{Host: host, Port: number}
		if !r.isPrivate(n) && err == nil {
			n, err = parseTarget(address)
		}
		if err != nil {
			return nil, err
		}
		at, err := r.find(ctx, n)
		if err != nil {
			return nil, err
		}
		return r.reach(ctx, n, at)
	}
	return t
}

// Plain returns a transport for ralph's own requests, by default through the environment's proxy.
func (r Route) Plain() *http.Transport {
	t := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: dialTime}).DialContext,
		TLSClientConfig:       r.trust(""),
		ForceAttemptHTTP2:     true,
		TLSHandshakeTimeout:   dialTime,
		ResponseHeaderTimeout: 2 * dialTime,
		IdleConnTimeout:       90 * time.Second,
	}
	if r.Upstream != nil {
		t.Proxy = r.proxy
	}
	return t
}

func (r Route) proxy(request *http.Request) (*url.URL, error) { return r.ProxyFor(request.URL), nil }

// Around returns the environment's proxy for a URL, or nothing.
func Around(to string) string {
	u, err := url.Parse(to)
	if err != nil {
		return ""
	}
	proxy, err := http.ProxyFromEnvironment(&http.Request{URL: u})
	if err != nil || proxy == nil {
		return ""
	}
	return proxy.String()
}

// ProxyFor returns the company's proxy, or nil for local and private servers.
func (r Route) ProxyFor(to *url.URL) *url.URL {
	host := to.Hostname()
	isPrivate := slices.ContainsFunc(r.Private, func(n Name) bool { return strings.EqualFold(n.Host, host) })
	if isPrivate || Local(host) || r.bypasses(to.Host) {
		return nil
	}
	return r.Upstream
}

// Local reports whether a host is localhost or a non-public IP address.
func Local(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && kindOf(address) != public
}
