package egress

import (
	"context"
	"io"
	"net"
	"net/netip"
	"strconv"
	"time"

	"github.com/ralph-loop/ralph/internal/core/stream"
)

// Hear exports readHello.
func Hear(ctx context.Context, from io.Reader, host string) ([]byte, error) {
	return readHello(ctx, from, host)
}

// ParseTarget is parseTarget.
func ParseTarget(target string) (Name, error) { return parseTarget(target) }

// KindOf returns the kind of an address as text.
func KindOf(a netip.Addr) string {
	return map[kind]string{public: "public", private: "private", reserved: "reserved"}[kindOf(a)]
}

// Inspect returns the size of the media in a body, and what is refused, or nothing.
func Inspect(d Dialect, models []string, body string) (media int64, no string) {
	tree, refused := readObject([]byte(body))
	i := inspection{dialect: d, models: models}
	if refused == nil {
		refused = i.object(tree, false)
	}
	if refused != nil {
		return 0, refused.What
	}
	return i.media, ""
}

// ReadUsage reads an answer that comes in these pieces.
func ReadUsage(d Dialect, events bool, pieces ...string) (used stream.Usage, input, output bool) {
	r := reading{dialect: d}
	s := splitter{events: events, take: r.take}
	for _, piece := range pieces {
		s.write([]byte(piece))
	}
	s.end()
	return r.sofar(), r.hasInput(), r.output
}

// Pump runs a tunnel to its end, and returns the bytes in each direction.
func Pump(client, server net.Conn, hello []byte, idle time.Duration) (up, down int64) {
	f := new(flow)
	f.pump(tunnelEnds{client, server}, hello, idle)
	return f.up.Load(), f.down.Load()
}

// TrafficOf returns the traffic of so many hosts, with a byte for each.
func TrafficOf(hosts int) []Traffic {
	l := new(trafficLog)
	for i := range hosts {
		l.open(Name{Host: "h" + strconv.Itoa(i), Port: tlsPort}).up.Add(1)
	}
	return l.sums()
}

// At returns the URL of a path at a maker's server.
func At(m Maker, path string) string {
	u, err := m.at(path, "")
	if err != nil {
		return err.Error()
	}
	return u.String()
}
