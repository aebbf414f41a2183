package egress

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/idna"

	"github.com/ralph-loop/ralph/internal/lib/fault"
)

// Name is a host and a port: ASCII, lower case, no final dot, never an address.
type Name struct {
	Host string
	Port uint16
}

const tlsPort = 443

func (n Name) String() string { return n.Host + ":" + strconv.Itoa(int(n.Port)) }

// address puts an IPv6 literal, which users may give for their own servers, into brackets.
func (n Name) address() string { return net.JoinHostPort(n.Host, strconv.Itoa(int(n.Port))) }

// Entry returns n as an entry of a list, without the default port.
func (n Name) Entry() string {
	if n.Port == tlsPort {
		return n.Host
	}
	return n.String()
}

// nameOf returns the host and port of a user's URL. The host may be an IP address.
func nameOf(u *url.URL) Name {
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	if err != nil {
		port = map[string]uint64{"http": 80, "https": tlsPort}[u.Scheme]
	}
	return Name{Host: u.Hostname(), Port: uint16(port)}
}

// ParseName reads an entry of a list: host, or host:port.
func ParseName(entry string) (Name, error) {
	n, err := parseName(entry, "443")
	if err != nil {
		_, address, isURL := strings.Cut(entry, "://")
		if !isURL {
			address = entry
		}
		host, _, _ := strings.Cut(address, "/")
		if within, wrong := parseName(host, "443"); wrong == nil {
			err = errors.New("write the host only: " + within.Entry())
		}
		return Name{}, fault.Usage(
			fmt.Sprintf("cannot allow %s: %s", quoted(entry), err),
			"name one host, such as registry.example.com, or with its port, registry.example.com:8443", nil)
	}
	return n, nil
}

// ParseNames reads the entries of a list.
func ParseNames(entries []string) ([]Name, error) {
	var names []Name
	for _, entry := range entries {
		n, err := ParseName(entry)
		if err != nil {
			return nil, err
		}
		names = append(names, n)
	}
	return names, nil
}

var (
	errLiteral = errors.New("it is an address, not a name")
	errHost    = errors.New("it is not a host name")
	errPort    = errors.New("its port is not a number from 1 to 65535")
	errNoPort  = errors.New("it has no port")
	errPattern = errors.New("hosts are named exactly, not by patterns")
)

// parseTarget reads the target of a CONNECT, which needs a host and a port.
func parseTarget(target string) (Name, error) { return parseName(target, "") }

func parseName(s, port string) (Name, error) {
	host := s
	if strings.Count(s, ":") > 1 || strings.ContainsAny(s, "[]") {
		return Name{}, errLiteral
	}
	if i := strings.LastIndexByte(s, ':'); i >= 0 {
		host, port = s[:i], s[i+1:]
	}
	host, err := canonical(host)
	if err != nil {
		return Name{}, err
	}
	if port == "" {
		return Name{}, errNoPort
	}
	n, err := parsePort(port)
	return Name{Host: host, Port: n}, err
}

func parsePort(text string) (uint16, error) {
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || n == 0 || strconv.FormatUint(n, 10) != text {
		return 0, errPort
	}
	return uint16(n), nil
}

// names maps a host to the form for a resolver, and refuses invalid ones. It maps
// other Unicode digits and dots too, so that a disguised IP address is recognized.
var names = idna.New(idna.MapForLookup(), idna.BidiRule(), idna.StrictDomainName(true), idna.VerifyDNSLength(true),
	idna.CheckHyphens(false)) // "r3---sn-x" is in use

const maxName = 253

func canonical(host string) (string, error) {
	if strings.HasPrefix(host, "*") || strings.HasPrefix(host, ".") {
		return "", errPattern
	}
	if len(host) > 4*maxName || strings.ContainsAny(host, "@/\\%?#") {
		return "", errHost // names, passwords and paths are no part of it
	}
	ascii, err := names.ToASCII(strings.TrimSuffix(host, "."))
	if err != nil || len(ascii) > maxName || !plain(ascii) {
		return "", errHost
	}
	if same, err := names.ToASCII(ascii); err != nil || same != ascii {
		return "", errHost // not every mapping is a name
	}
	if numeric(ascii[strings.LastIndexByte(ascii, '.')+1:]) {
		return "", errLiteral
	}
	return ascii, nil
}

// plain reports whether a host has only valid labels, independently of the mapping.
func plain(ascii string) bool {
	for label := range strings.SplitSeq(ascii, ".") {
		if label == "" || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		if strings.ContainsFunc(label, isNotInName) {
			return false
		}
	}
	return true
}

func isNotInName(r rune) bool {
	isLetter := 'a' <= r && r <= 'z'
	isDigit := '0' <= r && r <= '9'
	return !isLetter && !isDigit && r != '-'
}

// numeric reports a last label that makes the name an IPv4 address, as 127.1 and 0x7f000001.
func numeric(label string) bool {
	digits, ok := strings.CutPrefix(label, "0x")
	if !ok {
		return strings.Trim(label, "0123456789") == ""
	}
	return strings.Trim(digits, "0123456789abcdef") == ""
}

func quoted(s string) string {
	const most = 80
	if len(s) > most {
		s = s[:most] + "…"
	}
	return strconv.QuoteToASCII(s)
}
