//go:build linux

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/ralph-loop/ralph/internal/lib/process"
)

// outsideListener is a listener outside that sandboxed programs must not reach.
type outsideListener struct {
	io.Closer

	vector   vector
	visitors func() int // ends it
}

func (st *attackSetup) openListeners(ctx context.Context) error {
	var lc net.ListenConfig
	lc.SetMultipathTCP(false)
	listen := func(v vector, network, addr string) error {
		l, err := lc.Listen(ctx, network, addr)
		if err != nil {
			return fmt.Errorf("open a door for %s: %w", v.name, err)
		}
		st.listeners = append(st.listeners, &outsideListener{l, v, countConnections(l)})
		st.Dial[v.name] = l.Addr().String()
		return nil
	}
	for _, v := range []vector{toPort, byMPTCP, byFastOpen} {
		if err := listen(v, "tcp4", "127.0.0.1:0"); err != nil {
			return err
		}
	}
	_ = listen(toIPv6, "tcp6", "[::1]:0") // not every machine has it
	if addr, ok := ownAddress(); ok {
		_ = listen(toMachine, "tcp", net.JoinHostPort(addr, "0"))
	}
	for port := range st.sb.Ports { // another host, as far as anybody's filter can tell
		if listen(toProxyPort, "tcp4", net.JoinHostPort("127.0.0.2", strconv.Itoa(port))) == nil {
			break
		}
	}
	return errors.Join(st.openLocalListeners(listen), st.openPacketListeners(ctx))
}

func (st *attackSetup) openLocalListeners(listen func(v vector, network, addr string) error) error {
	st.Socket, st.Abstract = filepath.Join(st.dir, "socket"), "@"+filepath.Base(st.dir)
	return errors.Join(
		listen(toFileSock, "unix", st.Socket), makeWorldWritable(st.Socket),
		listen(toAbstract, "unix", st.Abstract))
}

func (st *attackSetup) openPacketListeners(ctx context.Context) error {
	open := func(v vector, network, addr string) (string, error) {
		c, err := new(net.ListenConfig).ListenPacket(ctx, network, addr)
		if err != nil {
			return "", fmt.Errorf("open a door for %s: %w", v.name, err)
		}
		st.listeners = append(st.listeners, &outsideListener{c, v, countPackets(c)})
		return c.LocalAddr().String(), nil
	}
	var err, other error
	st.Datagram, err = open(byUDP, "udp4", "127.0.0.1:0")
	st.DatagramSocket, other = open(toDatagram, "unixgram", filepath.Join(st.dir, "datagrams"))
	return errors.Join(err, other, makeWorldWritable(st.DatagramSocket))
}

const canaryFile = ".ralph-canary-"

// placeCanaries writes a canary into each folder that is apart, and a link to it into theirs.
func (st *attackSetup) placeCanaries() error {
	for _, dir := range st.sb.Apart {
		if slices.ContainsFunc(st.sb.Theirs, func(theirs string) bool { return process.Under(theirs, dir) }) {
			continue // they work there
		}
		file, err := os.CreateTemp(dir, canaryFile)
		if err != nil {
			continue
		}
		st.canaries, st.laid, st.Apart = append(st.canaries, file), append(st.laid, file.Name()), append(st.Apart, file.Name())
		_, err = file.WriteString(st.Canary)
		if err := errors.Join(err, file.Chmod(0o644)); err != nil {
			return err
		}
	}
	st.Apart = append(st.Apart, loginSettings(st.sb.Read)...)
	if len(st.sb.Write) == 0 {
		return nil
	}
	st.Link = filepath.Join(st.sb.Write[0], filepath.Base(st.dir))
	st.laid, st.sb.Read = append(st.laid, st.Link), append(slices.Clip(st.sb.Read), st.Link)
	return os.Symlink(st.dir, st.Link)
}

func ownAddress() (string, bool) {
	list, err := net.InterfaceAddrs()
	if err != nil {
		return "", false
	}
	for _, a := range list {
		if n, ok := a.(*net.IPNet); ok && n.IP.IsGlobalUnicast() {
			return n.IP.String(), true
		}
	}
	return "", false
}

// countConnections counts the connections of a listener, until the returned function ends it.
func countConnections(l net.Listener) (end func() int) {
	came := make(chan int, 1)
	go func() {
		for n := 0; ; n++ {
			c, err := l.Accept()
			if err != nil {
				came <- n
				return
			}
			_ = c.Close()
		}
	}()
	return func() int {
		own := 0
		if c, err := net.Dial(l.Addr().Network(), l.Addr().String()); err == nil { // accepted after those before it
			_, _ = io.Copy(io.Discard, c)
			_ = c.Close()
			own++
		}
		_ = l.Close()
		return <-came - own
	}
}

// countPackets is countConnections for packets. Its own is empty.
func countPackets(in net.PacketConn) (end func() int) {
	came := make(chan int, 1)
	go func() {
		for n := 0; ; n++ {
			size, _, err := in.ReadFrom(make([]byte, 64))
			if err != nil || size == 0 {
				came <- n
				return
			}
		}
	}()
	return func() int {
		c, err := net.Dial(in.LocalAddr().Network(), in.LocalAddr().String())
		if err == nil {
			_, err = c.Write(nil)
			_ = c.Close()
		}
		if err != nil {
			_ = in.Close()
		}
		return <-came
	}
}
