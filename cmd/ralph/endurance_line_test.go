package main_test

import (
	"context"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/testsupport/modeltest"
)

// line is the only way to GitHub of a scene: it can be cut.
type line struct {
	t         *testing.T
	from, to  string // addresses
	mu        sync.Mutex
	listener  net.Listener
	swallows  bool // connections are taken, and nothing is answered
	breaks    bool // answers end in their middle
	connected []net.Conn
}

// layLine has GitHub reached by a line from now on.
func (o *enduranceRun) layLine() {
	o.line = newLine(o.t, strings.TrimPrefix(o.URL, "http://"))
	o.URL = "http://" + o.line.from
}

func newLine(t *testing.T, to string) *line {
	t.Helper()
	l := &line{t: t, from: "127.0.0.1:0", to: to}
	l.open()
	l.from = l.listener.Addr().String()
	t.Cleanup(l.cut)
	return l
}

// layModel has the job's sandbox reach a model server by a line.
func (o *enduranceRun) layModel() {
	o.model = newLine(o.t, strings.TrimPrefix(modeltest.Start(o.t).URL, "http://"))
	o.env = append(o.env, "INPUT_MODEL-BASE-URL=http://"+o.model.from)
}

// loseModel has the model server not be reached for a while, or its answers break off.
func (o *enduranceRun) loseModel(breaks bool) {
	if breaks {
		o.breakModel()
	} else {
		o.model.cut()
	}
	time.AfterFunc(outage(), func() {
		if !breaks {
			o.model.open()
		}
		o.mendModel()
	})
}

func (o *enduranceRun) breakModel() { o.model.shorten(true) }
func (o *enduranceRun) mendModel()  { o.model.shorten(false) }

func (l *line) open() {
	var config net.ListenConfig
	listener, err := config.Listen(context.Background(), "tcp", l.from)
	if err != nil {
		l.t.Error(err)
		return
	}
	l.mu.Lock()
	l.listener = listener
	l.mu.Unlock()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go l.carry(conn)
		}
	}()
}

// carry brings a connection to GitHub, unless packets vanish.
func (l *line) carry(conn net.Conn) {
	l.mu.Lock()
	l.connected = append(l.connected, conn)
	swallows, breaks := l.swallows, l.breaks
	l.mu.Unlock()
	if swallows {
		return
	}
	var dialer net.Dialer
	there, err := dialer.DialContext(context.Background(), "tcp", l.to)
	if err != nil {
		_ = conn.Close()
		return
	}
	l.mu.Lock()
	l.connected = append(l.connected, there)
	l.mu.Unlock()
	go func() { _, _ = io.Copy(there, conn); _ = there.Close() }()
	if breaks {
		_, _ = io.CopyN(conn, there, 600) // the head, and the beginning of the answer
		_ = there.Close()
	} else {
		_, _ = io.Copy(conn, there)
	}
	_ = conn.Close()
}

// shorten has later answers end in their middle.
func (l *line) shorten(on bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.breaks = on
	l.end()
}

// cut ends all connections, and has new ones refused.
func (l *line) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.listener.Close()
	l.end()
}

func (l *line) end() {
	for _, conn := range l.connected {
		_ = conn.Close()
	}
	l.connected = nil
}

func (l *line) swallow(on bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.swallows = on
}

// outage returns how long the network is gone: a minute with ENDURANCE, else by as much less
// as hasteKey makes ralph try again sooner.
func outage() time.Duration {
	if os.Getenv("ENDURANCE") == "" {
		return time.Minute / 250
	}
	return time.Minute
}

// loseNetwork has GitHub not be reached for a while.
func (o *enduranceRun) loseNetwork(vanish bool) {
	o.line.cut()
	if vanish {
		o.line.swallow(true)
		o.line.open()
	}
	time.AfterFunc(outage(), func() {
		if vanish {
			o.line.swallow(false)
		} else {
			o.line.open()
		}
	})
}
