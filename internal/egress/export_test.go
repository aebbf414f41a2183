package egress

import (
	"context"
	"io"
	"net"
	"net/netip"
	"time"

	"github.com/ralph-loop/ralph/internal/price"
	"github.com/ralph-loop/ralph/internal/stream"
)

// Hear is hear, for tests outside.
func Hear(ctx context.Context, from io.Reader, host string) ([]byte, error) {
	return readHello(ctx, from, host)
}

// ParseTarget is parseTarget.
func ParseTarget(target string) (Name, error) { return parseTarget(target) }

// KindOf is kindOf, in a word.
func KindOf(a netip.Addr) string {
	return map[kind]string{public: "public", private: "private", never: "never"}[kindOf(a)]
}

// Judge is the judgement on a body, in words; empty: it may pass.
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

// Media is what of a body is no text: its length, and the most tokens that it may
// come to.
func Media(d Dialect, body string) (size, most int64) {
	tree, err := readObject([]byte(body))
	if err != nil {
		return -1, -1
	}
	found, _ := rules{}.judge(d, "", tree)
	return found.media.size, found.media.most
}

// Without is a body without some of its fields; empty: it is none.
func Without(body string, drop map[string]bool) string {
	if _, err := readObject([]byte(body)); err != nil {
		return ""
	}
	text, err := with([]byte(body), nil, drop)
	if err != nil {
		return ""
	}
	return string(text)
}

// Full tells whether there is no room for a body of that size.
func Full(m *Model, size int64) bool {
	fits := m.room.TryAcquire(size)
	if fits {
		m.room.Release(size)
	}
	return !fits
}

// ReadUsage reads an answer that comes in these pieces.
func ReadUsage(d Dialect, events bool, pieces ...string) (used stream.Usage, known, ended bool) {
	r := reading{dialect: d}
	s := splitter{events: events, take: r.take}
	for _, piece := range pieces {
		s.write([]byte(piece))
	}
	s.close()
	return r.sofar().Usage, r.known, r.ended
}

// Pump carries a tunnel to its end, and tells what passed.
func Pump(client, server net.Conn, said []byte, idle time.Duration) (up, down int64) {
	f := new(flow)
	f.pump(ends{client, server}, said, idle)
	return f.up.Load(), f.down.Load()
}

// Seller is the maker whose prices hold at a maker's server.
func Seller(m Maker) price.Maker { return m.seller() }

// At is where a maker's server answers to a path.
func At(m Maker, path string) string {
	u, err := m.at(path, "")
	if err != nil {
		return err.Error()
	}
	return u.String()
}
