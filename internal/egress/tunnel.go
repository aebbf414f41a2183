package egress

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// ends are of a tunnel.
type ends struct{ client, server net.Conn }

func (e ends) close() {
	_ = e.client.Close()
	_ = e.server.Close()
}

// pump passes on what was said already and whatever follows, both ways, until
// both sides have had their say, one is gone, or nothing moves for idle.
func (f *flow) pump(e ends, said []byte, idle time.Duration) {
	watch := time.AfterFunc(idle, e.close)
	defer watch.Stop()
	moved := func() { watch.Reset(idle) }
	if _, err := (tally{e.server, &f.up, moved}).Write(said); err != nil {
		return
	}
	var back sync.WaitGroup
	back.Go(func() { oneWay(e, tally{e.client, &f.down, moved}, e.server) })
	oneWay(e, tally{e.server, &f.up, moved}, e.client)
	back.Wait()
}

// oneWay copies until from ends, and tells to that it did. One that breaks takes
// the other with it.
func oneWay(e ends, to tally, from net.Conn) {
	buffer := make([]byte, 64<<10)
	if _, err := io.CopyBuffer(to, struct{ io.Reader }{from}, buffer); err != nil {
		e.close()
		return
	}
	_ = closeWrite(to.Conn)
}

// tally counts what is written to a connection.
type tally struct {
	net.Conn
	count *atomic.Int64
	moved func()
}

func (t tally) Write(p []byte) (int, error) {
	n, err := t.Conn.Write(p)
	t.count.Add(int64(n))
	t.moved()
	return n, err
}
