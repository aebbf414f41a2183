package egress

import (
	"context"
	"io"
	"net"
	"net/netip"
	"strconv"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/ralph-loop/ralph/internal/stream"
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

// Judge returns the model of a body, and what is refused, or nothing.
func Judge(d Dialect, models []string, body string) (model, no string) {
	tree, err := readObject([]byte(body))
	if err != nil {
		return "", err.Error()
	}
	found, refusal := rules{models: models}.judge(d, "", tree)
	if refusal == nil {
		return found.model, ""
	}
	return found.model, refusal.What
}

// Media returns the size of the media in a body, and their maximum number of tokens.
func Media(d Dialect, body string) (size, most int64) {
	tree, err := readObject([]byte(body))
	if err != nil {
		return -1, -1
	}
	found, _ := rules{}.judge(d, "", tree)
	return found.media.size, found.media.most
}

// Without returns a body without some of its fields, or nothing for an invalid body.
func Without(body string, drop map[string]bool) string {
	if _, err := readObject([]byte(body)); err != nil {
		return ""
	}
	text, err := editBody([]byte(body), nil, drop)
	if err != nil {
		return ""
	}
	return string(text)
}

// Full reports whether there is no room for a body of this size.
func Full(m *Model, size int64) bool {
	fits := m.bodyMemory.TryAcquire(size)
	if fits {
		m.bodyMemory.Release(size)
	}
	return !fits
}

// ReadUsage reads an answer that comes in these pieces.
func ReadUsage(d Dialect, events bool, pieces ...string) (used stream.Usage, known, ended bool) {
	r := reading{dialect: d}
	s := splitter{events: events, take: r.take, memory: semaphore.NewWeighted(1 << 30)}
	for _, piece := range pieces {
		s.write([]byte(piece))
	}
	s.end()
	return r.sofar().Usage, r.known, r.ended
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

// IsOwn is Maker.isOwn.
func IsOwn(m Maker) bool { return m.isOwn() }

// At returns the URL of a path at a maker's server.
func At(m Maker, path string) string {
	u, err := m.at(path, "")
	if err != nil {
		return err.Error()
	}
	return u.String()
}
