package egress

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

type tunnelEnds struct{ client, server net.Conn }

func (e tunnelEnds) close() {
	_ = e.client.Close()
	_ = e.server.Close()
}

// pump copies both ways until both sides end, one breaks, or nothing moves for idle.
func (f *flow) pump(e tunnelEnds, hello []byte, idle time.Duration) {
	watch := time.AfterFunc(idle, e.close)
	defer watch.Stop()
	moved := func() { watch.Reset(idle) }
	if _, err := (byteCounter{e.server, &f.up, moved}).Write(hello); err != nil {
		return
	}
	var back sync.WaitGroup
	back.Go(func() { oneWay(e, byteCounter{e.client, &f.down, moved}, e.server) })
	oneWay(e, byteCounter{e.server, &f.up, moved}, e.client)
	back.Wait()
}

// oneWay copies until from ends, and half-closes to. An error closes both.
func oneWay(e tunnelEnds, to byteCounter, from net.Conn) {
	buffer := make([]byte, 64<<10)
	if _, err := io.CopyBuffer(to, struct{ io.Reader }{from}, buffer); err != nil {
		e.close()
		return
	}
	_ = closeWrite(to.Conn)
}

type byteCounter struct {
	net.Conn
	count *atomic.Int64
	moved func()
}

func (t byteCounter) Write(p []byte) (int, error) {
	n, err := t.Conn.Write(p)
	t.count.Add(int64(n))
	t.moved()
	return n, err
}

// maxHello limits the ClientHello. A usual one has 2 KB.
const maxHello = 64 << 10

var (
	errNotTLS    = errors.New("what follows CONNECT is not TLS")
	errNoSNI     = errors.New("its TLS names no server")
	errSNI       = errors.New("its TLS names another server")
	errSilent    = errors.New("it sent nothing")
	errHelloRead = errors.New("the ClientHello is complete")
)

// readHello reads a ClientHello for host, and returns its bytes to send them to the
// server. The standard library parses it. Anything else is an error.
func readHello(ctx context.Context, from io.Reader, host string) ([]byte, error) {
	hello := new(bytes.Buffer)
	complete := false
	server := ""
	client := helloReader{Reader: io.TeeReader(io.LimitReader(from, maxHello), hello)}
	conversation := tls.Server(client, &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetConfigForClient: func(info *tls.ClientHelloInfo) (*tls.Config, error) {
			complete = true
			server = info.ServerName
			return nil, errHelloRead // before the library answers
		},
	})
	_ = conversation.HandshakeContext(ctx) // it never succeeds
	switch {
	case hello.Len() == 0:
		return nil, errSilent
	case !complete:
		return nil, errNotTLS
	case server == "":
		return nil, errNoSNI
	case len(server) != len(host) || strings.ToLower(server) != host: // İ and K get shorter
		return nil, errSNI
	}
	return hello.Bytes(), nil
}

// helloReader is a connection that drops all writes of the library.
type helloReader struct {
	io.Reader
	net.Conn // nil: no more is read
}

func (l helloReader) Read(p []byte) (int, error)     { return l.Reader.Read(p) }
func (helloReader) Write(p []byte) (int, error)      { return len(p), nil }
func (helloReader) Close() error                     { return nil }
func (helloReader) SetDeadline(time.Time) error      { return nil }
func (helloReader) SetWriteDeadline(time.Time) error { return nil }
