package egress

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"time"
)

// largestHello bounds what is read before a client has said whom it wants. A
// real one is 2 KB.
const largestHello = 64 << 10

var (
	errNotTLS = errors.New("what follows CONNECT is not TLS")
	errNoSNI  = errors.New("its TLS names no server")
	errSNI    = errors.New("its TLS names another server")
	errSilent = errors.New("it said nothing")
	errHeard  = errors.New("heard enough")
)

// hear reads a ClientHello for host, in however many pieces it comes, and gives
// all that was read, to be said again to the server. The standard library reads
// it; whatever it does not take for one is not let through.
func hear(ctx context.Context, from io.Reader, host string) (said []byte, err error) {
	tape := new(bytes.Buffer)
	heard, server := false, ""
	conversation := tls.Server(listening{Reader: io.TeeReader(io.LimitReader(from, largestHello), tape)}, &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			heard, server = true, hello.ServerName
			return nil, errHeard // before a word is answered
		},
	})
	err = conversation.HandshakeContext(ctx)
	switch {
	case tape.Len() == 0:
		return nil, errSilent
	case !heard:
		return nil, errors.Join(errNotTLS, err)
	case server == "":
		return nil, errNoSNI
	case strings.ToLower(server) != host:
		return nil, errSNI
	}
	return tape.Bytes(), nil
}

// listening is a connection that can only be read. What the library would
// answer goes nowhere; closing it is left to whoever opened it.
type listening struct {
	io.Reader
	net.Conn // nil: nobody asks for more
}

func (l listening) Read(p []byte) (int, error)     { return l.Reader.Read(p) }
func (listening) Write(p []byte) (int, error)      { return len(p), nil }
func (listening) Close() error                     { return nil }
func (listening) SetDeadline(time.Time) error      { return nil }
func (listening) SetWriteDeadline(time.Time) error { return nil }
